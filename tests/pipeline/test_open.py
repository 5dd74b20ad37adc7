"""`Result.open`: the workbench of a result in memory, of one that was loaded, and of one that was saved before."""

import re
import socket
import urllib.error
import urllib.request

import numpy as np
import pandas as pd
import pytest

import consilience as cs
from consilience.workbench.errors import Contradiction
from consilience.workbench.serve import RunningWorkbench
from small_runs import CENTERS, CLASSES, IDS, N_ITEMS, cluster_items, decide, make_items, settle
from waiting import HANG_LIMIT

QUICK = {"encode": {"text": "words"}}  # nothing to choose, which saves time


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    return cluster_items(tmp_path_factory.mktemp("data") / "items.csv", **QUICK)


@pytest.fixture(scope="module")
def frames():
    items = make_items().set_index("id")
    return {"size": items[["length", "width", "height"]], "color": items[["red", "green", "blue"]]}


@pytest.fixture(autouse=True)
def urls(monkeypatch):
    """Addresses that the browser would open."""
    opened = []
    monkeypatch.setattr("webbrowser.open", lambda url: opened.append(url) or True)
    return opened


def fetch(url):
    with urllib.request.urlopen(url.split("#")[0], timeout=HANG_LIMIT) as response:
        return response.read().decode("utf-8")


def test_result_in_memory_is_saved_and_opened_again_with_its_decisions(result, tmp_path, urls):
    running = result.open(tmp_path / "run", wait=False)
    assert [url.partition("#")[0] for url in urls] == [running.url.partition("#")[0]]
    assert urls != [running.url]  # whose token stays valid
    assert repr(running) == f"<workbench of {tmp_path / 'run'} at {running.url}>"
    assert "<html" in fetch(running.url)
    settle(running.workbench)
    decide(running.workbench, "together", [0, 40])
    labels = settle(running.workbench)
    running.close()
    running.close()  # a second time does nothing
    with pytest.raises(urllib.error.URLError, match="refused"):
        fetch(running.url)
    assert np.array_equal(cs.load_run(tmp_path / "run").labels, result.labels)
    with result.open(tmp_path / "run", wait=False, browser=False) as again:
        assert np.array_equal(settle(again.workbench), labels)
    with cs.load_run(tmp_path / "run").open(wait=False, browser=False) as loaded:
        assert loaded.folder == tmp_path / "run"
        assert np.array_equal(settle(loaded.workbench), labels)
    assert len(urls) == 1


def test_wrong_folders_and_too_many_items_are_refused(result, tmp_path, tune):
    with pytest.raises(ValueError, match=r'has no folder for the decisions: result\.open\("folder"\) saves'):
        result.open(wait=False)
    other = cluster_items(tmp_path / "items.csv", 4, method="k-means", **QUICK)
    other.save(tmp_path / "run")
    with pytest.raises(FileExistsError, match="run contains another run: choose another folder"):
        result.open(tmp_path / "run", wait=False)
    tune("workbench.opening", max_items=50)
    with pytest.raises(ValueError, match="the workbench takes up to 50 items, got 90: cluster a sample of them"):
        result.open(tmp_path / "other", wait=False)


def test_waiting_ends_when_the_workbench_is_stopped_or_an_error_occurs(result, tmp_path, monkeypatch, capsys):
    """The address is printed, because a machine may have no browser."""
    seen = []

    def fail(running):
        raise RuntimeError("the notebook has ended")

    monkeypatch.setattr(RunningWorkbench, "wait", lambda running: seen.append(fetch(running.url)))
    running = result.open(tmp_path / "run")
    assert capsys.readouterr().out == f"The workbench is at {running.url}\nPress Ctrl-C to stop it.\n"
    assert len(seen) == 1
    assert running.workbench.log.read_only.endswith("open the run again to make changes")
    monkeypatch.setattr(RunningWorkbench, "wait", fail)
    with pytest.raises(RuntimeError, match="the notebook has ended"):
        result.open(tmp_path / "run")
    with result.open(tmp_path / "run", wait=False) as running:
        assert running.workbench.log.read_only is None


def test_loaded_result_is_copied_to_another_folder_and_a_used_port_releases_it(result, tmp_path):
    loaded = cs.load_run(result.save(tmp_path / "first"))
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(OSError, match=f"cannot listen on port {port}: .*choose another port, or 0"):
            loaded.open(tmp_path / "." / "first", port=port, wait=False)
    with loaded.open(tmp_path / "." / "first", port=port, wait=False) as running:
        assert running.folder == tmp_path / "first"
        assert running.url.startswith(f"http://127.0.0.1:{port}/#token=")
        assert running.workbench.log.read_only is None
    with loaded.open(tmp_path / "second", wait=False) as running:
        settle(running.workbench)
        decide(running.workbench, "outlier", [3])
    assert not (tmp_path / "first" / "decisions.jsonl").exists()
    assert (tmp_path / "second" / "decisions.jsonl").exists()


def test_data_in_memory_is_asked_for_in_terms_of_python(frames, tmp_path):
    folder = cs.cluster(frames, 3, method="k-means", assess=False).save(tmp_path / "run", include_data=False)
    with pytest.raises(ValueError, match=r"give the data again, cs\.load_run\(folder, data\)"):
        cs.load_run(folder).open(wait=False)
    with cs.load_run(folder, frames).open(wait=False) as running:
        assert settle(running.workbench).shape == (N_ITEMS,)
        assert running.workbench.opened.ids == IDS


def test_changed_or_missing_data_is_refused(tmp_path):
    path = tmp_path / "items.csv"
    folder = cluster_items(path, method="k-means", **QUICK).save(tmp_path / "run")
    items = make_items()
    items.loc[0, "length"] = 99.0
    items.to_csv(path, index=False)
    with pytest.raises(ValueError, match=r"have changed since the model was fitted: run `consilience\.cluster`"):
        cs.load_run(folder).open(wait=False)
    path.unlink()
    with pytest.raises(FileNotFoundError, match=r"items\.csv") as raised:
        cs.load_run(folder).open(wait=False)
    assert "--" not in str(raised.value)


METHODS = {
    "k-means": {"method": "k-means"},
    "co-em": {"method": "co-em"},
    "auto k and outliers": {"n_clusters": "auto", "outliers": 0.05},
    "constraints": {"constraints": cs.Constraints([(0, 40), (1, 2)], [(5, 60)])},
    "seeds": {"seeds": [("a", "b", "c")[k] if row % 10 == 0 else None for row, k in enumerate(CLASSES)]},
}


@pytest.mark.parametrize("name", METHODS)
def test_run_of_any_method_is_opened_corrected_and_saved(name, tmp_path):
    options = {"n_clusters": 3, "assess": False, **METHODS[name]}
    items = make_items(None, n_missing=0 if name == "co-em" else 6)
    data = {"size": items[["length", "width", "height"]], "color": items[["red", "green", "blue"]]}
    if name in ("seeds", "constraints"):
        data = {view: frame.set_axis(IDS) for view, frame in data.items()}
    result = cs.cluster(data, **options)
    with result.open(tmp_path / "run", wait=False) as running:
        workbench = running.workbench
        before = settle(workbench)
        assert np.array_equal(before, result.labels)
        if name == "seeds":  # of two classes
            with pytest.raises(Contradiction, match="constraints of the run must be withdrawn") as raised:
                workbench.decide({"action": "together", "rows": [10, 70]})
            [[(number, sentence)]] = raised.value.choices
            assert number == 0
            assert sentence.startswith("Constraints of the run: ")
            assert {"“item 10”", "“item 70”"} <= set(re.findall("“.*?”", sentence))
        decide(workbench, "together", [10, 70], resolve="newer")
        after = settle(workbench)
        assert after[10] == after[70] >= 0
        assert workbench.describe_state()["error"] is None
        outliers = np.flatnonzero(before < 0)
        assert ("outliers" in name) == bool(len(outliers))
        assert np.array_equal(np.flatnonzero(after < 0), np.setdiff1d(outliers, [10, 70]))
        links = workbench.snapshot.decisions.constraints
        assert name != "constraints" or links.must_link.tolist() == [[0, 40], [1, 2], [10, 70]]
        assert name != "seeds" or links.size > 1
        workbench.save_as("copy")
        settle(workbench)
        assert workbench.describe_state()["error"] is None
        compact = workbench.snapshot.clustering.compact
    assert np.array_equal(cs.load_run(tmp_path / "copy").labels, compact)
    if name == "seeds":
        with cs.load_run(tmp_path / "copy", data).open(wait=False) as running:
            assert np.array_equal(settle(running.workbench), compact)


def test_updated_run_is_opened_and_saved(tmp_path):
    """The views of an update are read as those of the first run, also after the groups were saved."""
    items = make_items()
    first = cluster_items(tmp_path / "items.csv", items=items.iloc[:80], **QUICK)
    assert first.labels.shape == (80,)
    (tmp_path / "items.csv").rename(tmp_path / "first.csv")
    items.iloc[5:].to_csv(tmp_path / "items.csv", index=False)
    updated = first.update(None)
    with updated.open(tmp_path / "run", wait=False) as running:
        workbench = running.workbench
        assert np.array_equal(settle(workbench), updated.labels)
        decide(workbench, "together", [10, 70])
        workbench.save_as("copy")
        settle(workbench)
        assert workbench.describe_state()["error"] is None
        compact = workbench.snapshot.clustering.compact
    copy = cs.load_run(tmp_path / "copy")
    assert np.array_equal(copy.labels, compact)
    assert copy.views.n_views == 3
    with copy.open(wait=False) as running:
        assert np.array_equal(settle(running.workbench), compact)


def test_rows_without_data_are_left_out(tmp_path):
    X = CENTERS[CLASSES] + np.random.default_rng(0).normal(size=(N_ITEMS, 3))
    X[[3, 4]] = np.nan
    frames = {"a": pd.DataFrame(X), "b": pd.DataFrame(X[:, ::-1] + 0.1)}
    result = cs.cluster(frames, 3, assess=False)
    assert np.flatnonzero(result.labels < 0).tolist() == [3, 4]
    with result.open(tmp_path / "run", wait=False) as running:
        workbench = running.workbench
        assert settle(workbench).shape == (N_ITEMS - 2,)
        decide(workbench, "together", [0, 3])  # positions among the rows with data: rows 0 and 5
        assert workbench.export_constraints() == "first,second,type\n0,5,must-link\n"
