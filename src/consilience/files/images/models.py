"""Image models in ONNX files, which hold a network and no code."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..networks import open_network, run_network
from .reading import import_pillow

if TYPE_CHECKING:
    from PIL.Image import Image

USUAL_SIDE = 224  # pixels, for models that take pictures of any size
CHANNEL_MEAN = np.array([0.485, 0.456, 0.406], dtype=np.float32)  # of ImageNet, as most models were trained
CHANNEL_DEVIATION = np.array([0.229, 0.224, 0.225], dtype=np.float32)


@dataclass(frozen=True)
class ImageModel:
    """A model that is open: `prepare` turns pictures into its input, and `embed` returns one vector per picture."""

    fingerprint: str
    side: int
    prepare: Callable[[Sequence[Image]], np.ndarray]
    embed: Callable[[np.ndarray], np.ndarray]


def open_image_model(path: Path) -> ImageModel:
    """Open an ONNX file that takes one array of pictures: float, (pictures, 3, height, width) or channels last."""
    if not path.is_file():
        raise ValueError(f"there is no model file {path}: put it there, or name its new path in --encode")
    if path.suffix.lower() != ".onnx":
        raise ValueError(
            f"{path} is not an .onnx file: export the model with torch.onnx.export. Checkpoints of PyTorch name no "
            "network, and may run code"
        )
    session = open_network(path)
    inputs = session.get_inputs()
    shape = inputs[0].shape if len(inputs) == 1 else []
    is_channels_last = len(shape) == 4 and shape[3] == 3
    if len(shape) != 4 or inputs[0].type != "tensor(float)" or not (is_channels_last or shape[1] == 3):
        taken = ", ".join(f"{node.name} {node.type} {node.shape}" for node in inputs)
        raise ValueError(f"{path} takes {taken}: an image model takes one float array (pictures, 3, height, width)")
    sizes = shape[1:3] if is_channels_last else shape[2:]
    height, width = (size if type(size) is int else USUAL_SIDE for size in sizes)
    batch = shape[0] if type(shape[0]) is int else None

    def prepare(images: Sequence[Image]) -> np.ndarray:
        pixels = np.stack([np.asarray(crop_picture(image, width, height)) for image in images])
        scaled = (pixels.astype(np.float32) / 255 - CHANNEL_MEAN) / CHANNEL_DEVIATION
        return scaled if is_channels_last else np.ascontiguousarray(scaled.transpose(0, 3, 1, 2))

    def embed(pictures: np.ndarray) -> np.ndarray:
        vectors = []
        for start in range(0, len(pictures), batch or len(pictures)):
            part = pictures[start : start + (batch or len(pictures))]
            missing = 0 if batch is None else batch - len(part)  # the last batch is filled up
            padded = np.pad(part, ((0, missing), (0, 0), (0, 0), (0, 0)))
            vectors.append(_run(session, inputs[0].name, padded, path)[: len(part)])
        return np.vstack(vectors)

    with path.open("rb") as file:
        fingerprint = hashlib.file_digest(file, "sha256").hexdigest()
    return ImageModel(fingerprint, max(height, width), prepare, embed)


def crop_picture(image: Image, width: int, height: int) -> Image:
    """Scale a picture so that it covers the size, and cut off what is too much on both sides."""
    Image, ImageOps = import_pillow()
    return ImageOps.fit(image, (width, height), Image.Resampling.BICUBIC)


def _run(session: Any, name: str, pictures: np.ndarray, path: Path) -> np.ndarray:
    """Return the first output of the model: maps are averaged over places, tokens over their sequence."""
    first = session.get_outputs()[0].name
    output = run_network(path, session, first, {name: pictures}, f"pictures of shape {pictures.shape[1:]}")
    if output.ndim < 2 or len(output) != len(pictures):
        raise ValueError(f"{path} returns an array of shape {output.shape} for {len(pictures)} pictures")
    if output.ndim == 3:
        return output.mean(axis=1)
    return output.reshape(*output.shape[:2], -1).mean(axis=2)
