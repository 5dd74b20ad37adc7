"""The settings of a run as a file."""

import tomllib
from pathlib import Path

import numpy as np
import pytest

from consilience.pipeline.config import FLAGS, read_config, write_config
from stage import assert_refused, read_labels, run_command, run_successfully

pytestmark = pytest.mark.quick


def test_written_settings_are_read(tmp_path):
    inputs = {"view": ["a b.csv", 't=x.csv:"q"', "u=\x7f\n\\.csv"], "id": "-id", "settings": ["eta=1"], "k": "auto"}
    inputs |= {"seed": 3, "outliers": 0.1, "title": "Größe 🙂", "labels": None, "mapping": []}
    write_config(tmp_path / "run.toml", inputs, 4)
    assert read_config(tmp_path / "run.toml") == [
        *("--view=a b.csv", '--view=t=x.csv:"q"', "--view=u=\x7f\n\\.csv", "--id=-id", "--set=eta=1"),
        *("-k", "auto", "--seed=3", "--outliers=0.1", "--title=Größe 🙂"),
    ]
    assert 'k = "auto"  # 4 clusters were found' in (tmp_path / "run.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("veiw = 'a.csv'", "unknown setting 'veiw': did you mean 'view'?"),
        ("zzz = 1", f"unknown setting 'zzz': choose from {', '.join(FLAGS)}"),
        ("view = [1]", "view must be a text, a number or a list of texts, got \\[1\\]"),
        ("seed = true", "seed must be a text, a number or a list of texts, got True"),
        ("view = ", r"run\.toml \(--config\) cannot be read"),
        pytest.param(f"k = {'1' * 5000}", r"\(--config\) cannot be read: .*4300 digits", id="long number"),
        pytest.param(f"view = {'[' * 100_000}", "cannot be read: .* nested ", id="nested"),
        pytest.param(f"view = {'{a=' * 50}1{'}' * 50}", "a list of texts, got dict of 1 item", id="tables"),
    ],
)
def test_wrong_settings_are_refused(content, message, tmp_path):
    (tmp_path / "run.toml").write_text(content)
    with pytest.raises(ValueError, match=message):
        read_config(tmp_path / "run.toml")


def test_files_of_settings_that_cannot_be_used_are_refused(tmp_path):
    path = tmp_path / "run.toml"
    with pytest.raises(FileNotFoundError, match=r"there is no file .*--config"):
        read_config(path)
    path.write_text("k = 3\n")
    ran = run_command("cluster", "--config", path, "--out", tmp_path / "out")
    assert_refused(ran, "run.toml (--config) names no files as view: add them after the command", code=2)
    with pytest.raises(ValueError, match=r"/dev/zero is a device or a socket, which may never end.* \(--config\)"):
        read_config(Path("/dev/zero"))
    with path.open("wb") as file:
        file.truncate(2**40)  # takes no place on the disk
    with pytest.raises(ValueError, match=r"\(--config\) cannot be read: it has 1,099,511,627,776 bytes, and at most"):
        read_config(path)


def test_run_is_repeated_by_its_settings(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for name in ("a", "b"):
        np.save(f"{name}.npy", np.repeat([0.0, 4.0, 8.0], 20)[:, None] + rng.normal(size=(60, 3)))
    options = ("-k", 3, "--method", "k-means", "--set", "n_init=2", "--seed", 5, "--no-assess", "--title", "Again")
    run_successfully("cluster", "a.npy", "b.npy", *options, "--out", "first")
    run_successfully("cluster", "--config", "first/run.toml", "--out", "second")
    assert tomllib.loads((tmp_path / "first" / "run.toml").read_text())["assess"] is False
    assert (tmp_path / "second" / "run.toml").read_text() == (tmp_path / "first" / "run.toml").read_text()
    assert (tmp_path / "second" / "labels.csv").read_text() == (tmp_path / "first" / "labels.csv").read_text()
    run_successfully("cluster", "--config", "first/run.toml", "-k", 2, "--out", "third")
    assert {row["cluster"] for row in read_labels(tmp_path / "third")} == {"0", "1"}
