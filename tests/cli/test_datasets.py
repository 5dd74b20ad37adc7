"""`consilience datasets`: what ships, as files that the other commands take."""

import io
import json
import shlex
import tarfile
from dataclasses import replace

import numpy as np
import pytest

from consilience.datasets import FETCHERS
from consilience.datasets.fetch import linqs
from consilience.datasets.fetch.registry import REMOTE_DATASETS
from consilience.datasets.fetch.remote import ExpectedSizes
from stage import assert_refused, list_folder, read_labels, run_command, run_successfully

pytestmark = pytest.mark.quick


@pytest.fixture
def small_cora(tmp_path, monkeypatch):
    """Cora as if it had sixty papers in three groups that share words and cite each other, in its own format."""
    rng, kinds = np.random.default_rng(0), np.repeat([0, 1, 2], 20)
    words = (rng.random((60, 30)) < 0.05 + 0.4 * (np.arange(30) // 10 == kinds[:, None])).astype(int)
    words[:, 0] |= words.sum(axis=1) == 0
    papers = [f"p{i} {' '.join(map(str, words[i]))} {'xyz'[kinds[i]]}" for i in range(60)]
    cites = [f"p{i} p{20 * kinds[i] + j}" for i in range(45) for j in rng.permutation(20)[:4]]
    (tmp_path / "given").mkdir()
    with tarfile.open(tmp_path / "given" / "cora.tgz", "w:gz") as archive:
        for name, lines in (("cora.content", papers), ("cora.cites", cites)):
            content = "\n".join(lines).encode()
            info = tarfile.TarInfo(f"cora/{name}")
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    monkeypatch.setenv("CONSILIENCE_DATA", str(tmp_path / "given"))
    small = replace(linqs.CORA, facts=ExpectedSizes(60, (20,) * 3, {"text": 30}), sha256=None)
    monkeypatch.setitem(REMOTE_DATASETS, "cora", small)
    return words


def test_list_has_included_and_remote_data_sets(small_cora):
    ran = run_successfully("datasets")
    assert [line.split()[0] for line in ran.out.splitlines()[:2]] == ["word-senses", "digits"]
    lines = ran.out.splitlines()
    for name in set(FETCHERS) - {"digits"}:
        at = next(i for i, line in enumerate(lines) if line.startswith(f"{name} "))
        place = lines[at + 1].strip()
        assert place == "in CONSILIENCE_DATA" if name == "cora" else place.startswith(("to be downloaded", "in the"))
    assert ran.err == ""


def test_fetched_data_set_can_be_clustered(small_cora, tmp_path):
    out = tmp_path / "two words"
    told = run_successfully("datasets", "cora", "--out", out).out
    assert list_folder(out) == ["card.md", "classes.csv", "inbound.npz", "outbound.npz", "text.npz"]
    assert (out / "card.md").read_text(encoding="utf-8").startswith("# cora")
    rows = read_labels(out / "classes.csv")
    assert rows[59] == {"id": "p59", "class": "z"}
    with np.load(out / "inbound.npz", allow_pickle=False) as arrays:  # no other paper cites the last fifteen
        assert arrays["ids"].tolist() == [f"p{i}" for i in range(45)]
        assert arrays["features"].tolist() == [f"p{i}" for i in range(60)]
        assert arrays["shape"].tolist() == [45, 60]
    arguments = shlex.split(told.splitlines()[-1])
    assert arguments[0] == "consilience"
    assert run_successfully(*arguments[1:], "--no-assess").out
    facts = json.loads((tmp_path / "two words-out" / "summary.json").read_text(encoding="utf-8"))
    assert {name: view["kind"] for name, view in facts["views"].items()} == dict.fromkeys(
        ("text", "inbound", "outbound"), "counts"
    )


def test_fetched_data_set_needs_force_to_overwrite(small_cora, tmp_path):
    (tmp_path / "classes.csv").write_text("mine")
    assert_refused(run_command("datasets", "cora", "--out", tmp_path), "holds classes.csv already", "--force")
    run_successfully("datasets", "cora", "--out", tmp_path, "--force", "--quiet")
    assert (tmp_path / "classes.csv").read_text().startswith("id,class")


def test_unavailable_data_set_is_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setenv("CONSILIENCE_DATA", str(tmp_path))
    ran = run_command("datasets", "bbc", "--out", tmp_path / "bbc")
    assert_refused(ran, "bbc has to be downloaded by hand: see http://mlg.ucd.ie", "set CONSILIENCE_DATA to it")
    assert list_folder(tmp_path) == []


def test_list_is_printed_completely_or_not_at_all(tmp_path, monkeypatch):
    monkeypatch.setenv("CONSILIENCE_DATA", str(tmp_path / "gone"))
    ran = run_command("datasets")
    assert_refused(ran, "CONSILIENCE_DATA is set to", "which is not a folder")
    assert ran.out == ""


def test_folder_that_looks_like_an_option_is_written_as_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    line = run_successfully("datasets", "word-senses", "--out=-dash").out.splitlines()[-1]
    assert "cluster ./-dash/senses.csv ./-dash/links.csv " in line
    assert line.endswith("--out ./-dash-out")


def test_digits_are_six_tables_and_classes(tmp_path):
    run_successfully("datasets", "digits", "--out", tmp_path / "digits")
    assert list_folder(tmp_path / "digits") == [
        f"{name}.csv" for name in ("classes", "fac", "fou", "kar", "mor", "pix", "zer")
    ]
    rows = read_labels(tmp_path / "digits" / "classes.csv")
    assert len(rows) == 2000
    assert len({row["digit"] for row in rows}) == 10


def test_existing_folder_needs_force(tmp_path):
    run_successfully("datasets", "word-senses", "--out", tmp_path)
    (tmp_path / "links.csv").write_text("mine")
    assert_refused(run_command("datasets", "word-senses", "--out", tmp_path), "holds senses.csv, links.csv", "--force")
    assert (tmp_path / "links.csv").read_text() == "mine"
    run_successfully("datasets", "word-senses", "--out", tmp_path, "--force")
    assert (tmp_path / "links.csv").read_text().startswith("source,target")
    assert list_folder(tmp_path) == ["links.csv", "senses.csv"]


def test_unknown_names_are_wrong_usage():
    ran = run_command("datasets", "iris")
    assert ran.code == 2
    assert "there is no data set 'iris': choose from word-senses, digits" in ran.err
