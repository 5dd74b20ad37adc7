"""Encodings of text match literal versions, name their views, survive saving, and refuse unsuitable models."""

import json
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.decomposition import TruncatedSVD
from sklearn.preprocessing import normalize

import consilience as cs
from consilience.files import advise_semantic, encode, fit_and_encode, join_contents, list_text_candidates
from consilience.files import text_models as models
from consilience.files.encoders import TextEncoder
from consilience.files.kinds import interpret_columns
from consilience.files.text_encoders import EmbeddingEncoder, LSAEncoder, is_short
from text_networks import WORDS, write_onnx, write_tokenizer

TEXTS = ["a cat and a dog", "the dog and the puppy", None, "a car or truck", "  ", "truck engine", "a cat and a dog"]


def to_objects(values):
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


def make_content(texts=TEXTS, kind="text", name="note"):
    return interpret_columns(name, "a.csv", {"note": to_objects(texts)}, None, kind)


def encode_texts(encoding, texts=TEXTS, kind="text"):
    other = interpret_columns("x", "b.csv", {"x": np.arange(float(len(texts)))}, None, "numbers")
    return fit_and_encode([make_content(texts, kind), other], rare=True, encode={"note": encoding})


def average_literally(texts, vectors, words=WORDS):
    """Average the vectors of the words one text at a time, at unit length; NaN for texts without any word."""
    rows = []
    for text in texts:
        ids = [words.index(word) + 1 if word in words else 0 for word in (text or "").split()]
        average = vectors[ids].mean(axis=0) if ids else np.full(vectors.shape[1], np.nan)
        rows.append(average / np.linalg.norm(average))
    return np.array(rows)


def test_each_encoding_makes_a_view():
    encoded = encode_texts("words+lsa+semantic")
    assert encoded.views.names == ("note", "note-topics", "note-meaning", "x")
    assert encoded.kinds == {"note": "text", "note-topics": "embedding", "note-meaning": "embedding", "x": "numbers"}
    assert encode_texts("lsa").views.names == encode_texts("semantic").views.names == ("note", "x")
    plain, words = (fit_and_encode([make_content()], rare=True, encode=encode) for encode in (None, {"note": "words"}))
    np.testing.assert_array_equal(plain.views["note"].toarray(), words.views["note"].toarray())


@pytest.mark.parametrize(
    ("encode", "message"),
    [
        ({"nota": "words"}, r"--encode names the view 'nota', but the views are 'note', 'x'. Did you mean 'note'\?"),
        ({"x": "words"}, r"'x' \(b.csv\) holds numbers, which have one encoding: --encode is for text, names, links"),
        ({"note": "semantics"}, r"no encoding 'semantics' of text: choose from words, .*Did you mean 'semantic'\?"),
        ({"note": "rows"}, "view 'note': there is no encoding 'rows' of text: choose from words, lsa, semantic,"),
        ({"note": "words+"}, "there is no encoding '' of text"),
        ({"note": "words+words"}, "the encoding 'words' is named twice in 'words\\+words'"),
        ({"note": "./nowhere/model"}, r"view 'note' \(a.csv\): there is no model at .*nowhere.model: check the path"),
        ({"cites": len}, "there is no encoding '.*' of links: choose from rows"),
        ({"text": "words+semantic"}, "the encoding of view 'text' makes a view 'text-meaning': rename the other"),
    ],
)
def test_unsuitable_encodings_are_refused(encode, message):
    other = interpret_columns("x", "b.csv", {"x": np.arange(float(len(TEXTS)))}, None, "numbers")
    contents = [make_content(), other]
    if "text" in encode:
        contents = [make_content(name="text"), make_content(name="text-meaning")]
    elif "cites" in encode:
        contents = [interpret_columns("cites", "e.csv", {"a": to_objects("1"), "b": to_objects("2")}, None, "links")]
    with pytest.raises(ValueError, match=message):
        fit_and_encode(contents, rare=True, encode=encode)


def test_only_short_texts_may_be_encoded_by_meaning():
    for texts, kind, n_candidates in (
        (["a small dog"] * 3, "text", 3),
        (["red shirt"] * 3, "names", 3),
        (["word " * 16] * 3, "text", 1),
        ([None, "word " * 15], "text", 3),
    ):
        candidates = ["words", "semantic", "words+semantic"][:n_candidates]
        assert list_text_candidates(make_content(texts, kind)) == candidates
        assert is_short(texts) == (n_candidates > 1)


def test_extra_is_named_if_it_could_help(monkeypatch):
    short, long = make_content(["a small dog"] * 3), make_content(["word " * 16] * 3, name="article")
    assert advise_semantic([short, long]) is None
    monkeypatch.setattr(models, "SEMANTIC_PACKAGES", ("wordllama", "no_package_of_this_name"))
    assert list_text_candidates(short) == ["words"]
    assert advise_semantic([long]) is None
    assert advise_semantic([short, long]) == (
        "View 'note' holds short texts, which can also be compared by meaning: pip install 'consilience[semantic]'."
    )
    with pytest.raises(ImportError, match=r"needs no_package_of_this_name: pip install 'consilience\[semantic\]'"):
        encode_texts("semantic")


def test_lsa_has_the_inner_products_of_the_leading_components():
    rng = np.random.default_rng(1)
    texts = to_objects([" ".join(rng.choice(WORDS, 4)) for _ in range(15)])
    weights = TextEncoder("text", rare=True).fit(texts).transform(texts).toarray()
    _, _, axes = np.linalg.svd(weights, full_matrices=False)
    points = weights @ axes[: len(WORDS)].T
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    encoded = LSAEncoder("text").fit(texts).transform(texts)
    np.testing.assert_allclose(encoded @ encoded.T, points @ points.T, atol=1e-10)


def test_lsa_keeps_a_hundred_components():
    rng = np.random.default_rng(1)
    vocabulary = [f"w{i}" for i in range(300)]
    texts = to_objects([" ".join(rng.choice(vocabulary, 20)) for _ in range(200)])
    encoder = LSAEncoder("text").fit(texts)
    assert encoder.transform(texts).shape == (200, 100)
    weights = TextEncoder("text", rare=True).fit(texts).transform(texts)
    expected = normalize(TruncatedSVD(100, random_state=0).fit_transform(weights))
    np.testing.assert_allclose(encoder.transform(texts), expected, atol=1e-8)


def test_lsa_of_unknown_words_is_missing_and_of_a_single_word_refused():
    texts = to_objects(["cat dog", "dog cat", "truck car", "car truck"])
    encoded = LSAEncoder("text").fit(texts).transform(to_objects(["cat", "engine", None]))
    assert np.isnan(encoded[1:]).all()
    np.testing.assert_allclose(np.linalg.norm(encoded[0]), 1)
    with pytest.raises(ValueError, match="share too few words for the encoding lsa: use words"):
        encode_texts("lsa", ["cat", "cat", "cat"])


def write_static(folder, n_words=None):
    """Write a model of a vector per word; return the vectors."""
    vectors = write_tokenizer(folder)[:n_words]
    pytest.importorskip("safetensors.numpy").save_file({"e": vectors}, folder / "model.safetensors")
    return vectors


def test_static_vectors_are_averaged_in_batches_of_any_size(tmp_path, tune):
    vectors = write_static(tmp_path)
    expected = average_literally(TEXTS, vectors)
    for batch in (2, 100):
        tune("files.text_models", static_batch=batch)
        encoded = encode_texts(str(tmp_path)).views
        np.testing.assert_allclose(encoded["note"], expected, atol=1e-6)
    assert encoded.present[:, 0].tolist() == [text is not None and bool(text.strip()) for text in TEXTS]


def test_onnx_pieces_are_averaged_over_the_mask(tmp_path, tune):
    for batch, file in ((1, "model.onnx"), (2, "onnx/model.onnx"), (64, "model.onnx")):
        vectors = write_onnx(tmp_path / str(batch), file=file)
        tune("files.text_models", network_batch=batch)
        for path in (tmp_path / str(batch), tmp_path / str(batch) / file):
            check_averages(path, TEXTS, vectors)


def check_averages(path, texts, vectors):
    np.testing.assert_allclose(encode_texts(str(path)).views["note"], average_literally(texts, vectors), atol=1e-6)


def test_onnx_output_of_one_vector_per_text_is_used_as_it_is(tmp_path, tune):
    vectors = write_onnx(tmp_path, inputs=("input_ids",), is_pooled=True)
    tune("files.text_models", network_batch=1)  # without padding, whose vectors this network would add
    check_averages(tmp_path, TEXTS, vectors)


def write_pooling(folder, settings):
    (folder / "1_Pooling").mkdir(exist_ok=True)
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(settings))


def test_settings_of_the_model_choose_the_first_piece_and_cut_texts(tmp_path):
    first = [(text or "").split(" ")[0] or None for text in TEXTS]
    vectors = write_onnx(tmp_path)
    for settings in ({"pooling_mode": "cls"}, {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}):
        write_pooling(tmp_path, settings)
        check_averages(tmp_path, first, vectors)
    write_pooling(tmp_path, {})
    (tmp_path / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 2}))
    check_averages(tmp_path, [text and " ".join(text.split()[:2]) for text in TEXTS], vectors)


def test_callable_gets_each_text_once_and_rows_have_unit_length():
    calls = []

    def count_letters(texts):
        calls.append(list(texts))
        return np.array([[text.count("a"), len(text)] for text in texts])

    encoded = encode_texts(count_letters).views["note"]
    assert calls == [["a cat and a dog", "the dog and the puppy", "a car or truck", "truck engine"]]
    np.testing.assert_allclose(encoded[0], np.array([4, 15]) / np.hypot(4, 15), rtol=1e-6)
    np.testing.assert_array_equal(encoded[0], encoded[6])
    assert np.isnan(encoded[[2, 4]]).all()
    encoder = EmbeddingEncoder(lambda texts: np.ones((len(texts), len(texts)))).fit(to_objects(["a", "b"]))
    with pytest.raises(ValueError, match=r"of shape \(1, 1\): numbers of shape \(1, 2\) are needed, one row per text"):
        encoder.transform(to_objects(["c"]))
    assert np.isnan(encoder.transform(to_objects([None]))).all()


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda texts: np.zeros((1, 3)), r"returned float64 of shape \(1, 3\): numbers of shape \(4, columns\)"),
        (lambda texts: np.zeros(len(texts)), r"returned float64 of shape \(4,\)"),
        (lambda texts: np.zeros((len(texts), 0)), r"of shape \(4, 0\)"),
        (lambda texts: texts, "returned <U21 of shape"),
        (lambda texts: np.full((len(texts), 2), np.nan), "returned NaN or infinity for 'a cat and a dog'"),
        (lambda texts: np.zeros((len(texts), 2)), "is empty: it describes no entity"),
    ],
)
def test_wrong_arrays_of_callables_are_refused(function, message):
    what = "" if "empty" in message else r": the encoding .*lambda.*"
    with pytest.raises(ValueError, match=rf"view 'note' \(a.csv\){what} {message}"):
        encode_texts(function)
    with pytest.raises(ValueError, match=r"view 'note' \(a.csv\): every cell is empty"):
        encode_texts("semantic", [None, " "])


def test_semantic_vectors_bring_synonyms_together():
    pytest.importorskip("wordllama")
    texts = ["a young dog", "small puppy", "A YOUNG DOG", "interest rates of banks", "日本語", "", "🙂"]
    encoded = encode_texts("semantic", texts).views["note"]
    assert encoded.shape == (7, 256)
    assert encoded.dtype == np.float32
    similarity = encoded @ encoded.T
    assert similarity[0, 1] > similarity[0, 3] + 0.2
    np.testing.assert_allclose(similarity[0, 2], 1, rtol=1e-5)  # capitals do not matter
    assert np.isnan(encoded).any(axis=1).tolist() == [False] * 5 + [True, False]


def test_semantic_vectors_are_averages_of_the_stored_ones():
    pytest.importorskip("wordllama")
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    folder = Path(find_spec("wordllama").submodule_search_locations[0])
    tokenizer = Tokenizer.from_file(str(folder / "tokenizers" / "l2_supercat_tokenizer_config.json"))
    (vectors,) = load_file(folder / "weights" / "l2_supercat_256.safetensors").values()
    text = "a kind of small boat, a boat"
    pieces = tokenizer.encode(text, add_special_tokens=False).ids
    average = vectors[pieces].astype(np.float64).mean(axis=0)
    encoded = encode_texts("semantic", [text, "oak"]).views["note"]
    np.testing.assert_allclose(encoded[0], average / np.linalg.norm(average), atol=1e-5)


def save_and_load(encoded, tmp_path):
    cs.save(encoded.encodings, tmp_path / "model.zip")
    return cs.load(tmp_path / "model.zip")


def encode_new(parts, texts):
    contents = [make_content(texts)]
    return encode(contents, parts, join_contents(contents)).views["note"]


@pytest.mark.parametrize("encoding", ["words", "lsa", "semantic", "static", "onnx"])
def test_saved_encoders_encode_new_texts_alike(tmp_path, encoding):
    writers = {"static": write_static, "onnx": write_onnx}
    if encoding in writers:
        writers[encoding](tmp_path / encoding)
    encoded = encode_texts(str(tmp_path / encoding) if encoding in writers else encoding)
    new = ["a truck", "cat dog", None]
    loaded = save_and_load(encoded, tmp_path)
    if encoding == "onnx":
        assert set(vars(loaded["note"].encoder)) == {"source", "fingerprint", "n_columns"}  # no weights
        assert loaded["note"].encoder.source == str(tmp_path / "onnx")
    expected, again = encode_new(encoded.encodings, new), encode_new(loaded, new)
    if encoding == "words":
        expected, again = expected.toarray(), again.toarray()
    np.testing.assert_array_equal(expected, again)


def test_changed_and_missing_models_are_refused(tmp_path):
    write_onnx(tmp_path / "model")
    parts = save_and_load(encode_texts(tmp_path / "model"), tmp_path)
    write_onnx(tmp_path / "model", seed=1)
    with pytest.raises(ValueError, match=r"view 'note' \(a.csv\): the model .* is not the one that the clusters were"):
        encode_new(parts, ["a truck"])
    shutil.rmtree(tmp_path / "model")
    with pytest.raises(ValueError, match=r"'note' \(a.csv\): there is no model at .*model, which encoded the texts of"):
        encode_new(parts, ["a truck"])


def test_saved_callable_is_refused_in_words(tmp_path):
    encoded = encode_texts(lambda texts: np.ones((len(texts), 2)))
    assert encode_new(encoded.encodings, ["new"]).shape == (1, 2)  # in the session of the fit
    with pytest.raises(ValueError, match=r"were encoded by the Python function .*lambda.*, which no file contains"):
        encode_new(save_and_load(encoded, tmp_path), ["new"])


def assert_refused(path, message):
    with pytest.raises(ValueError, match=message):
        encode_texts(str(path))


def test_files_that_are_no_models_or_damaged_are_refused(tmp_path):
    pytest.importorskip("onnxruntime")
    (tmp_path / "pytorch_model.bin").write_bytes(b"pickle")
    assert_refused(tmp_path, "contains no model: it needs model.onnx or model.safetensors, .* pickled .* are not read")
    assert_refused(tmp_path / "pytorch_model.bin", "model.bin is not a model: give an .onnx file, or a folder")
    write_tokenizer(tmp_path)
    (tmp_path / "model.onnx").write_bytes(b"no model")
    assert_refused(tmp_path, "model.onnx is not an ONNX model that can be run")
    (tmp_path / "tokenizer.json").write_text("{}")
    assert_refused(tmp_path, "tokenizer.json is not a tokenizer")
    (tmp_path / "model.onnx").unlink()
    (tmp_path / "model.safetensors").write_bytes(b"no model")
    assert_refused(tmp_path, "model.safetensors cannot be read")
    write_static(tmp_path, n_words=3)
    assert_refused(tmp_path, "has 3 vectors for the 7 pieces of .*tokenizer.json")


def test_unsuitable_onnx_models_are_refused(tmp_path):
    write_onnx(tmp_path)
    (tmp_path / "sentence_bert_config.json").write_text("{")
    assert_refused(tmp_path, "sentence_bert_config.json cannot be read")
    (tmp_path / "sentence_bert_config.json").write_text("[]")
    assert_refused(tmp_path, "sentence_bert_config.json is damaged: it holds no dict")
    (tmp_path / "sentence_bert_config.json").unlink()
    for settings in ({"pooling_mode": "max"}, {"pooling_mode_max_tokens": True}):
        write_pooling(tmp_path, settings)
        message = r"config.json asks for .*max.*: of an ONNX model the average or the first vector of a text"
        assert_refused(tmp_path, message)
    write_pooling(tmp_path, {})
    write_tokenizer(tmp_path, [*WORDS, "a", "and", "or"])  # whose last words have no vectors
    assert_refused(tmp_path, "model.onnx fails on texts of up to .* pieces")
    write_onnx(tmp_path, inputs=("pixels",))
    assert_refused(tmp_path, "model.onnx takes pixels: a text model takes input_ids, and optionally attention_mask")
    (tmp_path / "tokenizer.json").unlink()
    assert_refused(tmp_path, "there is no tokenizer.json beside .*model.onnx: copy it")


class FakeTransformer:
    """Stands in for sentence_transformers.SentenceTransformer, and records its arguments."""

    def __init__(self, path, **arguments):
        FakeTransformer.arguments = arguments

    def encode(self, texts, **_):
        return np.array([[len(text), 1.0] for text in texts])


@pytest.fixture
def network(tmp_path, monkeypatch):
    """A folder of a network of sentence-transformers."""
    safetensors = pytest.importorskip("safetensors.numpy")
    write_tokenizer(tmp_path)
    weights = np.ones((2, 2), dtype=np.float32)
    safetensors.save_file({"a": weights, "b": weights}, tmp_path / "model.safetensors")
    modules = [{"type": "sentence_transformers.models.Transformer"}, {"type": "sentence_transformers.models.Pooling"}]
    (tmp_path / "modules.json").write_text(json.dumps(modules))
    fake = SimpleNamespace(SentenceTransformer=FakeTransformer)
    monkeypatch.setitem(sys.modules, "sentence_transformers", fake)
    return tmp_path


def test_network_runs_without_foreign_code(network):
    encoded = encode_texts(str(network)).views["note"]
    np.testing.assert_allclose(encoded[0], np.array([15, 1]) / np.hypot(15, 1), rtol=1e-6)
    assert FakeTransformer.arguments["trust_remote_code"] is False
    assert FakeTransformer.arguments["local_files_only"] is True


def test_network_with_foreign_code_is_refused(network, monkeypatch):
    (network / "2_Dense").mkdir()
    config = network / "2_Dense" / "config.json"
    for harmless in ("torch.nn.modules.activation.Tanh", "gelu"):
        config.write_text(json.dumps({"activation_function": harmless}))
        assert encode_texts(str(network)).views["note"].shape[1] == 2
    config.write_text(json.dumps({"activation_function": "os.abort"}))
    assert_refused(network, r"config.json needs the class os\.abort, which is not of torch: not loaded")
    config.unlink()
    (network / "2_Dense" / "pytorch_model.bin").write_bytes(b"pickle")
    assert_refused(network, "pytorch_model.bin is pickled and could run code: save the model as safetensors")
    (network / "2_Dense" / "pytorch_model.bin").unlink()
    (network / "modules.json").write_text(json.dumps([{"type": "os.system"}]))
    assert_refused(network, "needs the class os.system, which is not of sentence-transformers: not loaded")
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(ImportError, match=r"is a network: pip install 'consilience\[transformers\]', or export"):
        encode_texts(str(network))
