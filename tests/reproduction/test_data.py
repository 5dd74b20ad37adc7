"""Data of the papers: had, or not, with a reason."""

import pytest

from reproduction.data import compute_tf_idf, find_unavailable, load_dataset


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("CONSILIENCE_DATA", str(tmp_path))
    load_dataset.cache_clear()
    yield tmp_path
    load_dataset.cache_clear()


def test_damaged_file_is_reported(folder):
    (folder / "cora.npz").write_bytes(b"junk")
    reasons = find_unavailable(["cora", "word-senses"])
    assert list(reasons) == ["cora"]
    assert "cora.npz" in reasons["cora"]


def test_missing_file_is_reported(folder, monkeypatch):
    pooch = pytest.importorskip("pooch")

    def nothing(*_, **__):
        raise ConnectionError("no network")

    monkeypatch.setattr(pooch, "retrieve", nothing)
    monkeypatch.setattr(pooch, "os_cache", lambda name: folder / name)
    reasons = find_unavailable(["citeseer"])
    assert "set CONSILIENCE_DATA" in reasons["citeseer"]


def test_tf_idf_rows_have_unit_length_or_are_empty():
    weights = compute_tf_idf([[1, 2, 0], [0, 0, 0], [0, 1, 3]]).toarray()
    assert (weights**2).sum(axis=1) == pytest.approx([1, 0, 1])
