"""Pictures as views: files of every mode, broken ones, light features, models, and names that join."""

import colorsys
import os
import shutil
import struct
import sys
import zlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import consilience as cs
from consilience.arrays import parallel
from consilience.files import encode, fit_and_encode, join_contents
from consilience.files.images.encoder import LightPictureEncoder, PictureModelEncoder, compute_light_features
from consilience.files.images.features import (
    LIGHT_FEATURES,
    MOST_SHARE,
    NOISE,
    compute_color,
    compute_hue,
    compute_shape,
    compute_texture,
    count_patterns,
)
from consilience.files.images.reading import Pictures, build_pictures, find_pictures, looks_like_images, open_picture
from consilience.files.images.thumbnails import draw_thumbnail, find_thumbnails
from consilience.persist import load, save
from stage import assert_refused, get_clusters, read_labels, run_command, run_successfully, write_csv

Image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")

N_PER_GROUP = 12
COLORS = {"sky": (70, 120, 230), "leaf": (60, 160, 40), "rose": (220, 40, 90)}


def paint(seed, color, angle):
    """Paint stripes of a color at an angle, with noise."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:40, :48]
    stripes = 0.75 + 0.25 * np.sign(np.sin((x * np.cos(angle) + y * np.sin(angle)) / 3 + rng.uniform(0, 6)))
    pixels = np.asarray(color) * stripes[:, :, None] + rng.normal(scale=12, size=(40, 48, 3))
    return Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    """A folder of three groups of pictures: other colors and other stripes."""
    folder = tmp_path_factory.mktemp("pictures") / "photos"
    folder.mkdir()
    for group, (name, color) in enumerate(COLORS.items()):
        for i in range(N_PER_GROUP):
            paint(100 * group + i, color, group * np.pi / 3).save(folder / f"{name}{i:02d}.png")
    return folder


def make_pictures(folder, *names):
    return Pictures(np.array(names, dtype=object), folder)


def save_palette(path):
    image = Image.fromarray(np.array([[0, 1], [1, 1]], np.uint8))
    image.putpalette([255, 0, 0, 0, 0, 255])
    image.save(path, transparency=0)


def save_animation(path):
    first, *rest = (Image.new("RGB", (4, 4), color) for color in ("blue", "red", "lime"))
    first.save(path, save_all=True, append_images=rest)


def save_array(array):
    return lambda path: Image.fromarray(array).save(path)


MODES = {
    "gray.png": (lambda path: Image.new("L", (4, 4), 100).save(path), (100, 100, 100)),
    "bits.png": (lambda path: Image.new("1", (4, 4), 1).save(path), (255, 255, 255)),
    "half.png": (lambda path: Image.new("RGBA", (4, 4), (255, 0, 0, 128)).save(path), (255, 127, 127)),
    "clear.png": (lambda path: Image.new("LA", (4, 4), (0, 0)).save(path), (255, 255, 255)),
    "palette.png": (save_palette, (0, 0, 255)),
    "animated.gif": (save_animation, (0, 0, 255)),
    "cmyk.jpg": (lambda path: Image.new("CMYK", (8, 8), (0, 255, 255, 0)).save(path, quality=95), (254, 0, 0)),
    "deep.png": (save_array(np.array([[0, 65535], [32896, 32896]], np.uint16)), (128, 128, 128)),
    "camera.tif": (save_array(np.array([[0, 4095], [2048, 2048]], np.uint16)), (128, 128, 128)),
    "fractions.tif": (save_array(np.array([[0, 1], [0.5, 0.5]], np.float32)), (128, 128, 128)),
    "floats.tif": (save_array(np.array([[0, 200], [51, 51]], np.float32)), (51, 51, 51)),
    "integers.tif": (save_array(np.array([[0, 200], [51, 51]], np.int32)), (51, 51, 51)),
    "one.bmp": (lambda path: Image.new("RGB", (1, 1), (1, 2, 3)).save(path), (1, 2, 3)),
}


def test_every_mode_becomes_rgb(tmp_path):
    for name, (write, expected) in MODES.items():
        write(tmp_path / name)
        image = open_picture(tmp_path / name, 64)
        assert image.mode == "RGB"
        pixel = image.getpixel((image.width - 1, image.height - 1))
        assert np.abs(np.subtract(pixel, expected)).max() <= 2, name
    assert open_picture(tmp_path / "palette.png", 64).getpixel((0, 0)) == (255, 255, 255)  # the transparent color
    assert np.isfinite(compute_light_features(make_pictures(tmp_path, *MODES))["shape"]).all()


def test_orientation_is_applied_and_a_large_jpeg_decoded_at_a_fraction_of_its_size(tmp_path):
    image = paint(0, COLORS["sky"], 0.3)
    exif = Image.Exif()
    exif[0x0112] = 6  # the camera was held upright: turn by 90 degrees clockwise
    image.save(tmp_path / "turned.png", exif=exif)
    expected = np.asarray(image.transpose(Image.Transpose.ROTATE_270))
    np.testing.assert_array_equal(np.asarray(open_picture(tmp_path / "turned.png", 64)), expected)
    Image.new("RGB", (1600, 800), "red").save(tmp_path / "large.jpg")
    assert open_picture(tmp_path / "large.jpg", 64).size == (200, 100)


def announce_size(side):
    """Return a PNG file of a few bytes that announces a huge picture."""

    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b""))


def test_broken_files_count_as_missing(tmp_path, photos):
    content = (photos / "sky00.png").read_bytes()
    script = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\nshowpage\n"
    files = {"cut.png": content[:500], "text.jpg": b"not a picture", "empty.jpg": b"", "script.png": script}
    files |= {
        "huge.png": announce_size(20_000),
        "large.png": announce_size(10_000),
    }  # Pillow warns of 89 million pixels
    for name, data in (files | {"whole.png": content}).items():
        (tmp_path / name).write_bytes(data)
    os.mkfifo(tmp_path / "pipe.png")
    save_array(np.array([[0, np.nan]], np.float32))(tmp_path / "nan.tif")
    (tmp_path / "folder.png").mkdir()
    reasons = {"script.png": "cannot identify", "huge.png": "exceeds limit", "pipe.png": "no such file"}
    reasons["nan.tif"] = "not finite"
    broken = {*files, *reasons, "gone.png", "folder.png"}
    message = r"10 of 11 pictures cannot be read, and count as missing: .*: .* first"
    with pytest.warns(UserWarning, match=message) as warned:
        shape = compute_light_features(make_pictures(tmp_path, *broken, "whole.png", None))["shape"]
    assert len(warned) == 1
    assert np.isnan(shape).all(axis=1).tolist() == [True] * 10 + [False, True]
    for name, reason in reasons.items():
        with pytest.raises(ValueError, match=f"none of the 1 pictures can be read. The first is .*{name}: .*{reason}"):
            compute_light_features(make_pictures(tmp_path, name))
    with pytest.raises(ValueError, match="every cell is empty: there is no picture"):
        compute_light_features(make_pictures(tmp_path, None, None))


@pytest.fixture(scope="module")
def squares():
    return np.random.default_rng(0).uniform(size=(2, 64, 64, 3)).astype(np.float32)


def compute_shape_literally(picture):
    """Compute the histograms of a picture pixel by pixel."""
    cells = np.zeros((8, 8, 9))
    for y in range(64):
        for x in range(64):
            gradients = []
            for channel in picture.transpose(2, 0, 1):
                across = channel[y, x + 1] - channel[y, x - 1] if 0 < x < 63 else 0.0
                down = channel[y + 1, x] - channel[y - 1, x] if 0 < y < 63 else 0.0
                gradients.append((np.hypot(across, down), across, down))
            strength, across, down = max(gradients, key=lambda gradient: gradient[0])
            position = np.arctan2(down, across) % np.pi / np.pi * 9
            lower = int(position)
            cells[y // 8, x // 8, lower % 9] += strength * (lower + 1 - position) / 64
            cells[y // 8, x // 8, (lower + 1) % 9] += strength * (position - lower) / 64
    shares = np.zeros_like(cells)
    for row in range(8):
        for column in range(8):
            for top in (row - 1, row):
                for left in (column - 1, column):
                    y, x = np.clip(top, 0, 6), np.clip(left, 0, 6)
                    length = np.sqrt((cells[y : y + 2, x : x + 2] ** 2).sum() + NOISE**2)
                    shares[row, column] += np.minimum(cells[row, column] / length, MOST_SHARE) / 4
    return shares.ravel()


def test_shape_equals_the_literal_computation_and_does_not_depend_on_brightness(squares):
    expected = compute_shape_literally(squares[0].astype(np.float64))
    np.testing.assert_allclose(compute_shape(squares)[0], expected, atol=2e-4)
    np.testing.assert_allclose(compute_shape(0.3 * squares + 0.5), compute_shape(squares), atol=5e-3)


def test_patterns_equal_the_literal_count_and_do_not_depend_on_rotation(squares):
    lightness = squares[..., 0]
    circle = [(-1, -1), (-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1)]
    for radius in (1, 2):
        counts = np.zeros(10)
        for y in range(radius, 64 - radius):
            for x in range(radius, 64 - radius):
                center = lightness[0, y, x] + np.float32(NOISE)
                ring = [lightness[0, y + radius * dy, x + radius * dx] > center for dy, dx in circle]
                changes = sum(ring[i] != ring[i - 1] for i in range(8))
                counts[sum(ring) if changes <= 2 else 9] += 1
        np.testing.assert_allclose(count_patterns(lightness, radius)[0], np.sqrt(counts / counts.sum()), rtol=1e-5)
    turned = np.rot90(squares, axes=(1, 2))
    np.testing.assert_allclose(compute_texture(turned)[:, :20], compute_texture(squares)[:, :20], rtol=1e-5)


def test_color_counts_hues_of_pixels_wherever_they_are(squares):
    for pixel, hue in zip(squares[0, 0], compute_hue(squares)[0, 0], strict=True):
        assert hue == pytest.approx(colorsys.rgb_to_hsv(*pixel.tolist())[0], abs=1e-6)
    color = compute_color(squares)
    shuffled = squares.copy()
    np.random.default_rng(1).shuffle(shuffled[0, :32, :32].reshape(-1, 3))  # within a quarter
    np.testing.assert_allclose((color**2).reshape(2, 5, 20).sum(axis=2), 1, rtol=1e-5)  # shares of all colors
    np.testing.assert_allclose(compute_color(shuffled), color, atol=1e-5)


def test_names_of_colors_fit(squares):
    names = LIGHT_FEATURES["color"].name_columns()
    for rgb, name in {(255, 0, 0): "red", (255, 255, 255): "white", (0, 0, 0): "black", (0, 255, 255): "cyan"}.items():
        picture = np.full((1, 64, 64, 3), rgb, np.float32) / 255
        assert name in names[int(compute_color(picture)[0].argmax())]
    for feature in LIGHT_FEATURES.values():
        assert len(set(feature.name_columns())) == feature.compute(squares).shape[1]


def test_names_of_edges_fit():
    for axis, angles in ((0, ("170°", "10°", "0°")), (1, ("90°",))):
        stripes = np.expand_dims(np.arange(64) // 4 % 2, 1 - axis) * np.ones((64, 64))
        picture = np.repeat(stripes[None, :, :, None], 3, axis=3).astype(np.float32)
        for feature in (LIGHT_FEATURES["shape"], LIGHT_FEATURES["texture"]):
            values = dict(zip(feature.name_columns(), feature.compute(picture)[0], strict=True))
            strongest = max((name for name in values if name.startswith("edges")), key=values.get)
            assert strongest.removeprefix("edges at ").partition(",")[0] in angles


def test_encodings_make_views_also_of_new_pictures(content, photos, monkeypatch):
    encoded = fit_and_encode([content(photos)], rare=True)
    assert encoded.views.names == ("view-shape", "view-texture", "view-color")
    assert set(encoded.kinds.values()) == {"images"}
    assert encoded.views.present.all()
    assert encoded.pictures["view"][0] == photos / "leaf00.png"
    monkeypatch.setattr(parallel, "available_threads", lambda: 5)  # which changes nothing
    again = content(photos)
    new = encode([again], encoded.encodings, join_contents([again]))
    for name in encoded.views.names:
        np.testing.assert_array_equal(new.views[name], encoded.views[name])
    for encoding, names in (("color", ("view",)), ("light+pixels", (*encoded.views.names, "view-pixels"))):
        assert fit_and_encode([content(photos)], rare=True, encode={"view": encoding}).views.names == names


def test_gray_pictures_have_no_view_of_colors_and_equal_ones_are_refused(content, photos, tmp_path):
    (tmp_path / "gray").mkdir()
    for path in photos.iterdir():
        Image.open(path).convert("L").save(tmp_path / "gray" / path.name)
    assert fit_and_encode([content(tmp_path / "gray")], rare=True).views.names == ("view-shape", "view-texture")
    (tmp_path / "red").mkdir()
    for name in "ab":
        Image.new("RGB", (4, 4), "red").save(tmp_path / "red" / f"{name}.png")
    with pytest.raises(ValueError, match=r"view 'view' \(.*\): all pictures are alike"):
        fit_and_encode([content(tmp_path / "red")], rare=True)


def test_function_encodes_pictures(content, photos):
    def average(images):
        assert all(image.mode == "RGB" and image.size == (48, 40) for image in images)
        return [np.asarray(image).mean(axis=(0, 1)) for image in images]

    views = fit_and_encode([content(photos)], rare=True, encode={"view": average}).views
    assert views.names == ("view",)
    expected = np.array(average([Image.open(path) for path in sorted(photos.iterdir())]))
    np.testing.assert_allclose(views["view"], (expected - expected.mean(axis=0)) / expected.std(axis=0), atol=1e-4)
    for wrong in (lambda images: np.zeros(3), lambda images: np.full((len(images), 2), np.nan)):
        with pytest.raises(ValueError, match=r"view 'view'.*return one row of finite numbers per picture"):
            fit_and_encode([content(photos)], rare=True, encode={"view": wrong})


def test_saved_encoders_give_the_same_numbers(photos, tmp_path):
    pictures = find_pictures(photos)
    for feature in LIGHT_FEATURES:
        encoder = LightPictureEncoder(feature).fit(pictures)
        save(encoder, tmp_path / "model.zip", overwrite=True)
        new = make_pictures(photos, "rose03.png")
        np.testing.assert_allclose(load(tmp_path / "model.zip").transform(new), encoder.transform(new))
    encoder = PictureModelEncoder(lambda images: [image.size for image in images]).fit(pictures)
    save(encoder, tmp_path / "model.zip", overwrite=True)
    with pytest.raises(ValueError, match="encoded by a function, which is not saved"):
        load(tmp_path / "model.zip").transform(pictures)


def write_network(path, shape, factor=1.0):
    """Write an ONNX file that returns its input, times a factor."""
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    from onnx import TensorProto, helper

    nodes = [helper.make_node("Mul", ["pixels", "factor"], ["maps"])]
    inputs = [helper.make_tensor_value_info("pixels", TensorProto.FLOAT, shape)]
    outputs = [helper.make_tensor_value_info("maps", TensorProto.FLOAT, shape)]
    factors = [helper.make_tensor("factor", TensorProto.FLOAT, [], [factor])]
    graph = helper.make_graph(nodes, "identity", inputs, outputs, factors)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


@pytest.mark.parametrize("shape", [["n", 3, 16, 16], [1, 3, 16, 16], [5, 3, "h", "w"]])
def test_onnx_file_gives_pooled_maps(photos, tmp_path, shape):
    path = write_network(tmp_path / "net.onnx", shape)
    values = PictureModelEncoder(path).fit(find_pictures(photos))._embed(find_pictures(photos))
    side = 16 if shape[2] == 16 else 224
    top = (40 - 48 * 40 / 48) / 2  # the square of 40 x 40 pixels in the middle
    for row, file in enumerate(sorted(photos.iterdir())[:3]):
        cropped = Image.open(file).resize((side, side), Image.Resampling.BICUBIC, box=(4 + top, 0, 44 - top, 40))
        mean = (np.asarray(cropped).mean(axis=(0, 1)) / 255 - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]
        np.testing.assert_allclose(values[row], mean, atol=1e-4)


def test_onnx_file_is_found_from_another_folder_but_refused_if_it_has_changed(photos, tmp_path, monkeypatch):
    path = write_network(tmp_path / "net.onnx", ["n", 3, 16, 16])
    monkeypatch.chdir(tmp_path)
    pictures = find_pictures(photos)
    encoder = PictureModelEncoder("net.onnx").fit(pictures)
    monkeypatch.chdir(photos)
    assert encoder.transform(pictures).shape == (3 * N_PER_GROUP, 3)
    write_network(path, ["n", 3, 16, 16], factor=2.0)
    with pytest.raises(ValueError, match=r"net\.onnx has changed since the model was fitted"):
        encoder.transform(pictures)


def test_other_models_are_refused(content, photos, tmp_path):
    pytest.importorskip("onnxruntime")
    for name in ("net.pth", "text.onnx"):
        (tmp_path / name).write_bytes(b"no model")
    for name, message in (
        ("none.onnx", r"there is no model file .*none\.onnx"),
        ("net.pth", r"net\.pth is not an \.onnx file: export the model with torch\.onnx\.export"),
        ("text.onnx", r"text\.onnx is not an ONNX model that can be run"),
    ):
        with pytest.raises(ValueError, match=f"view 'view'.*{message}"):
            fit_and_encode([content(photos)], rare=True, encode={"view": str(tmp_path / name)})
    path = write_network(tmp_path / "net.onnx", ["n", 7])
    with pytest.raises(ValueError, match=r"takes pixels .*an image model takes one float array"):
        PictureModelEncoder(path).fit(find_pictures(photos))


def test_folder_is_read_in_order_with_subfolders_and_without_hidden_files(read, put, tmp_path):
    for name in ("b.PNG", "a/c.jpg", ".hidden.png", ".cache/d.png", "notes.txt", "a/e.webp"):
        put(name, "")
    assert find_pictures(tmp_path).names.tolist() == ["a/c.jpg", "a/e.webp", "b.PNG"]
    (tmp_path / "none").mkdir()
    with pytest.raises(IsADirectoryError, match=r"is a folder: name a file in it, or a folder of pictures \(this one"):
        read(f"photo={tmp_path / 'none'}")


def test_ids_of_a_table_match_files(read, put, tmp_path):
    for name in "abc":
        put(f"photos/day/{name}.png", "")
    for form in ("{}", "{}.png", "day/{}", "day/{}.png"):
        table = put("t.csv", "id,x\n" + "".join(f"{form.format(name)},{i}\n" for i, name in enumerate("cax")))
        entities = join_contents(read(f"photo={tmp_path / 'photos'}", table).contents)
        assert entities.ids.tolist() == [form.format(name) for name in "abcx"]
        assert entities.rows["photo"].tolist() == [0, 1, 2, -1]


def test_ids_are_paths_without_suffix_unless_these_repeat_or_ids_of_labels_have_them(read, put):
    photos = put("photos/a.png", "").parent
    put("photos/day/a.png", "")
    assert read(f"photo={photos}").contents[0].ids.tolist() == ["a", "day/a"]
    classes = put("classes.csv", "id,class\na.png,x\nday/a.png,x\n")
    assert read(f"photo={photos}", labels=f"{classes}:class").contents[0].ids.tolist() == ["a.png", "day/a.png"]
    put("photos/a.jpg", "")
    assert read(f"photo={photos}").contents[0].ids.tolist() == ["a.jpg", "a.png", "day/a.png"]


def test_folder_has_neither_columns_nor_another_kind_and_needs_a_package(read, photos, monkeypatch):
    with pytest.raises(ValueError, match="is a folder of pictures: leave out ':x'"):
        read(f"photo={photos}:x")
    with pytest.raises(ValueError, match="is a folder of pictures, not text: leave out --kind"):
        read(f"photo={photos}", kinds={"photo": "text"})
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(ImportError, match=r"pictures need Pillow: pip install 'consilience\[images\]'"):
        compute_light_features(find_pictures(photos))


def test_column_of_paths_is_detected_and_relative_to_the_table(read, photos, tmp_path):
    url = (photos / "rose00.png").as_uri()
    rows = [("a", "photos/sky00.png"), ("b", str(photos / "leaf00.png")), ("c", url), ("d", "")]
    table = write_csv(photos.parent / "table.csv", ["id", "file"], rows)
    (content,) = read(f"photo={table}:file").contents
    assert (content.kind, content.reason) == ("images", "paths of pictures")
    paths = [photos / "sky00.png", photos / "leaf00.png", photos / "rose00.png", None]
    assert content.data.paths.tolist() == paths
    pictures = build_pictures(np.array(["file:///a%20b.png", "file://localhost/c.png"], dtype=object), tmp_path)
    assert pictures.paths.tolist() == [Path("/a b.png"), Path("/c.png")]


def test_address_on_the_network_is_refused(content, put):
    for address in ("https://example.org/a.png", "HTTP://x/a.jpg", "s3://x/a.png", "file://host/a.png"):
        table = put("t.csv", f"id,file\n1,{address}\n")
        with pytest.raises(ValueError, match=r"view 'view' .* is on the network, and nothing is downloaded: save"):
            content(f"{table}:file", "images")
        assert not looks_like_images(np.array([address], dtype=object), table.parent)
    with pytest.raises(ValueError, match="images are one column of paths, not 2 columns"):
        content(put("t.csv", "id,a,b\n1,x.png,y.png\n"), "images")


def test_columns_that_look_like_images(photos):
    for cells, expected in (
        (["sky00.png", None, "leaf00.png"], True),
        (["sky00.png", "gone.png", "leaf00.png"], True),
        (["gone.png", "lost.png"], False),
        (["sky00.png", "a sentence"], False),
        ([None, None], False),
        ([{"sky00.png": 1}], False),
        (["x" * 5000 + ".png"], False),
    ):
        assert looks_like_images(np.array(cells, dtype=object), photos) is expected
    assert not looks_like_images(np.arange(3.0), photos)


def test_folder_with_captions_is_clustered_and_predicted(photos, tmp_path):
    names = sorted(path.name for path in photos.iterdir())
    captions = [(name, f"a picture of the {name[:3]} at noon") for name in names]
    captions = write_csv(tmp_path / "captions.csv", ["id", "caption"], captions)
    broken = Path(shutil.copytree(photos, tmp_path / "photos"))
    os.truncate(broken / "leaf05.png", 300)
    views = ["--view", f"photo={broken}", "--view", f"text={captions}:caption"]
    ran = run_successfully("cluster", *views, "-k", 3, "--out", tmp_path / "run", "--no-assess")
    assert f"note: 1 picture cannot be read, and counts as missing: {broken / 'leaf05.png'}: " in ran.err
    assert "photo-color: images (a folder of pictures), 100 columns, missing for 1" in ran.out
    labels = {row["id"]: int(row["cluster"]) for row in read_labels(tmp_path / "run")}
    assert list(labels) == names
    assert len({(name[:3], cluster) for name, cluster in labels.items()}) == 3
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert page.count('<img src="data:image/jpeg;base64,') >= 30
    assert 'alt="leaf05.png"' not in page
    new = tmp_path / "new"
    new.mkdir()
    for group, (name, color) in enumerate(COLORS.items()):
        paint(1000 + group, color, group * np.pi / 3).save(new / f"{name}.png")
    run_successfully("predict", tmp_path / "run", new, "--out", tmp_path / "new.csv")
    rows = read_labels(tmp_path / "new.csv")
    assert [row["id"] for row in rows] == ["leaf", "rose", "sky"]
    assert get_clusters(rows) == [labels["leaf00.png"], labels["rose00.png"], labels["sky00.png"]]
    run_successfully("report", tmp_path / "run", "--out", tmp_path / "again.html")
    Image.new("RGB", (9, 9)).save(broken / "rose00.png")
    ran = run_command("report", tmp_path / "run", "--out", tmp_path / "third.html")
    assert_refused(ran, "the files have changed since the model was fitted")


def test_thumbnail_is_a_small_jpeg_of_the_first_view_with_a_picture(photos, tmp_path):
    Image.new("RGB", (300, 100), "blue").save(tmp_path / "wide.png")
    (tmp_path / "small.jpg").write_bytes(draw_thumbnail(tmp_path / "wide.png"))
    with Image.open(tmp_path / "small.jpg") as small:
        assert (small.format, small.size) == ("JPEG", (64, 21))
    assert draw_thumbnail(tmp_path / "gone.png") is None
    front = np.array([None, tmp_path / "gone.png"], dtype=object)
    back = np.array([photos / "sky00.png", photos / "rose00.png"], dtype=object)
    find = find_thumbnails({"front": front, "back": back})
    assert [find(0), find(1)] == [draw_thumbnail(path) for path in back]
    assert find_thumbnails({}) is None


def test_column_of_addresses_or_paths_is_found_in_a_mixed_table_and_no_id(read, photos):
    files = sorted(photos.iterdir())
    rows = [(f"p{i}", i % 7 + 0.5, path.as_uri()) for i, path in enumerate(files)]
    table = write_csv(photos.parent / "mixed.csv", ["id", "price", "file"], rows)
    reading = read(table)
    kinds = {content.kind: content for content in reading.contents}
    assert set(kinds) == {"numbers", "images"}
    assert kinds["images"].data.paths.tolist() == files
    rows = [(path, i % 7 + 0.5) for i, path in enumerate(files)]
    table = write_csv(photos.parent / "paths.csv", ["path", "width"], rows)
    reading = read(table)
    assert reading.id_column is None
    assert {content.kind for content in reading.contents} == {"numbers", "images"}


def write_shop(folder, names, column="photo", name="shop.csv", **columns):
    rows = range(len(names))
    columns = {"sku": [f"A-{i:03}" for i in rows], "price": [i % 7 + 0.5 for i in rows], **columns, column: names}
    return write_csv(folder / name, list(columns), zip(*columns.values(), strict=True))


def find_folder(reading):
    return next(content for content in reading.contents if content.kind == "images")


def test_folder_is_joined_by_a_column_of_names(read, photos, tmp_path):
    stems = sorted(file.stem for file in photos.iterdir())[::-1]
    upper = ["{}", "img/2020/{}.png", "https://shop.example/img/{}.png?size=2"]
    for form in (*upper, "{}.png", "img\\{}.PNG", "/home/me/photos/{}.png", "PHOTOS/{}.Png"):
        table = write_shop(tmp_path, [form.format(stem.upper() if form in upper else stem) for stem in stems])
        reading = read(table, photos)
        content = find_folder(reading)
        assert content.ids.tolist() == [f"A-{i:03}" for i in range(len(stems))]
        assert [path.stem for path in content.data.paths] == stems
        assert f"The pictures of {photos} are joined by the column 'photo' of {table}." in reading.notes
        assert not any("left out 'photo'" in note for note in reading.notes)
        assert [content.name for content in reading.contents] == ["shop", "photos"]


def test_rows_may_share_or_lack_a_picture_and_pictures_a_row(read, photos, tmp_path):
    names = ["sky00.png", "sky00.png", "", "gone.png", "leaf03.png"]
    reading = read(write_shop(tmp_path, names), photos)
    pictures = find_folder(reading).data
    assert pictures.names.tolist() == ["sky00.png", "sky00.png", None, None, "leaf03.png"]
    (note,) = [note for note in reading.notes if "are joined by" in note]
    assert note.endswith("2 of 5 rows have no picture there. 34 of 36 pictures are left out: no row names them.")
    assert len(join_contents(reading.contents)) == 5
    rows = [(i % 7 + 0.5, "sky00.png") for i in range(20)]
    reading = read(write_csv(tmp_path / "t.csv", ["price", "photo"], rows), photos)  # by position
    assert find_folder(reading).ids is None
    assert len(join_contents(reading.contents)) == 20


def test_column_that_names_most_pictures_of_a_folder_is_used(read, photos, tmp_path):
    names = sorted(file.name for file in photos.iterdir())
    half = [name if i % 2 else "" for i, name in enumerate(names)]
    reading = read(write_shop(tmp_path, names, small=half), photos)
    assert find_folder(reading).data.names.tolist() == names
    assert any("by the column 'photo' of" in note and "not by 'small'" in note for note in reading.notes)
    back = Path(shutil.copytree(photos, tmp_path / "back"))
    reading = read(write_shop(tmp_path, names, "front", back=names[::-1]), photos, back)
    pictures = {content.name: content.data.names.tolist() for content in reading.contents if content.kind == "images"}
    assert pictures == {"photos": names, "back": names[::-1]}


def test_ids_that_name_the_pictures_count_more(read, photos, tmp_path):
    stems = sorted(file.stem for file in photos.iterdir())
    kinds = ["sky00", "rose00", "leaf00"] * 12  # which also name pictures
    rows = [(stem, i % 7 + 0.5, kind) for i, (stem, kind) in enumerate(zip(stems, kinds, strict=True))]
    reading = read(write_csv(tmp_path / "t.csv", ["id", "price", "kind"], rows[:30]), photos)
    content = find_folder(reading)
    assert content.ids.tolist() == stems  # pictures that no row names are kept
    assert "kind" in reading.contents[0].columns


def test_names_in_other_folders_are_other_pictures(read, put, tmp_path):
    nested = tmp_path / "all"
    for name in ("cats/1.png", "dogs/1.png", "cats/2.png"):
        put(f"all/{name}", "")
    names = ["dogs/1.png", "x/cats/1.png", "1.png", "birds/2.png", "2.png"]
    pictures = find_folder(read(write_shop(tmp_path, names), nested)).data
    assert pictures.names.tolist() == ["dogs/1.png", "cats/1.png", None, None, "cats/2.png"]


def test_folder_joined_by_a_column_is_clustered_predicted_and_updated(photos, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = sorted(file.name for file in photos.iterdir())
    size = {name: np.random.default_rng(i).normal(5 * "slr".index(name[0])) for i, name in enumerate(names)}
    write_shop(tmp_path, [f"img/{name}" for name in names], size=[size[name] for name in names])
    ran = run_successfully("cluster", "shop.csv", photos, "-k", 3, "--no-assess", "--out", "run")
    assert "photos-color: images (a folder of pictures), 100 columns, present for all" in ran.out
    rows = read_labels(tmp_path / "run")
    new = [name for name in names if name.startswith("rose")][:3]
    sizes = [*(size[name] for name in new), 0]
    write_shop(tmp_path, [*(f"img/{name}" for name in new), ""], name="new.csv", size=sizes)
    run_successfully("predict", "run", "new.csv", photos, "--out", "new-labels.csv")
    expected = rows[names.index(new[0])]["cluster"]
    assert get_clusters(read_labels(tmp_path / "new-labels.csv"))[:3] == [int(expected)] * 3
    ran = run_successfully("update", "run", "shop.csv", photos, "--out", "again")
    assert "are joined by the column 'photo' of shop.csv." in ran.err
    assert [row["cluster"] for row in read_labels(tmp_path / "again")] == [row["cluster"] for row in rows]
    frame = pd.read_csv("shop.csv")
    result = cs.cluster({"shop": frame, "photos": str(photos)}, n_clusters=3, assess=False)
    assert result.labels.tolist() == [int(row["cluster"]) for row in rows]
    assert result.predict({"shop": frame[:4], "photos": photos}).tolist() == result.labels[:4].tolist()
