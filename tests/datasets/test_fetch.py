"""Fetched data sets: where they are searched, messages if they are missing, and checks of their content."""

import hashlib
import io
import logging
import os
import sys
import tarfile
import tokenize
import zipfile
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import requests
import scipy.sparse as sp

from consilience.datasets import (
    FETCHERS,
    fetch_bbc,
    fetch_cluto,
    fetch_cora,
    fetch_digits_views,
    fetch_internet_ads,
    fetch_reuters,
    load_digits_views,
    load_word_senses,
    where,
)
from consilience.datasets.fetch import linqs, load
from consilience.datasets.fetch.archive import read_members
from consilience.datasets.fetch.load import load_remote
from consilience.datasets.fetch.registry import REMOTE_DATASETS
from consilience.datasets.fetch.remote import ExpectedSizes, make_unique

pooch = pytest.importorskip("pooch")
CONTENT = b"p1\t1\t0\tML\np2\t0\t1\tAI\np3\t1\t1\tML\n"
CITES = b"p1\tp2\np3\tp2\n"
SMALL = ExpectedSizes(3, (1, 2), {"text": 2, "inbound": 3})
CORA = replace(linqs.CORA, facts=SMALL, sha256=None)  # as if it had three papers
GIVEN = os.environ.get("CONSILIENCE_DATA", "")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty data folder and an empty cache, instead of those of the machine."""
    path = tmp_path / "given"
    path.mkdir()
    monkeypatch.setenv("CONSILIENCE_DATA", str(path))
    monkeypatch.setattr(pooch, "os_cache", lambda name: tmp_path / "cache" / name)
    return path


@pytest.fixture
def cache(folder):
    cache = folder.parent / "cache" / "consilience"
    cache.mkdir(parents=True)
    return cache


def tar(path, files, mode="w:gz"):
    with tarfile.open(path, mode) as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path


def cora(path):
    return tar(path, {"cora/README": b"", "cora/cora.content": CONTENT, "cora/cora.cites": CITES})


def lines(names):
    return np.frombuffer("\n".join(names).encode(), dtype=np.uint8)


def copy(path, **changed):
    """A converted copy of four entities with a sparse and a dense view."""
    X = sp.csr_array([[0, 2, 0], [0, 0, 0], [1, 0, 3], [0, 0, 0]])
    arrays = {
        "labels": np.array([1, 0, 1, 0], dtype=np.int32),
        "class_names": np.array(["a", "b"]),
        "view_names": np.array(["words", "sizes"]),
        "words__data": X.data.astype(np.uint8),
        "words__indices": X.indices.astype(np.uint16),
        "words__indptr": X.indptr.astype(np.int32),
        "words__shape": np.array(X.shape),
        "words__features": lines(["x", "ŷ", "z"]),
        "sizes__dense": np.array([[1, 2], [3, 4], [5, np.nan], [np.nan, np.nan]], dtype=np.float32),
        "sample_ids": lines(["http://e/1", "http://e/2", "http://e/2", "http://e/3"]),
        "extra_split": np.zeros(4),
    } | changed
    np.savez(path, **{name: array for name, array in arrays.items() if array is not None})
    return path


def test_converted_copy_is_read(folder):
    copy(folder / "cora.npz")
    data = fetch_cora()
    views, y = data
    assert views.names == ("words", "sizes")
    assert views["words"].toarray().tolist() == [[0, 2, 0], [0, 0, 0], [1, 0, 3], [0, 0, 0]]
    assert views["words"].dtype == np.int64
    assert isinstance(views["words"], sp.csr_array)
    assert views["sizes"].dtype == np.float64
    assert views.feature_names("words").tolist() == ["x", "ŷ", "z"]
    assert views.feature_names("sizes") is None
    assert views.ids.tolist() == ["http://e/1", "http://e/2", "http://e/2 (2)", "http://e/3"]
    # empty rows and unknown sizes are missing views; an entity without any data keeps its empty row
    assert views.present.tolist() == [[True, True], [False, True], [True, False], [True, False]]
    assert y.tolist() == [1, 0, 1, 0]
    assert data.target_names == ("a", "b")
    assert data.source == "https://linqs-data.soe.ucsc.edu/public/lbc/cora.tgz (converted copy cora.npz)"


FLAWS = {
    "no labels": ({"labels": None}, "labels is not a file in the archive"),
    "labels between": ({"labels": np.array([0, 1, 0.5, 0])}, "labels hold 0.5, which is not a whole number"),
    "no such class": ({"labels": np.array([0, 1, 2, 0])}, "its labels are not numbers of its 2 classes"),
    "no entity": ({"labels": np.array([], dtype=int)}, "it has 0 entities in 2 views"),
    "no view": ({"view_names": np.array([], dtype=str)}, "it has 4 entities in 0 views"),
    "a path": ({"view_names": np.array(["../../x"])}, r"a view is called '\.\./\.\./x': names have letters"),
    "a format": ({"view_names": np.array(["{1}"])}, r"a view is called '\{1\}'"),
    "too few ids": ({"sample_ids": lines(["a", "b"])}, "view 'words' has 2 ids, not 4"),
    "ids as text": ({"sample_ids": np.array(["a", "b", "c", "d"])}, "names are bytes of UTF-8, not <U1"),
    "too few names": ({"words__features": lines(["x"])}, "view 'words' has 1 names of columns, not 3"),
    "too few rows": ({"sizes__dense": np.zeros((3, 2))}, r"view 'sizes' has shape \(3, 2\) for 4 entities"),
    "endless": ({"sizes__dense": np.full((4, 2), np.inf)}, "view 'sizes' holds numbers that are not finite"),
    "complex": ({"sizes__dense": np.ones((4, 2), dtype=complex)}, "complex128 are not real numbers"),
    "unknown counts": ({"words__data": np.array([1, np.nan, 1])}, "view 'words' holds numbers that are not finite"),
    "negative counts": ({"words__data": np.array([1, -1, 1])}, "view 'words' holds negative counts"),
    "no such column": ({"words__indices": np.array([9, 0, 2], dtype=np.uint16)}, "indices must be < 3"),
    "half a column": ({"words__indices": np.array([1, 0.5, 2])}, "words__indices hold 0.5"),
    "a column that wraps": ({"words__indices": np.array([1, 2**32, 2])}, "words__indices hold 4294967296"),
    "absurdly wide": ({"words__shape": np.array([4, 10**12])}, "words__shape hold 1000000000000"),
    "Python objects": ({"class_names": np.array(["a", "b"], dtype=object)}, "it holds Python objects"),
}


@pytest.mark.parametrize(("changed", "reason"), FLAWS.values(), ids=FLAWS)
def test_invalid_copy_is_refused(folder, changed, reason):
    copy(folder / "cora.npz", **changed)
    expected = rf"cora\.npz is not a readable converted copy \(.*{reason}.*\): see docs/data\.md"
    with pytest.raises(ValueError, match=expected):
        fetch_cora()


@pytest.mark.parametrize("error", [zlib.error("x"), tokenize.TokenError("x"), MemoryError()])
def test_any_error_in_copy_names_it(folder, monkeypatch, error):
    def load(*args, **kwargs):
        raise error

    copy(folder / "cora.npz")
    monkeypatch.setattr(np, "load", load)
    with pytest.raises(ValueError, match=r"cora\.npz is not a readable converted copy \((x|MemoryError)\): see"):
        fetch_cora()


def test_other_file_is_refused_as_copy(folder):
    (folder / "cora.npz").write_bytes(b"hello")
    with pytest.raises(ValueError, match=r"cora\.npz is not a readable converted copy \(File is not a zip file\)"):
        fetch_cora()


def test_copy_that_claims_to_be_huge_is_not_read(folder, tune):
    copy(folder / "cora.npz")
    tune("datasets.fetch.archive", max_member_bytes=100)
    with pytest.raises(ValueError, match=r"it claims to hold [\d,]+ bytes, more than a data set does"):
        fetch_cora()


@pytest.mark.parametrize("name", ["cora.npz", "cora.tgz"])
def test_unreadable_file_is_not_called_damaged(folder, monkeypatch, name):
    (copy if name == "cora.npz" else cora)(folder / name)

    def refuse(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("consilience.datasets.fetch.archive.zipfile.ZipFile", refuse)
    monkeypatch.setattr("consilience.datasets.fetch.archive.tarfile.open", refuse)
    with pytest.raises(PermissionError, match=rf"cora: .*{name} cannot be read: change the permissions"):
        load_remote(CORA)


def test_repeated_names_become_unique():
    for ids in (["a", "a", "a (2)"], ["a (2)", "a", "a"], ["a", "a", "a"]):
        assert len(set(make_unique(list(ids)).tolist())) == 3


def test_views_of_copy_are_renamed_and_missing_views_described(folder):
    names = ["alt111", "ancurl472", "url457"]
    arrays = {f"{name}__dense": np.full((4, 1), float(i)) for i, name in enumerate(names)}
    copy(folder / "ads_3view.npz", view_names=np.array(names), **arrays)
    data = fetch_internet_ads()
    assert data.views.names == ("url", "ancurl", "alt")
    assert data.views["alt"][0, 0] == 0
    assert "three of the six views: geometry, origurl and caption are not in it" in data.description


@pytest.mark.parametrize("place_of", ["folder", "cache"])
def test_original_archive_is_read_from_folder_or_cache(place_of, request):
    path = cora(request.getfixturevalue(place_of) / "cora.tgz")
    right = replace(CORA, sha256=hashlib.sha256(path.read_bytes()).hexdigest())
    data = load_remote(right)
    assert data.views["text"].toarray().tolist() == [[1, 0], [0, 1], [1, 1]]
    assert data.views["inbound"].toarray().tolist() == [[0, 1, 0], [0, 0, 0], [0, 1, 0]]
    assert data.target_names == ("AI", "ML")
    assert data.source == "https://linqs-data.soe.ucsc.edu/public/lbc/cora.tgz"
    assert where("cora") == ("in CONSILIENCE_DATA" if place_of == "folder" else "in the cache")
    path.write_bytes(path.read_bytes() + b"\0")
    with pytest.raises(ValueError, match=r"cora\.tgz is not that of cora: it is damaged"):
        load_remote(right)


def test_members_may_be_single_files(folder):
    (folder / "cora.content").write_bytes(CONTENT)
    assert where("cora").startswith("to be downloaded")  # because one of two files is missing
    (folder / "cora.cites").write_bytes(CITES)
    assert len(load_remote(CORA).views) == 3


def test_copy_precedes_original_and_folder_precedes_cache(folder, cache):
    cora(cache / "cora.tgz")
    cora(folder / "cora.tgz")
    assert load.find_files(CORA).paths[0].parent == folder
    copy(folder / "cora.npz")
    assert load.find_files(CORA).kind == "copy"


def test_missing_data_set_is_downloaded_once_and_readable_for_all(cache, monkeypatch):
    calls = []

    def retrieve(url, checksum, *, fname, path, downloader):
        calls.append((url, checksum, downloader.kwargs))
        assert pooch.get_logger().level == logging.WARNING
        made = cora(Path(path) / fname)
        made.chmod(0o600)
        return str(made)

    monkeypatch.setattr(pooch, "retrieve", retrieve)
    level, mask = pooch.get_logger().level, os.umask(0o027)
    try:
        first, again = load_remote(CORA), load_remote(CORA)
    finally:
        os.umask(mask)
    assert calls == [("https://linqs-data.soe.ucsc.edu/public/lbc/cora.tgz", None, {"timeout": 10})]
    assert pooch.get_logger().level == level
    assert first.target.tolist() == again.target.tolist()
    assert (cache / "cora.tgz").stat().st_mode & 0o777 == 0o640


def answer_with(code):
    answer = requests.Response()
    answer.status_code = code
    return requests.exceptions.HTTPError(f"{code} Client Error", response=answer)


@pytest.mark.parametrize(
    ("error", "expected", "message"),
    [
        (requests.exceptions.ConnectionError("pools"), ConnectionError, r"https://.* \(no connection\): put"),
        (answer_with(404), ConnectionError, r"cora is not on this machine .* \(it answers 404\)"),
        (PermissionError("not created"), OSError, r"cora cannot be stored: the cache .* cannot be written \("),
        (ValueError("SHA256 hash"), ValueError, r"the checksum of what https://.*cora\.tgz sends is not that of cora"),
    ],
)
def test_failed_download_is_explained(folder, monkeypatch, error, expected, message):
    def retrieve(url, checksum, **kwargs):
        assert checksum.removeprefix("sha256:") == REMOTE_DATASETS["cora"].sha256
        raise error

    monkeypatch.setattr(pooch, "retrieve", retrieve)
    with pytest.raises(expected, match=message):
        fetch_cora()


def test_every_fetcher_loads_its_own_data_set(folder, monkeypatch):
    def retrieve(*args, **kwargs):
        raise requests.exceptions.ConnectionError

    monkeypatch.setattr(pooch, "retrieve", retrieve)
    for name, fetch in FETCHERS.items():
        with pytest.raises((ConnectionError, FileNotFoundError), match=f"^{name} (is not on|has to be downloaded)"):
            fetch()


def test_message_without_pooch_names_installation(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(ImportError, match=r"downloading cora needs pooch: pip install 'consilience\[fetch\]', or put"):
        fetch_cora()
    assert where("cora").startswith("to be downloaded (https://")


def test_manual_download_is_explained(folder):
    expected = r"bbc has to be downloaded by hand: see http://mlg.*, put bbc_seg1of4\.mtx, .*bbc\.clist into a folder"
    with pytest.raises(FileNotFoundError, match=expected):
        fetch_bbc()
    assert where("bbc") == "to be downloaded by hand (http://mlg.ucd.ie/datasets/segment.html)"


def test_missing_data_folder_is_refused(monkeypatch, tmp_path):
    monkeypatch.setenv("CONSILIENCE_DATA", str(tmp_path / "gone"))
    with pytest.raises(NotADirectoryError, match=r"CONSILIENCE_DATA is set to '.*gone', which is not a folder"):
        where("cora")


def test_unreadable_folder_is_refused(folder, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    message = "the files in CONSILIENCE_DATA cannot be read: change the permissions of"
    with pytest.raises(PermissionError, match=message):
        where("cora")


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        (replace(SMALL, n=2708), r"has 3 entities, not 2708"),
        (replace(SMALL, sizes=(0, 3)), r"has \[1, 2\] entities in its classes, not \[0, 3\]"),
        (replace(SMALL, columns={"text": 1433}), "has 2 columns in view 'text', not 1433"),
    ],
)
def test_changed_published_file_is_refused(folder, facts, message):
    cora(folder / "cora.tgz")
    with pytest.raises(ValueError, match=f"cora from https://.* is not what it was: .*cora\\.tgz {message}.* the"):
        load_remote(replace(CORA, facts=facts))


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"cora.content": b"p1 one ML\n", "cora.cites": CITES}, r"^cora: .*cora\.tgz is not in the format of"),
        ({"cora.content": b"", "cora.cites": CITES}, r"cora\.tgz is not in the format of .* \(it has 0 entities in 3"),
        ({"cora/cora.content": CONTENT}, r"cora\.tgz does not hold cora\.cites: it is another file, or the published"),
    ],
)
def test_archive_of_other_content_is_refused(folder, files, message):
    tar(folder / "cora.tgz", files)
    with pytest.raises(ValueError, match=message):
        load_remote(CORA)


def test_damaged_archive_is_refused(folder):
    whole = cora(folder / "cora.tgz").read_bytes()
    for content in (b"", b"hello", b"\x1f\x8b\x08\x00broken", b"PK\x03\x04broken", whole[: len(whole) // 2]):
        (folder / "cora.tgz").write_bytes(content)
        with pytest.raises(ValueError, match=r"cora\.tgz is not a readable archive \(.*\): delete it and get it again"):
            load_remote(CORA)


@pytest.mark.parametrize("mode", ["w:gz", "w:bz2", "w:xz"])
def test_streams_are_read_to_their_checksum(tmp_path, mode):
    path = tar(tmp_path / "a.tar", {"a": b"content"}, mode)
    assert read_members(path) == {"a": b"content"}
    whole = path.read_bytes()
    for damaged in (whole[:-4], whole[:-8] + bytes([whole[-8] ^ 1]) + whole[-7:]):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"a\.tar is not a readable archive"):
            read_members(path)


@pytest.mark.parametrize("kind", [tarfile.GNUTYPE_LONGNAME, tarfile.XHDTYPE, b"Z"])
def test_huge_declared_sizes_are_refused(tmp_path, kind):
    info = tarfile.TarInfo("a")
    info.type, info.size = kind, 2**33 - 1
    (tmp_path / "a.tar").write_bytes(info.tobuf(tarfile.GNU_FORMAT) + bytes(10_240))
    message = r"a\.tar is not a readable archive \(it declares more than a data set holds\)"
    with pytest.raises(ValueError, match=message):
        read_members(tmp_path / "a.tar")


def test_damaged_single_files_are_all_named(folder):
    (folder / "cora.content").write_bytes(CONTENT)
    (folder / "cora.cites").write_bytes(b"p1\n")
    with pytest.raises(ValueError, match=r"cora: cora\.content, cora\.cites in .*given is not in the format of"):
        load_remote(CORA)


def test_any_error_in_parser_names_file(folder):
    def parse(files):
        raise MemoryError

    cora(folder / "cora.tgz")
    with pytest.raises(ValueError, match=r"cora: .*cora\.tgz is not in the format of .* \(MemoryError\)"):
        load_remote(replace(CORA, parse=parse))


def test_hostile_archive_writes_nothing(folder):
    path = folder / "cora.tgz"
    with tarfile.open(path, "w:gz") as archive:
        link = tarfile.TarInfo("cora/cora.cites")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
        for name, content in (("../../cora.content", CONTENT), ("/cora.cites", CITES), ("../evil", b"x")):
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    before = sorted(folder.parent.rglob("*"))
    assert len(load_remote(CORA).views) == 3  # the members are read in any folder, and the link is skipped
    assert sorted(folder.parent.rglob("*")) == before


def test_archives_that_claim_to_be_huge_are_not_read(tmp_path, tune):
    tune("datasets.fetch.archive", max_member_bytes=100)
    path = tar(tmp_path / "a.tgz", {"small": b"x", "large": bytes(1000)})
    assert read_members(path, ("small",)) == {"small": b"x"}
    with pytest.raises(ValueError, match=r"a\.tgz claims to hold more than a data set does \(large\): it is not read"):
        read_members(path, ("large",))
    tune("datasets.fetch.archive", max_archive_bytes=500)
    with pytest.raises(ValueError, match=r"a\.tgz claims to hold more than a data set does \(large\)"):
        read_members(path, ("small",))


def test_nested_archives_and_macos_files(tmp_path):
    inner = tar(tmp_path / "inner.tar.bz2", {"d/._file": b"mac", "d/file": b"content"}, "w:bz2")
    with zipfile.ZipFile(tmp_path / "outer.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("README", "hello")
        archive.write(inner, "folder/inner.tar.bz2")
    assert read_members(tmp_path / "outer.zip", ("file",), "inner.tar.bz2") == {"file": b"content"}
    assert read_members(inner) == {"d/file": b"content"}
    assert list(read_members(tmp_path / "outer.zip")) == ["README", "folder/inner.tar.bz2"]


@pytest.mark.parametrize(
    ("fetch", "message"),
    [
        (lambda: fetch_bbc(3), "n_segments=3 must be one of 2, 4"),
        (lambda: fetch_internet_ads("half"), "version='half' must be one of 'full', '998'"),
        (lambda: fetch_reuters(100), "n_samples=100 must be a multiple of 6, for the six classes"),
        (lambda: fetch_cluto("re1"), "there is no collection 're1': choose from 're0', 'fbis'"),
        (lambda: where("iris"), "there is no data set 'iris' to fetch: choose from digits, letters"),
    ],
)
def test_unknown_names_are_refused(folder, fetch, message):
    with pytest.raises(ValueError, match=message):
        fetch()


def test_card_describes_data_set(folder):
    copy(folder / "cora.npz")
    card = fetch_cora().card.splitlines()
    assert card[0] == "# cora"
    assert "4 entities, 2 classes." in card
    assert "| words | 3 | 1 |" in card
    assert "| sizes | 2 | 2 |" in card
    assert "- Classes: a (2), b (2)" in card
    for what in ("Citation: P. Sen", "License: ", "Source: https://linqs"):
        assert any(line.startswith(f"- {what}") for line in card)


@pytest.mark.parametrize("load", [load_digits_views, load_word_senses])
def test_shipped_data_sets_have_card_with_source(load):
    data = load()
    assert data.source.startswith("https://")
    assert f"- Source: {data.source}" in data.card


# content of the converted copies: entities, columns of each view, entities that lack it, entities per class
COPIES = {
    "digits": (2000, (76, 216, 64, 240, 47, 6), (0,) * 6, (200,) * 10),
    "letters": (20000, (16,), (0,), REMOTE_DATASETS["letters"].facts.sizes),
    "pendigits": (10992, (16,), (0,), REMOTE_DATASETS["pendigits"].facts.sizes),
    "internet-ads": (3279, (457, 472, 111), (237, 690, 1843), (2820, 459)),
    "internet-ads-998": (998, (4, 457, 495, 472, 111, 19), (250, 135, 283, 243, 522, 906), (539, 459)),
    "bbc": (685, (4659, 4633, 4665, 4684), (0,) * 4, (134, 82, 226, 70, 173)),
    "bbc-2": (2012, (6919, 6965), (0, 0), (482, 359, 401, 370, 400)),
    "bbcsport": (544, (3183, 3203), (0, 0), (62, 104, 193, 124, 61)),
    "reuters": (1200, (2000,) * 5, (0, 0, 0, 1, 0), (200,) * 6),
    "reuters-600": (600, (21531, 24893, 34279, 15506, 11547), (0,) * 5, (100,) * 6),
    "webkb": (4518, (13992, 3347, 3873, 5067), (0, 2105, 2048, 1342), (930, 182, 1124, 504, 137, 1641)),
    "webkb-linqs": (877, (1703, 877, 877), (0, 323, 142), (218, 125, 80, 39, 415)),
    "cora": (2708, (1433, 2708, 2708), (0, 1143, 486), (298, 418, 818, 426, 217, 180, 351)),
    "citeseer": (3312, (3703, 3312, 3312), (0, 1361, 999), (249, 596, 701, 508, 668, 590)),
    "newsgroups": (18846, (29822, 5592), (37, 139), REMOTE_DATASETS["newsgroups"].facts.sizes),
    "cluto-re0": (1504, (2886,), (0,), REMOTE_DATASETS["cluto-re0"].facts.sizes),
    "cluto-fbis": (2463, (2000,), (0,), REMOTE_DATASETS["cluto-fbis"].facts.sizes),
    "cluto-la1": (3204, (29714,), (0,), REMOTE_DATASETS["cluto-la1"].facts.sizes),
    "cluto-hitech": (2301, (22498,), (0,), REMOTE_DATASETS["cluto-hitech"].facts.sizes),
    "cluto-tr11": (414, (6429,), (0,), REMOTE_DATASETS["cluto-tr11"].facts.sizes),
    "cluto-wap": (1560, (8460,), (0,), REMOTE_DATASETS["cluto-wap"].facts.sizes),
}


def test_where_describes_all_data_sets():
    assert list(COPIES) == list(FETCHERS)


def test_converted_copies_match_their_cards():
    copies = {name: REMOTE_DATASETS[name].copy for name in FETCHERS}
    converted = [name for name, file in copies.items() if GIVEN and (Path(GIVEN) / f"{file}.npz").is_file()]
    if not converted:
        pytest.skip("CONSILIENCE_DATA holds no converted copies")
    for name in converted:
        data = FETCHERS[name]()
        n, columns, lacking, sizes = COPIES[name]
        views, y = data
        assert len(views) == n, name
        assert tuple(block.shape[1] for _, block in views.items()) == columns, name
        assert tuple((~views.present).sum(axis=0).tolist()) == lacking, name
        assert views.present.any(axis=1).all(), name
        assert tuple(np.bincount(y).tolist()) == sizes, name
        assert len(data.target_names) == len(sizes), name
        assert where(name) == "in CONSILIENCE_DATA"


def test_certain_languages_are_named_in_copy_of_reuters():
    if not (GIVEN and (Path(GIVEN) / "reuters_1200.npz").is_file()):
        pytest.skip("CONSILIENCE_DATA does not hold reuters_1200.npz")
    data = fetch_reuters()
    assert data.views.names == ("EN", "FR", "GR", "view4", "view5")
    assert "which of view4 and view5 is Italian" in data.description


def test_unrounded_digits_match_shipped_digits():
    if not (GIVEN and (Path(GIVEN) / "mfeat.npz").is_file()):
        pytest.skip("CONSILIENCE_DATA does not hold mfeat.npz")
    (full, y), (rounded, y_rounded) = fetch_digits_views(), load_digits_views()
    assert np.array_equal(y, y_rounded)
    for name, block in rounded.items():
        np.testing.assert_allclose(full[name], block, rtol=6e-5, atol=1e-7)
