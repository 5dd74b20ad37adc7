"""Encoders from pictures to numbers: light features, or a model of the user."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._saving import save_as
from ..encoders import NumbersEncoder, find_measured_rows
from ..kinds import ViewContent
from .features import LIGHT_FEATURES, SIDE
from .models import open_image_model
from .reading import Pictures, stack_squares

if TYPE_CHECKING:
    from PIL.Image import Image

LIGHT = ("shape", "texture", "color")  # views of the encoding `light`
PICTURE_ENCODINGS = ("light", *LIGHT_FEATURES)
COLORFUL = 0.02  # mean chroma from which a picture counts as colored
COLORED_SHARE = 0.05  # of the pictures, below which the view of colors is left out
USUAL_CALLABLE_SIDE = 1024  # pixels: pictures for functions of the user are decoded at this size or larger


def compute_light_features(pictures: Pictures) -> dict[str, np.ndarray]:
    """Compute all light features and the colorfulness, with one row per picture, from one pass over the files."""

    def compute(images: list[Image]) -> np.ndarray:
        squares = stack_squares(images, SIDE)
        columns = [feature.compute(squares) for feature in LIGHT_FEATURES.values()]
        chroma = squares.max(axis=-1) - squares.min(axis=-1)
        return np.hstack([*columns, chroma.mean(axis=(1, 2))[:, None]])

    values = pictures.compute("light", SIDE, compute)
    sizes = [len(feature.name_columns()) for feature in LIGHT_FEATURES.values()]
    parts = np.split(values, np.cumsum(sizes), axis=1)
    return dict(zip((*LIGHT_FEATURES, "colorfulness"), parts, strict=True))


@save_as("encoder-light-picture")
class LightPictureEncoder:
    """Compute a light feature of pictures, with columns of mean 0 and variance 1.

    Parameters
    ----------
    feature : {'shape', 'texture', 'color', 'pixels'}
        The feature.
    """

    kind = "images"
    present = staticmethod(find_measured_rows)

    def __init__(self, feature: str) -> None:
        self.feature = feature

    def fit(self, pictures: Pictures) -> LightPictureEncoder:
        """Learn mean and standard deviation of each column."""
        self.features = np.array(LIGHT_FEATURES[self.feature].name_columns(), dtype=object)
        self.numbers = NumbersEncoder().fit((compute_light_features(pictures)[self.feature], None))
        return self

    def transform(self, pictures: Pictures) -> np.ndarray:
        """Encode one row per picture, NaN where it is missing or broken."""
        return self.numbers.transform((compute_light_features(pictures)[self.feature], None))


@save_as("encoder-picture-model")
class PictureModelEncoder:
    """Compute vectors of pictures by an ONNX file, or by a function of the user.

    Parameters
    ----------
    source : path or callable
        The file, or a function from a list of PIL images to an array with one row per image. A function is not saved
        with the model.
    """

    kind = "images"
    features = None
    present = staticmethod(find_measured_rows)

    def __init__(self, source: Any) -> None:
        self.function = source if callable(source) else None
        self.path = None if callable(source) else str(Path(source).absolute())
        self.fingerprint: str | None = None

    def attach(self, function: Callable[[list[Any]], Any]) -> None:
        """Encode by this function, which a saved encoder has lost."""
        self.function = function

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "function": None}

    def fit(self, pictures: Pictures) -> PictureModelEncoder:
        """Remember which file the vectors come from, and standardize them."""
        if self.path is not None:
            self.fingerprint = open_image_model(Path(self.path)).fingerprint
        self.numbers = NumbersEncoder().fit((self._embed(pictures), None))
        return self

    def transform(self, pictures: Pictures) -> np.ndarray:
        """Encode one row per picture, NaN where it is missing or broken."""
        return self.numbers.transform((self._embed(pictures), None))

    def _embed(self, pictures: Pictures) -> np.ndarray:
        if self.path is not None:
            model = open_image_model(Path(self.path))
            if model.fingerprint != self.fingerprint:
                raise ValueError(f"{self.path} has changed since the model was fitted: put the former file there")
            return pictures.compute(self.path, model.side, model.prepare, model.embed)
        if self.function is None:
            raise ValueError("the pictures were encoded by a function, which is not saved: give their vectors instead")
        return pictures.compute(self.function, USUAL_CALLABLE_SIDE, list, _check_result(self.function))


def _check_result(function: Callable[[list[Image]], Any]) -> Callable[[list[Image]], np.ndarray]:
    """Return the function with a check that it gives one finite vector per picture."""

    def encode(images: list[Image]) -> np.ndarray:
        vectors = np.asarray(function(images), dtype=np.float32)
        if vectors.ndim != 2 or len(vectors) != len(images) or not np.isfinite(vectors).all():
            raise ValueError(
                f"the function that encodes pictures returned an array of shape {vectors.shape} for {len(images)} "
                "pictures: return one row of finite numbers per picture"
            )
        return vectors

    return encode


def fit_pictures(content: ViewContent, encodings: Sequence[Any], rare: bool, entities: Any) -> dict[str, Any]:  # noqa: ARG001
    """Fit one view per encoding; `light` makes three views, without those in which all pictures are alike."""
    pictures, name = content.data, content.name
    if "light" not in encodings:
        encoders = [_build_encoder(encoding).fit(pictures) for encoding in encodings]
        names = [name] if len(encoders) == 1 else [f"{name}-{_name_encoding(encoding)}" for encoding in encodings]
        return dict(zip(names, encoders, strict=True))
    computed = compute_light_features(pictures)
    features = [feature for feature in LIGHT if np.nanmax(np.ptp(_drop_missing(computed[feature]), axis=0)) > 0]
    is_colorful = _drop_missing(computed["colorfulness"]) > COLORFUL
    if "color" in features and is_colorful.mean() < COLORED_SHARE:
        features.remove("color")
    if not features:
        raise ValueError("all pictures are alike: there is nothing to cluster")
    others = [encoding for encoding in encodings if encoding not in ("light", *features)]
    return {f"{name}-{_name_encoding(part)}": _build_encoder(part).fit(pictures) for part in (*features, *others)}


def _drop_missing(values: np.ndarray) -> np.ndarray:
    return values[find_measured_rows(values)]


def _build_encoder(encoding: Any) -> Any:
    return LightPictureEncoder(encoding) if encoding in PICTURE_ENCODINGS else PictureModelEncoder(encoding)


def _name_encoding(encoding: Any) -> str:
    """Return the name of a feature, or the file name of a model without its suffix."""
    return encoding if encoding in PICTURE_ENCODINGS else Path(encoding).stem
