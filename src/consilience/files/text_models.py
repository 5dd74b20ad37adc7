"""Models that turn texts into vectors, from an installed package or a local folder.

Files of strangers run no code: weights are read from safetensors or ONNX files, never from pickles, and classes only
from installed packages.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._tuning import Tuning
from .formats import read_document
from .networks import open_network, run_network

SEMANTIC = "semantic"  # name of the encoding by the vectors that the package wordllama contains
SEMANTIC_PACKAGES = ("wordllama", "tokenizers", "safetensors")
tuning = Tuning(
    static_batch=10_000,  # number of texts that are encoded at a time
    network_batch=64,  # the same for networks
)
MAX_TOKENS = 512  # of a text, if the files of the model name no limit
POOLING = {"mean": False, "pooling_mode_mean_tokens": False, "cls": True, "pooling_mode_cls_token": True}
NETWORK_INPUTS = ("input_ids", "attention_mask", "token_type_ids")

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class TextModel:
    """A model that is open: `embed` returns one vector per text, zeros for a text without any word that it knows."""

    fingerprint: str  # of the files that the vectors depend on
    embed: Callable[[list[str]], np.ndarray]


def open_text_model(source: str) -> TextModel:
    """Open the vectors of the package wordllama ('semantic'), or a model by the path of its folder or ONNX file."""
    if source == SEMANTIC:
        return _open_wordllama()
    path = Path(source)
    if not path.exists():
        raise ValueError(f"there is no model at {path}: check the path in --encode")
    if path.is_file():
        if path.suffix.lower() != ".onnx":
            raise ValueError(f"{path} is not a model: give an .onnx file, or a folder with a model and tokenizer.json")
        return _open_onnx(path)
    for name in ("model.onnx", "onnx/model.onnx"):
        if (path / name).is_file():
            return _open_onnx(path / name)
    for folder in (path, path / "0_StaticEmbedding", path / "0_Transformer"):
        if (folder / "model.safetensors").is_file():
            vectors = _read_vectors(folder / "model.safetensors")
            if vectors is None:
                return _open_sentence_transformer(path)
            return _open_static(folder / "tokenizer.json", folder / "model.safetensors", vectors)
    raise ValueError(
        f"{path} contains no model: it needs model.onnx or model.safetensors, and tokenizer.json. Models that are "
        "pickled (.bin, .pt) could run code and are not read"
    )


def has_semantic_packages() -> bool:
    """Whether the packages of the extra `semantic` are installed."""
    return all(find_spec(package) is not None for package in SEMANTIC_PACKAGES)


def _open_wordllama() -> TextModel:
    """Open the word-piece vectors that the package wordllama contains; its own loader would look for a download."""
    if not has_semantic_packages():
        missing = next(package for package in SEMANTIC_PACKAGES if find_spec(package) is None)
        raise ImportError(f"the encoding semantic needs {missing}: pip install 'consilience[semantic]'")
    package = find_spec("wordllama")
    folder = Path((package.submodule_search_locations or [""])[0] if package else "")
    tokenizer = folder / "tokenizers" / "l2_supercat_tokenizer_config.json"
    weights = folder / "weights" / "l2_supercat_256.safetensors"
    if not (tokenizer.is_file() and weights.is_file()):
        raise ImportError(f"the package wordllama in {folder} has no {weights.name}: install it again")
    vectors = _read_vectors(weights)
    if vectors is None:
        raise ValueError(f"{weights} holds no table of word-piece vectors: install wordllama again")
    model = _open_static(tokenizer, weights, vectors)
    return replace(model, embed=lambda texts: model.embed([text.lower() for text in texts]))  # it knows few capitals


def _compute_fingerprint(paths: Sequence[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def _read_tokenizer(path: Path) -> Any:
    if not path.is_file():
        raise ValueError(f"there is no {path}: a model needs its tokenizer.json")
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise ImportError("text models need tokenizers: pip install 'consilience[semantic]'") from error
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # tokenizers raises no narrower class
        raise ValueError(f"{path} is not a tokenizer: {error}") from error
    tokenizer.no_padding()
    return tokenizer


def _read_vectors(path: Path) -> np.ndarray | None:
    """Return the only matrix of a file of weights; None if there are others, which make a network."""
    try:
        from safetensors import SafetensorError
        from safetensors.numpy import load_file
    except ImportError as error:
        raise ImportError(f"{path}: these files need safetensors: pip install 'consilience[semantic]'") from error
    try:
        tensors = list(load_file(path).values())
    except (SafetensorError, ValueError, TypeError, OSError) as error:
        raise ValueError(f"{path} cannot be read: {error}") from error
    return tensors[0].astype(np.float32) if len(tensors) == 1 and tensors[0].ndim == 2 else None


def _open_static(tokenizer_path: Path, weights_path: Path, vectors: np.ndarray) -> TextModel:
    """Average the vectors of the word pieces of a text; a piece that occurs twice counts twice."""
    tokenizer = _read_tokenizer(tokenizer_path)
    tokenizer.no_truncation()
    n_pieces = tokenizer.get_vocab_size()
    if n_pieces > len(vectors):
        raise ValueError(f"{weights_path} has {len(vectors)} vectors for the {n_pieces} pieces of {tokenizer_path}")

    def embed(texts: list[str]) -> np.ndarray:
        blocks = [np.zeros((0, vectors.shape[1]), dtype=np.float32)]
        for start in range(0, len(texts), tuning.static_batch):
            encodings = tokenizer.encode_batch_fast(
                texts[start : start + tuning.static_batch], add_special_tokens=False
            )
            pieces = [encoding.ids for encoding in encodings]
            ends = np.cumsum([len(ids) for ids in pieces])
            columns = np.fromiter((piece for ids in pieces for piece in ids), dtype=np.int32, count=int(ends[-1]))
            counts = sp.csr_array(
                (np.ones(len(columns), dtype=np.float32), columns, np.append(0, ends)), (len(pieces), len(vectors))
            )
            blocks.append((counts @ vectors) / np.maximum(np.diff(counts.indptr), 1)[:, None].astype(np.float32))
        return np.vstack(blocks)

    return TextModel(_compute_fingerprint([tokenizer_path, weights_path]), embed)


def _open_onnx(path: Path) -> TextModel:
    """Run an ONNX model on word pieces; vectors of pieces are averaged, unless the first is to stand for the text."""
    folder = path.parent if (path.parent / "tokenizer.json").is_file() else path.parent.parent
    tokenizer_path, pooling_path = folder / "tokenizer.json", folder / "1_Pooling" / "config.json"
    if not tokenizer_path.is_file():
        raise ValueError(f"there is no tokenizer.json beside {path}: copy it from the model's folder")
    tokenizer = _read_tokenizer(tokenizer_path)
    limit = _read_settings(folder / "sentence_bert_config.json", {}).get("max_seq_length")
    if limit or tokenizer.truncation is None:
        tokenizer.enable_truncation(int(limit or MAX_TOKENS))
    uses_first = _read_pooling(pooling_path)
    session = open_network(path)
    inputs = [node.name for node in session.get_inputs()]
    if "input_ids" not in inputs or not set(inputs) <= set(NETWORK_INPUTS):
        raise ValueError(
            f"{path} takes {', '.join(inputs)}: a text model takes input_ids, and optionally attention_mask and "
            "token_type_ids"
        )
    outputs = [node.name for node in session.get_outputs()]
    output = "sentence_embedding" if "sentence_embedding" in outputs else outputs[0]

    def embed_batch(texts: list[str]) -> np.ndarray:
        encodings = tokenizer.encode_batch(texts)
        n_tokens = max(1, *(len(encoding.ids) for encoding in encodings))
        parts = np.zeros((len(NETWORK_INPUTS), len(texts), n_tokens), dtype=np.int64)
        for row, encoding in enumerate(encodings):
            pieces = encoding.ids, encoding.attention_mask, encoding.type_ids
            parts[:, row, : len(encoding.ids)] = pieces
        arguments = dict(zip(NETWORK_INPUTS, parts, strict=True))
        feeds = {name: arguments[name] for name in inputs}
        vectors = run_network(path, session, output, feeds, f"texts of up to {n_tokens} pieces")
        if vectors.ndim == 3 and len(vectors) == len(texts):
            mask = arguments["attention_mask"].astype(np.float32)[:, :, None]
            averages = (vectors * mask).sum(axis=1) / np.maximum(mask.sum(axis=1), 1)
            vectors = vectors[:, 0] if uses_first else averages
        if vectors.shape[:-1] != (len(texts),):
            raise ValueError(
                f"{path} returns an array of shape {vectors.shape} for {len(texts)} texts, not one vector per text"
            )
        return vectors.astype(np.float32)

    def embed(texts: list[str]) -> np.ndarray:
        order = np.argsort([len(text) for text in texts], kind="stable")  # so that texts of a batch are equally long
        blocks = []
        for start in range(0, len(texts), tuning.network_batch):
            blocks.append(embed_batch([texts[i] for i in order[start : start + tuning.network_batch]]))
            logger.info(
                "encoded %s of %s texts", f"{min(start + tuning.network_batch, len(texts)):,}", f"{len(texts):,}"
            )
        vectors = np.vstack(blocks)
        vectors[order] = vectors.copy()
        return vectors

    data = [path.with_name(path.name + ending) for ending in ("_data", ".data")]  # weights that are too large for ONNX
    files = [path, tokenizer_path, *(file for file in (*data, pooling_path) if file.is_file())]
    return TextModel(_compute_fingerprint(files), embed)


def _read_pooling(path: Path) -> bool:
    """Return whether the first vector stands for the text, by the settings of either format; otherwise the average."""
    settings = _read_settings(path, {})
    older = [name for name in settings if name.startswith("pooling_mode_") and settings[name] is True]
    mode = settings.get("pooling_mode", older[0] if older else "mean")
    if mode not in POOLING or len(older) > 1:
        raise ValueError(
            f"{path} asks for {mode}: of an ONNX model the average or the first vector of a text is used. Export the "
            "model with its pooling, as the output sentence_embedding"
        )
    return POOLING[mode]


def _read_settings(path: Path, default: Any) -> Any:
    """Read a JSON file of a model, which must hold what `default` is; the default if there is no file."""
    settings = read_document(path, json.loads) if path.is_file() else default
    if type(settings) is not type(default):
        raise ValueError(f"{path} is damaged: it holds no {type(default).__name__}")
    return settings


def _open_sentence_transformer(path: Path) -> TextModel:
    """Open a folder of sentence-transformers whose modules are the package's own and whose weights are no pickles."""
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise ImportError(
            f"{path} is a network: pip install 'consilience[transformers]', or export it to ONNX and give the .onnx "
            "file"
        ) from error
    classes = [str(module.get("type")) for module in _read_settings(path / "modules.json", [])]
    if foreign := [name for name in classes if not name.startswith("sentence_transformers.")]:
        raise ValueError(f"{path} needs the class {foreign[0]}, which is not of sentence-transformers: not loaded")
    pickles = [file for file in sorted(path.rglob("*")) if file.suffix in (".bin", ".pt", ".pth", ".pkl", ".ckpt")]
    if unsafe := [file for file in pickles if not (file.parent / "model.safetensors").is_file()]:
        raise ValueError(f"{unsafe[0]} is pickled and could run code: save the model as safetensors")
    for file in sorted(path.rglob("config.json")):  # of a dense layer, whose activation is any class by its name
        activation = str(_read_settings(file, {}).get("activation_function", "torch."))
        if "." in activation and not activation.startswith("torch."):
            raise ValueError(f"{file} needs the class {activation}, which is not of torch: not loaded")
    model = SentenceTransformer(
        str(path), device="cpu", trust_remote_code=False, local_files_only=True, model_kwargs={"use_safetensors": True}
    )

    def embed(texts: list[str]) -> np.ndarray:
        return model.encode(texts, batch_size=tuning.network_batch, show_progress_bar=False, convert_to_numpy=True)

    files = sorted(file for file in path.rglob("*") if file.suffix in (".json", ".safetensors"))
    return TextModel(_compute_fingerprint(files), embed)
