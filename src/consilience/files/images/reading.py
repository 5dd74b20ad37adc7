"""Find image files, and decode them: upright, in RGB, on several threads. Broken files count as missing."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

import numpy as np

from ..._progress import open_task
from ...arrays.parallel import map_chunks, use_threads

if TYPE_CHECKING:
    from PIL.Image import Image

SUFFIXES = frozenset(
    {*(".jpg", ".jpeg", ".jfif", ".png", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".avif", ".jp2", ".tga")}
    | {".ppm", ".pgm", ".pbm", ".pnm"}
)
# Pillow's decoders that are tried. The others include Encapsulated PostScript, which runs a program.
FORMATS = ("JPEG", "MPO", "PNG", "GIF", "WEBP", "BMP", "TIFF", "AVIF", "PPM", "JPEG2000", "TGA")
BATCH = 32  # pictures that one thread decodes before it takes the next ones
LARGE = 20_000_000  # pixels from which pictures are decoded one at a time, to limit the memory
WHITE_LEVELS = (255, 4095, 65535)  # of 8, 12 and 16 bits
SAMPLED = 50  # cells of a column whose files are looked for
ALPHA_MODES = ("RGBA", "LA", "PA", "La", "RGBa")

_one_large_picture = threading.Lock()


@dataclass(frozen=True, eq=False)
class Pictures:
    """Image files, one per row, and the arrays that were computed from them.

    Parameters
    ----------
    names : array of str or None
        Paths, relative to the folder or absolute; None where there is no picture.
    folder : Path
        Folder that relative paths start from.
    """

    names: np.ndarray
    folder: Path
    computed: dict[Any, np.ndarray] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.names)

    @property
    def paths(self) -> np.ndarray:
        """The path of each file, None where there is no picture."""
        paths = np.empty(len(self), dtype=object)
        paths[:] = [None if name is None else self.folder / name for name in self.names.tolist()]
        return paths

    def __repr__(self) -> str:
        """List the names with the sizes of the files, by which a changed input is noticed."""
        files = [(name, None if name is None else measure_file(self.folder / name)) for name in self.names.tolist()]
        return f"Pictures({files!r})"

    def compute(
        self,
        key: Any,
        side: int,
        prepare: Callable[[list[Image]], Any],
        conclude: Callable[[Any], np.ndarray] = lambda values: values,
    ) -> np.ndarray:
        """Return a row of numbers per picture, NaN where the picture is missing or broken; keep it under a key.

        Parameters
        ----------
        key : hashable
            What is computed: a second call with this key returns the first result.
        side : int
            Length in pixels of the sides that are needed: huge photos are decoded at about this size.
        prepare : callable
            Takes decoded pictures, on one of several threads.
        conclude : callable
            Takes what `prepare` returns, on the calling thread, and returns an array with one row per picture.
        """
        if key in self.computed:
            return self.computed[key]
        import_pillow()
        rows = [row for row, name in enumerate(self.names.tolist()) if name is not None]
        batches = [rows[start : start + BATCH] for start in range(0, len(rows), BATCH)]

        def decode(batch: list[int]) -> tuple[list[int], Any, dict[int, str]]:
            pictures, problems = {}, {}
            for row in batch:
                try:
                    pictures[row] = open_picture(self.folder / self.names[row], side)
                except Exception as error:  # a broken file makes a decoder raise whatever it likes
                    problems[row] = str(error) or type(error).__name__
            return list(pictures), prepare(list(pictures.values())) if pictures else None, problems

        encoded: dict[int, np.ndarray] = {}
        problems: dict[int, str] = {}
        with use_threads(None), warnings.catch_warnings(), open_task(len(rows)) as task:
            warnings.simplefilter("ignore")  # of Pillow, about the size of a picture and damaged metadata
            task.detail = "decoding the pictures"
            for decoded, prepared, batch_problems in map_chunks(decode, batches):
                problems |= batch_problems
                if decoded:
                    encoded |= zip(decoded, conclude(prepared), strict=True)
                task.advance(len(decoded) + len(batch_problems))
        self._report(problems, len(rows))
        values = np.full((len(self), len(next(iter(encoded.values())))), np.nan, dtype=np.float32)
        values[list(encoded)] = np.stack(list(encoded.values()))
        self.computed[key] = values
        return values

    def _report(self, problems: dict[int, str], n_files: int) -> None:
        """Warn about broken and missing files; refuse a view without any picture."""
        if not n_files:
            raise ValueError("every cell is empty: there is no picture")
        if not problems:
            return
        first = min(problems)
        example = f"{self.folder / self.names[first]}: {problems[first]}"
        if len(problems) == n_files:
            raise ValueError(f"none of the {n_files:,} pictures can be read. The first is {example}")
        subject = "1 picture" if len(problems) == 1 else f"{len(problems):,} of {n_files:,} pictures"
        warnings.warn(
            f"{subject} cannot be read, and {'counts' if len(problems) == 1 else 'count'} as missing: {example}"
            + ("" if len(problems) == 1 else " is the first"),
            UserWarning,
            stacklevel=2,
        )


def find_pictures(folder: Path) -> Pictures:
    """Find the image files below a folder, by their suffixes and in the order of their names; hidden ones are left out.

    Links to folders are not followed.
    """
    names = []
    for parent, subfolders, files in os.walk(folder):
        subfolders[:] = [name for name in subfolders if not name.startswith(".")]
        relative = Path(parent).relative_to(folder)
        names += [
            (relative / name).as_posix()
            for name in files
            if not name.startswith(".") and Path(name).suffix.lower() in SUFFIXES
        ]
    if not names:
        raise IsADirectoryError(
            f"{folder} is a folder: name a file in it, or a folder of pictures (this one has no .jpg, .png or other "
            "image file)"
        )
    return Pictures(np.array(sorted(names), dtype=object), folder)


def build_pictures(cells: np.ndarray, folder: Path) -> Pictures:
    """Turn a column of paths or file:// addresses into pictures; relative paths start from the folder."""
    names = np.array([None if cell is None else locate_picture(cell.strip()) for cell in cells], dtype=object)
    return Pictures(names, folder)


def locate_picture(text: str) -> str | None:
    """Return the path that a cell names; addresses on the network are refused."""
    if "://" not in text:
        return text or None
    address = urlsplit(text)
    if address.scheme.lower() != "file" or address.netloc not in ("", "localhost"):
        raise ValueError(f"{text!r} is on the network, and nothing is downloaded: save the files, and give their paths")
    return url2pathname(address.path)


def looks_like_images(values: np.ndarray, folder: Path) -> bool:
    """Whether a column holds paths of image files, most of which exist.

    Parameters
    ----------
    values : array
        The column; cells may be None.
    folder : Path
        Folder that relative paths start from, which is the folder of the table.
    """
    cells = [cell for cell in values.tolist() if cell is not None] if values.dtype == object else []
    texts = [cell.strip() for cell in cells if type(cell) is str]
    if not texts or len(texts) < len(cells):
        return False
    sample = [texts[i] for i in np.unique(np.linspace(0, len(texts) - 1, SAMPLED).astype(int))]
    if not all(text.lower().endswith(tuple(SUFFIXES)) for text in sample):
        return False
    try:
        return sum(measure_file(folder / (locate_picture(text) or "")) is not None for text in sample) > len(sample) / 2
    except ValueError:  # an address on the network
        return False


def measure_file(path: Path) -> int | None:
    """Return the size of a file, None if there is no such file."""
    try:
        return path.stat().st_size if path.is_file() else None
    except (OSError, ValueError):  # a name that cannot be one, such as a very long one
        return None


def open_picture(path: Path, side: int) -> Image:
    """Decode the first frame of an image file: upright, in RGB, transparent parts over white.

    A JPEG file is decoded at a fraction of its size if its sides stay at least `side` pixels long.
    """
    Image, ImageOps = import_pillow()
    if measure_file(path) is None:  # a pipe would never end
        raise FileNotFoundError("there is no such file")
    Image.init()
    with Image.open(path, formats=[name for name in FORMATS if name in Image.OPEN]) as image:
        image.draft(None, (side, side))
        with _one_large_picture if image.width * image.height > LARGE else nullcontext():
            upright = ImageOps.exif_transpose(image)
            if upright.mode.startswith(("I", "F")):
                return _scale_to_bytes(upright).convert("RGB")
            if upright.mode in ALPHA_MODES or "transparency" in upright.info:
                opaque = Image.new("RGBA", upright.size, "white")
                opaque.alpha_composite(upright.convert("RGBA"))
                return opaque.convert("RGB")
            return upright.convert("RGB")


def _scale_to_bytes(image: Image) -> Image:
    """Scale gray levels of 16 or 32 bits, or fractions, to 8 bits.

    White is the largest number of as many bits as the brightest pixel needs: cameras of microscopes store 12 bits in
    files of 16.
    """
    levels = np.asarray(image, dtype=np.float64)
    if not np.isfinite(levels).all():
        raise ValueError("the picture has pixels that are not finite numbers")
    brightest = levels.max()
    white = next((white for white in WHITE_LEVELS if brightest <= white), brightest)
    if image.mode == "F" and brightest <= 1:
        white = 1
    return import_pillow()[0].fromarray(np.round(np.clip(levels / white, 0, 1) * 255).astype(np.uint8))


def import_pillow() -> tuple[Any, Any]:
    """Return the modules Image and ImageOps of Pillow."""
    try:
        from PIL import Image, ImageOps
    except ImportError as error:
        raise ImportError("pictures need Pillow: pip install 'consilience[images]'") from error
    return Image, ImageOps


def stack_squares(images: Sequence[Image], side: int) -> np.ndarray:
    """Return pictures as an array (pictures, side, side, 3) of numbers from 0 to 1; other shapes are squeezed."""
    bicubic = import_pillow()[0].Resampling.BICUBIC
    squares = [np.asarray(image.resize((side, side), bicubic, reducing_gap=3.0)) for image in images]
    return np.stack(squares).astype(np.float32) / 255
