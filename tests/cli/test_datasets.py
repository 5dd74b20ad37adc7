"""`consilience datasets`: what ships, as files that the other commands take."""

import shlex

import pytest
from stage import assert_refused, done, everything, read_labels, run


def test_lists_what_ships():
    ran = done("datasets")
    assert [line.split()[0] for line in ran.out.splitlines()[:2]] == ["word-senses", "digits"]
    assert ran.err == ""


def test_digits_come_as_six_tables_and_their_classes(tmp_path):
    done("datasets", "digits", "--out", tmp_path / "digits")
    assert everything(tmp_path / "digits") == [
        f"{own}.csv" for own in ("classes", "fac", "fou", "kar", "mor", "pix", "zer")
    ]
    rows = read_labels(tmp_path / "digits" / "classes.csv")
    assert len(rows) == 2000
    assert len({row["digit"] for row in rows}) == 10


@pytest.mark.parametrize("name", ["senses", "two words"])
def test_the_command_that_it_proposes_is_one(name, tmp_path):
    told = done("datasets", "word-senses", "--out", tmp_path / name).out
    arguments = shlex.split(told.splitlines()[-1])
    views = [arguments[i + 1] for i, own in enumerate(arguments) if own == "--view"]
    assert [own.partition("=")[2].partition(":")[0] for own in views] == [
        str(tmp_path / name / file) for file in ("senses.csv", "senses.csv", "links.csv")
    ]


def test_files_are_never_written_over_unless_asked(tmp_path):
    done("datasets", "word-senses", "--out", tmp_path)
    (tmp_path / "links.csv").write_text("mine")
    assert_refused(run("datasets", "word-senses", "--out", tmp_path), "holds senses.csv, links.csv already", "--force")
    assert (tmp_path / "links.csv").read_text() == "mine"
    done("datasets", "word-senses", "--out", tmp_path, "--force")
    assert (tmp_path / "links.csv").read_text().startswith("source,target")
    assert everything(tmp_path) == ["links.csv", "senses.csv"]


def test_unknown_names_are_wrong_usage():
    ran = run("datasets", "iris")
    assert ran.code == 2
    assert "invalid choice: 'iris'" in ran.err
