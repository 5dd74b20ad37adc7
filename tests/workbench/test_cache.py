"""Clusterings on disk: they are read as they were stored, or not at all."""

import errno
import json
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest

from consilience.workbench.cache import FOLDER, ClusteringCache, StoredClustering, compute_key

LABELS = np.array([0, 2, -1, 1, 0])
INTEGERS = LABELS.astype(np.int32)  # as they are stored
EFFECTS = ("“a” and “b” were merged.", "")
WITHOUT_EFFECT = (2, 5)
MERGE = {"number": 1, "action": "merge", "groups": [0, 1]}
APART = {"number": 2, "action": "apart", "items": ["a"], "others": ["b"]}


@pytest.fixture
def stored(tmp_path):
    """The file of a stored clustering with the key "key"."""
    ClusteringCache(tmp_path).put("key", StoredClustering(LABELS, EFFECTS, WITHOUT_EFFECT))
    return tmp_path / FOLDER / "key.npz"


def write_archive(path, **arrays):
    with path.open("wb") as file:
        np.savez_compressed(file, **arrays)


def list_files(folder):
    return sorted(path.name for path in (folder / FOLDER).iterdir())


# keys


def test_key_depends_on_run_and_on_all_decisions_in_their_order():
    keys = {
        compute_key("run", []),
        compute_key("other", []),
        compute_key("run", [MERGE]),
        compute_key("run", [MERGE, APART]),
        compute_key("run", [APART, MERGE]),
        compute_key("run", [{**MERGE, "groups": [0, 2]}]),
        compute_key("run", [{**MERGE, "number": 2}]),
    }
    assert len(keys) == 7
    assert all(key.isalnum() for key in keys)
    assert compute_key("run", [{**MERGE, "check": "00000000"}]) in keys  # stored checksums do not matter


# storing


def test_stored_clustering_is_read_by_new_cache_and_replaced(stored, tmp_path):
    labels, effects, without_effect = ClusteringCache(tmp_path).get("key", len(LABELS))
    np.testing.assert_array_equal(labels, LABELS)
    assert labels.dtype == np.int64
    assert (effects, without_effect) == (EFFECTS, WITHOUT_EFFECT)
    assert list_files(tmp_path) == ["key.npz"]
    with zipfile.ZipFile(stored) as archive:
        sizes = {name: archive.getinfo(name).file_size for name in archive.namelist()}
    assert sorted(sizes) == ["effects.npy", "labels.npy", "without_effect.npy"]
    assert max(sizes.values()) < 1000
    ClusteringCache(tmp_path).put("key", StoredClustering(LABELS[::-1], (), ()))
    clusterings = ClusteringCache(tmp_path)
    first = clusterings.get("key", len(LABELS))
    np.testing.assert_array_equal(first[0], LABELS[::-1])
    assert first[1:] == ((), ())
    stored.unlink()
    assert clusterings.get("key", 5)[0] is first[0]  # it is read once


def test_missing_key_gives_none_and_creates_no_folder(stored, tmp_path):
    assert ClusteringCache(tmp_path).get("other", len(LABELS)) is None
    assert ClusteringCache(tmp_path / "missing").get("key", len(LABELS)) is None
    assert not (tmp_path / "missing").exists()


def test_cache_without_folder_stores_in_memory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    clusterings = ClusteringCache(None)
    assert clusterings.get("key", 5) is None
    clusterings.put("key", StoredClustering(LABELS, EFFECTS, WITHOUT_EFFECT))
    labels, effects, without_effect = clusterings.get("key", 5)
    np.testing.assert_array_equal(labels, LABELS)
    assert (effects, without_effect) == (EFFECTS, WITHOUT_EFFECT)
    assert list(tmp_path.iterdir()) == []


# damaged files


def test_file_cut_anywhere_gives_none(stored, tmp_path):
    content = stored.read_bytes()
    for end in range(0, len(content), 7):
        stored.write_bytes(content[:end])
        assert ClusteringCache(tmp_path).get("key", 5) is None


def test_file_with_changed_byte_gives_stored_clustering_or_none(stored, tmp_path):
    content = stored.read_bytes()
    n_none = 0
    for position in range(0, len(content), 3):
        changed = bytearray(content)
        changed[position] ^= 0xFF
        stored.write_bytes(changed)
        clustering = ClusteringCache(tmp_path).get("key", 5)
        n_none += clustering is None
        if clustering is not None:
            np.testing.assert_array_equal(clustering[0], LABELS)
            assert clustering[1] == EFFECTS
    assert n_none > 0


def test_other_file_gives_none_and_is_replaced(stored, tmp_path):
    for content in (b"", b"no archive", b"PK\x03\x04", b"\x80\x04K\x01.", b"\x93NUMPY\x01\x00"):
        stored.write_bytes(content)
        assert ClusteringCache(tmp_path).get("key", 5) is None
    ClusteringCache(tmp_path).put("key", StoredClustering(LABELS, EFFECTS, WITHOUT_EFFECT))
    np.testing.assert_array_equal(ClusteringCache(tmp_path).get("key", 5)[0], LABELS)


EFFECTS_TEXT = json.dumps(EFFECTS)


def test_archive_of_other_content_gives_none(stored, tmp_path):
    valid = {"labels": INTEGERS, "effects": EFFECTS_TEXT, "without_effect": "[2, 5]"}
    write_archive(stored, **valid)
    assert ClusteringCache(tmp_path).get("key", 5)[1:] == (EFFECTS, WITHOUT_EFFECT)
    for arrays in [
        {"labels": None},
        {"effects": None},
        {"without_effect": None},
        {"labels": INTEGERS[:4]},
        {"labels": INTEGERS[:, None]},
        {"labels": np.int32(3)},
        {"labels": LABELS.astype(float)},
        {"labels": LABELS},
        {"labels": LABELS.astype(str)},
        {"labels": INTEGERS - 1},
        {"effects": "no JSON"},
        {"effects": '{"a": 1}'},
        {"effects": "[1, null]"},
        {"effects": "[" * 100_000},
        {"without_effect": "no JSON"},
        {"without_effect": "3"},
        {"without_effect": '["3"]'},
    ]:
        write_archive(stored, **{name: array for name, array in {**valid, **arrays}.items() if array is not None})
        assert ClusteringCache(tmp_path).get("key", 5) is None, arrays


def test_pickled_objects_are_not_loaded(stored, tmp_path):
    class Harmful:
        def __reduce__(self):
            return (os.mkdir, (str(tmp_path / "harm"),))

    effects = np.array([Harmful()], dtype=object)
    write_archive(stored, labels=INTEGERS, effects=effects, without_effect="[]")
    assert ClusteringCache(tmp_path).get("key", 5) is None
    assert not (tmp_path / "harm").exists()


# full disks and folders that cannot be written


def assert_stored_in_memory_only(tmp_path):
    clusterings = ClusteringCache(tmp_path)
    clusterings.put("new", StoredClustering(LABELS, EFFECTS, WITHOUT_EFFECT))
    np.testing.assert_array_equal(clusterings.get("new", 5)[0], LABELS)
    assert ClusteringCache(tmp_path).get("new", 5) is None


def test_full_disk_stores_in_memory_only(stored, tmp_path, monkeypatch):
    def write_a_part(path, content):
        with path.open("wb") as file:
            file.write(content[:10])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", write_a_part)
    assert_stored_in_memory_only(tmp_path)
    assert list_files(tmp_path) == ["key.npz"]


@pytest.mark.parametrize("name", ["replace", "mkdir"])
def test_folder_without_write_permission_stores_in_memory_only(tmp_path, monkeypatch, name):
    def refuse(*_):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, name, refuse)
    assert_stored_in_memory_only(tmp_path)
    assert list(tmp_path.rglob("*.*")) in ([], [tmp_path / FOLDER])


def test_file_in_place_of_folder_stores_in_memory_only(tmp_path):
    (tmp_path / FOLDER).write_text("a file")
    assert_stored_in_memory_only(tmp_path)
    assert (tmp_path / FOLDER).read_text() == "a file"


def test_deleted_folder_is_created_again(stored, tmp_path):
    clusterings = ClusteringCache(tmp_path)
    stored.unlink()
    stored.parent.rmdir()
    clusterings.put("new", StoredClustering(LABELS, EFFECTS, WITHOUT_EFFECT))
    assert list_files(tmp_path) == ["new.npz"]


# how much is stored


def test_oldest_files_and_unfinished_files_are_removed(tmp_path, tune):
    tune("workbench.cache", max_files=3)
    clusterings = ClusteringCache(tmp_path)
    for age in range(5):
        clusterings.put(f"key{age}", StoredClustering(LABELS, EFFECTS, WITHOUT_EFFECT))
        os.utime(tmp_path / FOLDER / f"key{age}.npz", (age, age))
        (tmp_path / FOLDER / "killed.1.tmp").write_bytes(b"unfinished")
    clusterings.put("last", StoredClustering(LABELS, EFFECTS, WITHOUT_EFFECT))
    assert list_files(tmp_path) == ["key3.npz", "key4.npz", "last.npz"]


def test_memory_forgets_oldest_clusterings(tune):
    tune("workbench.cache", max_memory=3)
    clusterings = ClusteringCache(None)
    for number in range(5):
        clusterings.put(f"key{number}", StoredClustering(LABELS, EFFECTS, WITHOUT_EFFECT))
    stored = [number for number in range(5) if clusterings.get(f"key{number}", 5) is not None]
    assert stored == [2, 3, 4]
