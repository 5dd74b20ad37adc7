"""The page of the leaderboard and how its tables are computed."""

import re
import sys

import numpy as np
import pytest

from benchmarks.modern import __main__ as program
from benchmarks.modern import leaderboard
from benchmarks.modern.collection import is_part
from benchmarks.modern.methods import LEADERBOARD, METHODS
from benchmarks.modern.sets import prepare
from benchmarks.modern.tables import compute_mean_ranks, group_results

FOLDER = leaderboard.DOCS / "modern"


@pytest.fixture(scope="module")
def page():
    return (leaderboard.DOCS / "leaderboard.md").read_text(encoding="utf-8")


def test_page_has_the_tables_of_the_stored_records(page, tmp_path):
    (tmp_path / "modern").mkdir()
    for name in ("records.csv", "sets.csv", "origins.csv", "published.csv"):
        (tmp_path / "modern" / name).write_bytes((FOLDER / name).read_bytes())
    (tmp_path / "leaderboard.md").write_text(re.sub(r"(?s)(<!-- table [\w-]+ -->).*?(<!-- end -->)", r"\1\n\2", page))
    leaderboard.update_docs(tmp_path)
    assert (tmp_path / "leaderboard.md").read_text(encoding="utf-8") == page, "run python -m benchmarks.modern --page"
    assert (tmp_path / "modern" / "tables.md").read_text() == (FOLDER / "tables.md").read_text()


def test_stored_records_are_of_listed_methods_and_sets():
    lines = {line for name in LEADERBOARD for line in METHODS[name].lines}
    sets = {row["set"] for row in leaderboard.read_table(FOLDER / "sets.csv")}
    records = leaderboard.read_stored(FOLDER)
    assert {record["line"] for record in records if "nmi" in record} <= lines
    assert {record["set"] for record in records} == sets
    fits = [(record["line"], record["set"], record["seed"]) for record in records if "nmi" in record]
    assert len(fits) == len(set(fits))


def test_published_results_have_sources_and_say_whether_they_were_tuned():
    sets = {row["set"] for row in leaderboard.read_table(FOLDER / "sets.csv")}
    for row in leaderboard.read_table(FOLDER / "published.csv"):
        assert row["set"] in sets
        assert 0 < float(row["nmi"]) < 1
        assert re.fullmatch(r"https://\S+( https://\S+)*", row["source"])
        assert re.fullmatch(r"yes|no|best of \d+ (settings|runs)", row["tuned"])
        assert row["checked"] in ("yes", "no")


def test_origins_name_every_set_once_and_the_page_states_numbers_of_the_records(page):
    sets = [row["set"] for row in leaderboard.read_table(FOLDER / "sets.csv") if not is_part(row["set"])]
    origins = leaderboard.read_table(FOLDER / "origins.csv")
    assert [row["set"] for row in origins] == sets
    assert all(row["what"] and row["source"] and row["cite"] and (row["copy"] or row["made"]) for row in origins)
    assert f"the {len({row['source'] for row in origins})} sources" in page
    checked = [row["checked"] for row in leaderboard.read_table(FOLDER / "published.csv")]
    assert f"{checked.count('yes')} of the {len(checked)} results" in page
    stated = int(re.search(r"No\s+fit on the 28 sets took more than (\d+) processor seconds", page)[1])
    seconds = [fit["cpu"] for fit in leaderboard.read_stored(FOLDER) if "cpu" in fit and not is_part(fit["set"])]
    assert stated - 10 < max(seconds) <= stated


def fit(line, name, nmi, seed=0):
    scores = {"nmi": nmi, "ari": nmi / 2, "cpu": 1.0, "mib": 10.0, "n_found": 3}
    return {"method": line, "line": line, "set": name, "seed": seed, **scores}


AUTO = leaderboard.AUTO
RECORDS = [
    *(fit(AUTO, name, nmi) for name, nmi in {"a": 0.8, "b": 0.5, "c": 0.6, "a, whole": 0.9, "b, rest": 0.4}.items()),
    fit(AUTO, "a", 0.6, seed=1),
    *(fit("Consilience", name, 0.5) for name in "abc"),
    *(fit("KernelAddition", name, 0.45) for name in "abc"),
    *(fit("GMC (port)", name, nmi) for name, nmi in {"a": 0.3, "b": 0.505, "c": 0.9, "b, rest": 0.5}.items()),
    fit("imml NEMO", "a", 0.75),
    {"method": "imml NEMO", "set": "b", "failed": "ValueError: a | b"},
]
SIZES = {
    name: {"set": name, "entities": "1200", "views": "2", "clusters": "3"}
    for name in ("a", "b", "c", "a, whole", "b, rest")
}
SOURCES = {"a": "first", "b": "second", "c": "second"}
REPOSITORY = "https://github.com/owner/name"
BESIDES = {"set": "a", "entities": "2"}
PUBLISHED = [
    {**BESIDES, "method": "X", "nmi": ".9", "accuracy": ".8", "tuned": "yes", "checked": "yes", "source": REPOSITORY},
    {
        **BESIDES,
        "method": "Y",
        "nmi": ".8",
        "accuracy": "",
        "tuned": "no",
        "checked": "no",
        "source": "https://a.b https://c.d",
    },
]


@pytest.fixture(scope="module")
def tables():
    return leaderboard.render_tables(RECORDS, SIZES, SOURCES, PUBLISHED)


def test_leaders_are_ranked_with_intervals(tables):
    rows = [line.split(" | ") for line in tables["ranking"].splitlines()[2:]]
    names = ["**consilience auto**", "GMC (port)", "**Consilience**", "imml NEMO", "**KernelAddition**"]
    assert [row[0] for row in rows] == [f"| {name}" for name in names]
    assert rows[1][1:5] == ["2.3", "1.0 to 5.0", ".568", ".284"]  # places 5, 1 and 1
    assert rows[1][5].startswith(".032 (")
    assert rows[1][6] == "1 : 1 : 1"  # better on a, equal within .01 on b, worse on c
    assert rows[3][8] == "1 |"
    assert "| .750 (1 set) |" in tables["ranking"], "a mean over fewer sets is not the best"
    assert "the best mean NMI .568 (GMC (port))" in tables["headline"]
    assert leaderboard.show_mean(np.array([0.5, np.nan, 0.6])) == ".550 (2 sets)"
    assert leaderboard.show_mean(np.array([0.5, 0.6])) == ".550"


def test_intervals_shrink_with_the_spread_and_those_of_repeated_sets_are_of_the_sources():
    values = np.array([[1.0, 1.0, 1.0, 1.0], [0.0, 1.0, 2.0, 3.0]])
    low, high = leaderboard.bootstrap_means(values, list("abcd"))
    assert low[0] == high[0] == 1
    assert 0 < low[1] < 1.5 < high[1] < 3
    values = np.random.default_rng(0).normal(size=(1, 6))
    alone = leaderboard.bootstrap_means(values, list("abcdef"))
    repeated = leaderboard.bootstrap_means(np.repeat(values, 4, axis=1), np.repeat(list("abcdef"), 4))
    np.testing.assert_allclose(repeated, alone)
    independent = leaderboard.bootstrap_means(np.repeat(values, 4, axis=1), [str(i) for i in range(24)])
    assert np.ptp(independent) < 0.7 * np.ptp(alone)


def test_page_ranks_as_the_tables_do(tables):
    chosen = [record for record in RECORDS if record["set"] in SOURCES]
    ranks = compute_mean_ranks(group_results(chosen), list(SOURCES))
    rows = [line.strip("| ").split(" | ") for line in tables["ranking"].splitlines()[2:]]
    assert {row[0].strip("*"): row[1] for row in rows} == {line: f"{rank:.1f}" for line, rank in ranks.items()}
    text = leaderboard.render_tables_by_part(RECORDS, list(SOURCES))
    for line, rank in ranks.items():
        assert f"| {line} | {rank:.1f} |" in text


def test_sets_losses_and_other_parts_are_shown(tables):
    assert "| c | 1,200, 2, 3 | .600 |  | .500 | .450 KernelAddition |" in tables["sets"]
    assert "**.900** GMC (port)" in tables["sets"]
    assert tables["losses"].splitlines()[2:] == [
        "| c | .600 | GMC (port) .900 | 1 |",
        "| a | .700 | imml NEMO .750 | 1 |",
    ]
    assert "| GMC (port) | 1.0 | .500 | 0 : 0 : 1 |" in tables["rest"]
    assert "| imml NEMO | ValueError: a \\| b | 1: b |" in tables["failures"]
    assert "mean NMI of .600 and a mean rank of 2.2 among the 5 lines" in tables["headline"]


def test_our_losses_name_the_best_other_method():
    others = {"KernelAddition": (0.6, 0.505, 0.9), "CoTrainedSpectral": (0.7, 0.4, 0.3)}
    records = [fit(line, name, nmi) for line, scores in others.items() for name, nmi in zip("abc", scores, strict=True)]
    records += [fit(AUTO, name, 0.5) for name in "abc"] + [fit("Consilience", name, 0.9) for name in "abc"]
    text = leaderboard.render_our_losses(group_results(records), list("abc"))
    assert text.startswith("- **Our other methods** are better than *consilience auto* by .01 or more on 2 sets: ")
    assert "c (KernelAddition .900, ahead by .400); a (CoTrainedSpectral .700, ahead by .200)." in text
    none = leaderboard.render_our_losses(group_results([fit(AUTO, "a", 0.5), fit("KernelAddition", "a", 0.5)]), ["a"])
    assert none == "- **Our other methods**: none is ahead on any set.\n"


@pytest.mark.parametrize(("nmi", "effect"), [(0.45, "costs `Consilience` .050"), (0.6, "gains `Consilience` .100")])
def test_effect_of_the_dense_input_is_stated(nmi, effect):
    records = [*RECORDS, *(fit(leaderboard.DENSE, name, nmi) for name in "abc")]
    tables = leaderboard.render_tables(records, SIZES, SOURCES, [])
    assert effect in tables["dense-input"]
    assert f"it has .{nmi * 1000:.0f} with it and .500 on the views as they are" in tables["dense-input"]
    assert f"| **{leaderboard.DENSE}** |" in tables["ranking"]
    better, worse = (3, 0) if nmi > 0.5 else (0, 3)
    assert f"better on {better} sets, equal on 0 and worse on {worse}" in tables["dense-input"]


def test_published_results_stand_beside_those_on_the_whole_set_and_better_ones_are_listed(tables):
    rows = tables["published"].splitlines()[2:]
    assert rows[0] == f"| a | 1,200 | .900 | not run | X | .9 / .8 | 2 | yes | yes | [owner/name]({REPOSITORY}) |"
    assert rows[1] == ("|  |  |  |  | Y | .8 | 2 | no | no | [https://a.b](https://a.b), [https://c.d](https://c.d) |")
    records = [fit(AUTO, "a", 0.5), fit(AUTO, "a, whole", 0.85), fit(AUTO, "b", 0.5)]
    other = {"set": "b", "method": "Z", "nmi": ".509", "accuracy": "", "tuned": "no"}
    table = leaderboard.render_published_losses(group_results(records), [*PUBLISHED, other])
    assert table.splitlines()[2:] == ["| a | .850 | X | .9 / .8 | yes |"]


def test_parts_have_their_own_tables():
    text = leaderboard.render_tables_by_part(RECORDS, ["a", "b", "c", "a, whole", "b, rest", "a + noise"])
    usual, rest, whole = re.split(r"^## (?:Other entities of the same sets|All entities)\n", text, flags=re.MULTILINE)
    assert "| method | a | b | c |" in usual
    assert "| method | b, rest |" in rest
    assert "| method | a, whole |" in whole
    assert "useless" not in text
    assert "### NMI" in rest
    assert usual.startswith("13 pairs of a line and a set: 1 with 2 seeds, 12 with 1 seed.")


def test_lines_on_few_sets_are_apart():
    lines = AUTO, "Consilience", "KernelAddition", "imml NEMO"
    complete = [fit(line, name, 0.5) for line in lines for name in "abcde"]
    records = [*complete, fit("GMC (port)", "a", 0.9)]
    sizes = dict.fromkeys("abcde", SIZES["a"])
    tables = leaderboard.render_tables(records, sizes, dict.fromkeys("abcde", "source"), [])
    assert "GMC" not in tables["ranking"]
    assert "| GMC (port) | 1 | .900 | .500 | 0 : 0 : 1 | 1 |" in tables["partial"]


def test_records_are_stored_and_read_again(tmp_path):
    data = prepare({"x": np.arange(8.0).reshape(4, 2), "y": np.ones((4, 1))}, np.array([0, 0, 1, 1]))
    done = {"method": AUTO, "set": "a", "done": "all seeds"}
    leaderboard.store_records(tmp_path, [*RECORDS[::-1], done], {"a": data, "b": data}, [AUTO, "imml NEMO"])
    stored = leaderboard.read_stored(tmp_path)
    fits = [(record["set"], record.get("seed")) for record in stored]
    assert fits == [("a", 0), ("a", 1), ("b", 0), ("a", 0), ("b", None)]
    assert group_results(stored)[AUTO]["a"].nmi.tolist() == [0.8, 0.6]
    row = {"set": "a", "entities": "4", "views": "2", "clusters": "2"}
    assert leaderboard.read_table(tmp_path / "sets.csv")[0] == row


def test_page_is_rendered_without_a_run_and_needs_a_table_for_each_name(monkeypatch):
    calls = []
    monkeypatch.setattr(program, "update_docs", lambda: calls.append("page"))
    monkeypatch.setattr(sys, "argv", ["modern", "--page"])
    program.main()
    assert calls == ["page"]
    assert leaderboard.replace_tables("<!-- table x -->\nold\n<!-- end -->", {"x": "new\n"}).count("new") == 1
    with pytest.raises(KeyError, match="'y'"):
        leaderboard.replace_tables("<!-- table y -->\n<!-- end -->", {"x": "new\n"})
