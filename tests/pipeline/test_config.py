"""The settings of a run as a file."""

import pytest

from consilience.pipeline.config import FLAGS, read_config, write_config


def test_written_settings_are_read(tmp_path):
    inputs = {
        "view": ["a b.csv", 't=x.csv:"q"', "u=\x7f\n\\.csv"],
        "id": "-id",
        "settings": ["eta=1"],
        "k": "auto",
        "seed": 3,
        "outliers": 0.1,
        "title": "Größe 🙂",
        "labels": None,
        "mapping": [],
    }
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
        ("view = ", "cannot be read"),
    ],
)
def test_wrong_settings_are_refused(content, message, tmp_path):
    (tmp_path / "run.toml").write_text(content)
    with pytest.raises(ValueError, match=message):
        read_config(tmp_path / "run.toml")


def test_missing_file_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no file .*--config"):
        read_config(tmp_path / "run.toml")
