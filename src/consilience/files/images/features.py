"""Light features of pictures: shape, texture, color and pixels, from arrays (pictures, side, side, 3) of 0 to 1.

Each returns an array with one row per picture; the functions `name_...` name its columns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

SIDE = 64  # pixels of the squares that features are computed from
CELL = 8  # pixels of a cell of the histograms of oriented gradients
ANGLES = 9  # orientations in these histograms, over half a turn
MOST_SHARE = 0.2  # of an orientation in a block, so that no single edge outweighs the others
NOISE = 0.01  # of lightness: smaller differences between pixels are not taken for an edge
TEXTURE_ANGLES = 8
TEXTURE_SIDES = (64, 32, 16)  # pixels of the side at the three scales
RADII = (1, 2)  # pixels between the center and the pixels around it in local binary patterns
AROUND = ((-1, -1), (-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1))  # in the order of a circle
HUES = ("red", "orange", "yellow-green", "green", "cyan", "blue", "violet", "pink")  # 45 degrees apart
GRAYS = ("black", "dark gray", "light gray", "white")
REGIONS = ("", ", top left", ", top right", ", bottom left", ", bottom right")
PIXEL_SIDE = 16  # of the downsampled picture
LUMINANCE = np.array([0.299, 0.587, 0.114], dtype=np.float32)


def pool(values: np.ndarray, size: int) -> np.ndarray:
    """Return the means of squares of `size` pixels, of values of shape (pictures, height, width, ...)."""
    n, height, width, *rest = values.shape
    squares = values.reshape(n, height // size, size, width // size, size, *rest)
    return squares.mean(axis=(2, 4))


def spread_over_bins(positions: np.ndarray, weights: np.ndarray, n_bins: int) -> np.ndarray:
    """Divide each weight between the two bins of a circle that are nearest to its position, in a new last axis."""
    lower = np.floor(positions).astype(np.intp)
    share = positions - lower
    bins = np.zeros((*positions.shape, n_bins), dtype=np.float32)
    np.put_along_axis(bins, (lower % n_bins)[..., None], (weights * (1 - share))[..., None], axis=-1)
    np.put_along_axis(bins, ((lower + 1) % n_bins)[..., None], (weights * share)[..., None], axis=-1)
    return bins


def compute_gradients(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the differences of the two neighbors of each pixel, across and down; 0 at the border."""
    across, down = np.zeros_like(values), np.zeros_like(values)
    across[:, :, 1:-1] = values[:, :, 2:] - values[:, :, :-2]
    down[:, 1:-1] = values[:, 2:] - values[:, :-2]
    return across, down


def measure_orientations(across: np.ndarray, down: np.ndarray, n_angles: int) -> np.ndarray:
    """Return the strength of the gradient of each pixel, divided between the orientations next to its own."""
    positions = np.arctan2(down, across) / np.pi % 1 * n_angles
    return spread_over_bins(positions, np.hypot(across, down), n_angles)


def compute_shape(pictures: np.ndarray) -> np.ndarray:
    """Histograms of oriented gradients: the directions of edges in each part of the picture.

    The gradient of a pixel is that of the color channel in which it is strongest. The histogram of a cell is divided by
    the length of each of the four blocks of 2 x 2 cells that contain it, which makes up for light and contrast, and
    the four results are averaged (Felzenszwalb et al. 2010). At the border blocks are repeated.
    """
    across, down = compute_gradients(pictures)
    strongest = (across**2 + down**2).argmax(axis=-1)[..., None]
    across, down = (np.take_along_axis(part, strongest, axis=-1)[..., 0] for part in (across, down))
    cells = pool(measure_orientations(across, down, ANGLES), CELL)
    n_cells = cells.shape[1]
    energy = (cells**2).sum(axis=-1)
    block_energy = energy[:, :-1, :-1] + energy[:, 1:, :-1] + energy[:, :-1, 1:] + energy[:, 1:, 1:]
    block_energy = np.pad(block_energy, ((0, 0), (1, 1), (1, 1)), mode="edge")
    normalized = [
        cells / np.sqrt(block_energy[:, y : y + n_cells, x : x + n_cells, None] + NOISE**2)
        for y in (0, 1)
        for x in (0, 1)
    ]
    return np.mean([np.minimum(part, MOST_SHARE) for part in normalized], axis=0).reshape(len(pictures), -1)


def name_shape() -> list[str]:
    """Name an edge by its direction and the row and column of its cell, from 1."""
    cells = range(1, SIDE // CELL + 1)
    return [f"edges at {angle}, {row}/{column}" for row in cells for column in cells for angle in name_angles(ANGLES)]


def name_angles(n_angles: int) -> list[str]:
    """Name the directions of edges, which run at right angles to their gradients: 0° is horizontal."""
    return [f"{round(180 * (angle / n_angles + 0.5)) % 180}°" for angle in range(n_angles)]


def compute_texture(pictures: np.ndarray) -> np.ndarray:
    """Statistics of the whole picture that do not depend on where things are: patterns, directions and contrasts.

    Local binary patterns that are uniform and invariant under rotation (Ojala et al. 2002) at two radii; at three
    scales the directions of edges, the mean and the deviation of their strength, and the deviation of the lightness.
    """
    lightness = pictures @ LUMINANCE
    columns = [count_patterns(lightness, radius) for radius in RADII]
    for side in TEXTURE_SIDES:
        scaled = pool(lightness, lightness.shape[1] // side)
        across, down = compute_gradients(scaled)
        strength = np.hypot(across, down)
        directions = measure_orientations(across, down, TEXTURE_ANGLES).mean(axis=(1, 2))
        contrasts = [strength.mean(axis=(1, 2)), strength.std(axis=(1, 2)), scaled.std(axis=(1, 2))]
        columns += [np.sqrt(directions), np.stack(contrasts, axis=-1)]
    return np.hstack(columns)


def count_patterns(lightness: np.ndarray, radius: int) -> np.ndarray:
    """Return root shares of pixels with 0 to 8 lighter pixels side by side around them, and of all other pixels."""
    _, height, width = lightness.shape
    center = lightness[:, radius:-radius, radius:-radius] + NOISE
    is_lighter = np.stack(
        [
            lightness[:, radius * (1 + y) : height - radius * (1 - y), radius * (1 + x) : width - radius * (1 - x)]
            > center
            for y, x in AROUND
        ],
        axis=-1,
    )
    n_changes = (is_lighter != np.roll(is_lighter, 1, axis=-1)).sum(axis=-1)
    n_patterns = len(AROUND) + 2
    patterns = np.where(n_changes <= 2, is_lighter.sum(axis=-1), n_patterns - 1)
    shares = [(patterns == pattern).mean(axis=(1, 2)) for pattern in range(n_patterns)]
    return np.sqrt(np.stack(shares, axis=-1)).astype(np.float32)


def name_texture() -> list[str]:
    """Name patterns by the number of lighter pixels around the center, directions by their angle."""
    names = []
    for radius in RADII:
        patterns = [f"{n} of {len(AROUND)} lighter" for n in range(len(AROUND) + 1)]
        names += [f"{pattern} at {radius} px" for pattern in (*patterns, "mixed pattern")]
    for side in TEXTURE_SIDES:
        names += [f"edges at {angle}, scale {side}" for angle in name_angles(TEXTURE_ANGLES)]
        names += [f"{name}, scale {side}" for name in ("mean of edges", "deviation of edges", "contrast")]
    return names


def compute_color(pictures: np.ndarray) -> np.ndarray:
    """Root shares of colors, in the whole picture and in its quarters: dark and light hues, and grays.

    A pixel counts for its hue by the root of its chroma, and for the grays by the rest, each divided between the
    nearest hues and degrees of lightness.
    """
    largest, smallest = pictures.max(axis=-1), pictures.min(axis=-1)
    chroma, lightness = largest - smallest, (largest + smallest) / 2
    strength = np.sqrt(chroma)
    hues = spread_over_bins(compute_hue(pictures) * len(HUES), strength, len(HUES))
    steps = np.arange(len(GRAYS))
    nearness = np.maximum(0, 1 - np.abs(lightness[..., None] * steps[-1] - steps))
    grays = nearness * (1 - strength)[..., None]
    colors = np.concatenate([hues * (1 - lightness)[..., None], hues * lightness[..., None], grays], axis=-1)
    quarters = pool(colors, pictures.shape[1] // 2)
    whole = quarters.mean(axis=(1, 2))
    return np.sqrt(np.hstack([whole, quarters.reshape(len(pictures), -1)])).astype(np.float32)


def compute_hue(pictures: np.ndarray) -> np.ndarray:
    """Return the hue from 0 (red) through 1/3 (green) and 2/3 (blue) to 1; 0 for grays."""
    red, green, blue = (pictures[..., channel] for channel in range(3))
    largest = pictures.max(axis=-1)
    chroma = largest - pictures.min(axis=-1)
    divisor = np.where(chroma > 0, chroma, 1)
    sixths = np.where(
        largest == red,
        (green - blue) / divisor % 6,
        np.where(largest == green, (blue - red) / divisor + 2, (red - green) / divisor + 4),
    )
    return sixths / 6


def name_color() -> list[str]:
    """Name the colors, with the quarter of the picture."""
    colors = [*(f"dark {hue}" for hue in HUES), *(f"light {hue}" for hue in HUES), *GRAYS]
    return [f"{color}{region}" for region in REGIONS for color in colors]


def compute_pixels(pictures: np.ndarray) -> np.ndarray:
    """Colors of the downsampled picture."""
    pixels = pool(pictures, pictures.shape[1] // PIXEL_SIDE)
    return pixels.reshape(len(pictures), -1)


def name_pixels() -> list[str]:
    """Name pixels by row, column and channel, from 1."""
    rows = range(1, PIXEL_SIDE + 1)
    return [f"{channel} at {row}/{column}" for row in rows for column in rows for channel in ("red", "green", "blue")]


@dataclass(frozen=True)
class LightFeature:
    """A function that computes a feature, and one that names its columns."""

    compute: Callable[[np.ndarray], np.ndarray]
    name_columns: Callable[[], list[str]]


LIGHT_FEATURES = {
    "shape": LightFeature(compute_shape, name_shape),
    "texture": LightFeature(compute_texture, name_texture),
    "color": LightFeature(compute_color, name_color),
    "pixels": LightFeature(compute_pixels, name_pixels),
}
