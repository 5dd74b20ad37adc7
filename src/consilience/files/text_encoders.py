"""Encoders of texts other than by words: leading components of the words, and vectors of a model of language."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.preprocessing import normalize

from .._saving import save_as
from .encoders import TextEncoder, find_measured_rows
from .kinds import ViewContent
from .text_models import SEMANTIC, TextModel, has_semantic_packages, open_text_model

MAX_COMPONENTS = 100  # of the words, by the encoding lsa
MAX_SHORT_WORDS = 15  # average number of words up to which texts are short
SAMPLED_TEXTS = 1000  # number of texts whose words are counted


def is_short(texts: Iterable[str | None]) -> bool:
    """Whether texts are short, so that two of them seldom share words even if they mean the same."""
    n_words = [len(text.split()) for text in texts if text is not None][:SAMPLED_TEXTS]
    return bool(n_words) and float(np.mean(n_words)) <= MAX_SHORT_WORDS


def list_text_candidates(content: ViewContent) -> list[str]:
    """List the encodings among which an automatic choice should choose, the default first.

    The meaning of words helps with short texts; long ones are described better by their words.
    """
    if content.kind not in ("text", "names") or not has_semantic_packages() or not is_short(content.data):
        return ["words"]
    return ["words", SEMANTIC, f"words+{SEMANTIC}"]


def advise_semantic(contents: Iterable[ViewContent]) -> str | None:
    """Return a note that names the extra for short texts; None if it is installed or no text is short."""
    if has_semantic_packages():
        return None
    short = [content.name for content in contents if content.kind in ("text", "names") and is_short(content.data)]
    if not short:
        return None
    names, verb = ", ".join(map(repr, short)), "holds" if len(short) == 1 else "hold"
    return (
        f"View{'' if len(short) == 1 else 's'} {names} {verb} short texts, which can also be compared by meaning: pip "
        "install 'consilience[semantic]'."
    )


def scale_embedding(vectors: np.ndarray) -> np.ndarray:
    """Scale rows to unit length; rows of zeros, which stand for texts without any word that is known, become NaN."""
    vectors = normalize(vectors)
    vectors[~vectors.any(axis=1)] = np.nan
    return vectors


@save_as("encoder-lsa")
class LSAEncoder:
    """Latent semantic analysis: the leading components of words weighted by tf-idf, in rows of unit length.

    Parameters
    ----------
    kind : {'text', 'names'}
        Words, or three letters in a row.
    """

    kind = "embedding"
    features = None
    present = staticmethod(find_measured_rows)

    def __init__(self, kind: str) -> None:
        self.words = TextEncoder(kind, rare=True)

    @property
    def note(self) -> str:
        """Say which stop words are left out."""
        return self.words.note

    def fit(self, texts: np.ndarray) -> LSAEncoder:
        """Learn the words and their leading components."""
        weights = self.words.fit(texts).transform(texts)
        n_components = min(MAX_COMPONENTS, *weights.shape)
        if n_components < 2:
            raise ValueError("the texts share too few words for the encoding lsa: use words")
        self.components = TruncatedSVD(n_components, random_state=0).fit(weights).components_
        return self

    def transform(self, texts: np.ndarray) -> np.ndarray:
        """Encode one row per text, NaN if it has no word of the fit."""
        return scale_embedding(self.words.transform(texts) @ self.components.T)


@save_as("encoder-embedding")
class EmbeddingEncoder:
    """Vectors of texts by a model outside of the saved file, in rows of unit length.

    A saved encoder names its model and has a fingerprint of the files, not the weights.

    Parameters
    ----------
    source : str or callable
        'semantic', the path of a local model, or a function from a list of strings to an array with one row each.
    """

    kind = "embedding"
    features = None
    present = staticmethod(find_measured_rows)
    _model: TextModel | None = None  # not saved
    _fitted: tuple[Any, np.ndarray] | None = None  # texts of the fit and their vectors, until `transform` returns them

    def __init__(self, source: str | Callable[[list[str]], Any]) -> None:
        if callable(source):
            self._model = TextModel("", source)
            source = getattr(source, "__qualname__", type(source).__qualname__)
        self.source: str = source

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in ("_model", "_fitted")}

    def attach(self, function: Callable[[list[str]], Any]) -> None:
        """Encode by this function, which a saved encoder has lost."""
        self._model = TextModel("", function)

    def fit(self, texts: np.ndarray) -> EmbeddingEncoder:
        """Encode the texts, to check the model and to learn its number of columns."""
        self._model = open_text_model(self.source) if self._model is None else self._model
        self.fingerprint = self._model.fingerprint
        self.n_columns = None
        vectors = self._embed(texts, self._model)
        self.n_columns = vectors.shape[1]
        self._fitted = texts, vectors
        return self

    def transform(self, texts: np.ndarray) -> np.ndarray:
        """Encode one row per text, NaN if it is empty or has no word that the model knows."""
        fitted, self._fitted = self._fitted, None
        if fitted is not None and fitted[0] is texts:
            return fitted[1]
        if self._model is None:
            self._model = self._open_again()
        return self._embed(texts, self._model)

    def _open_again(self) -> TextModel:
        """Open the model of a saved encoder, and refuse another one in its place."""
        if not self.fingerprint:
            raise ValueError(
                f"the texts were encoded by the Python function {self.source}, which no file contains: predict in the "
                "session of the fit, or cluster the vectors as a view of numbers"
            )
        if self.source != SEMANTIC and not Path(self.source).exists():
            raise ValueError(
                f"there is no model at {self.source}, which encoded the texts of the fit: put it there again"
            )
        model = open_text_model(self.source)
        if model.fingerprint != self.fingerprint:
            raise ValueError(
                f"the model {self.source} is not the one that the clusters were fitted with: install the files of that "
                "time, or run `consilience cluster` again"
            )
        return model

    def _embed(self, texts: np.ndarray, model: TextModel) -> np.ndarray:
        """Encode each different text once, and check what the model returns."""
        rows = [row for row, text in enumerate(texts) if text is not None and text.strip()]
        different = list(dict.fromkeys(texts[rows].tolist()))
        if not different:
            if self.n_columns is None:
                raise ValueError("every cell is empty")
            return np.full((len(texts), self.n_columns), np.nan, dtype=np.float32)
        vectors = np.asarray(model.embed(different))
        expected = (len(different), vectors.shape[-1] if self.n_columns is None else self.n_columns)
        if vectors.shape != expected or 0 in expected or vectors.dtype.kind not in "iuf":
            columns = "columns" if self.n_columns is None else str(self.n_columns)
            raise ValueError(
                f"the encoding {self.source} returned {vectors.dtype} of shape {vectors.shape}: numbers of shape "
                f"({len(different)}, {columns}) are needed, one row per text"
            )
        if not np.isfinite(vectors).all():
            text = different[int(np.flatnonzero(~np.isfinite(vectors).all(axis=1))[0])]
            raise ValueError(f"the encoding {self.source} returned NaN or infinity for {text[:40]!r}")
        position = {text: i for i, text in enumerate(different)}
        encoded = np.full((len(texts), vectors.shape[1]), np.nan, dtype=np.float32)
        encoded[rows] = scale_embedding(vectors.astype(np.float32))[[position[texts[row]] for row in rows]]
        return encoded
