"""Small models of texts in files."""

import numpy as np
import pytest

WORDS = ("cat", "dog", "puppy", "car", "truck", "engine")


def write_tokenizer(folder, words=WORDS):
    """Write a tokenizer of these words; return a vector for each of its tokens."""
    tokenizers = pytest.importorskip("tokenizers")
    vocabulary = {word: i for i, word in enumerate(("[UNK]", *words))}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    return np.random.default_rng(0).normal(size=(len(vocabulary), 5)).astype(np.float32)


def write_onnx(folder, inputs=("input_ids", "attention_mask"), is_pooled=False, file="model.onnx", seed=0):
    """Write a network that looks up a vector per word; return the vectors."""
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    vectors = write_tokenizer(folder) + seed
    helper, kinds = onnx.helper, onnx.TensorProto
    nodes = [helper.make_node("Gather", ["vectors", inputs[0]], ["pieces"])]
    output, shape = "pieces", ["texts", "pieces", vectors.shape[1]]
    if is_pooled:
        nodes.append(helper.make_node("ReduceSum", ["pieces", "axis"], ["sums"], keepdims=0))
        output, shape = "sums", ["texts", vectors.shape[1]]
    constants = [onnx.numpy_helper.from_array(vectors, "vectors"), onnx.numpy_helper.from_array(np.array([1]), "axis")]
    graph = helper.make_graph(
        nodes,
        "look-up",
        [helper.make_tensor_value_info(name, kinds.INT64, ["texts", "pieces"]) for name in inputs],
        [helper.make_tensor_value_info(output, kinds.FLOAT, shape)],
        constants,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    (folder / file).parent.mkdir(parents=True, exist_ok=True)
    onnx.save(model, str(folder / file))
    return vectors
