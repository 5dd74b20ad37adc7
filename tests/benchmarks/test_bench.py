"""`python -m benchmarks.bench`: one table of times, of whatever is there."""

import os
from types import SimpleNamespace

import array_api_strict
import numpy as np
import pytest

import stage
from benchmarks import bench
from stage import assert_refused, list_folder


def run(*arguments):
    return stage.run_command(*arguments, top=bench.make_parser())


def run_successfully(*arguments):
    return stage.run_successfully(*arguments, top=bench.make_parser())


SMALL = ("--rows", 400, "--columns", 4, "-k", 3)
THEIRS = "scikit-learn KMeans", "scikit-learn GaussianMixture", "scikit-learn GaussianMixture, 1 thread"


def names(text):
    """The first cells of the table's lines."""
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("contestant "))
    return [line.split("  ")[0] for line in lines[start + 1 : start + 12] if "  " in line]


def ours(*places):
    by_kind = [[f"{kind}, {place}" for place in places] for kind in ("MultiViewKMeans", "CoEM")]
    return [THEIRS[0], *by_kind[0], *THEIRS[1:], *by_kind[1]]


@pytest.fixture
def installed(monkeypatch):
    """As if of the packages that are looked for these were the only ones."""

    def only(**modules):
        def find(name):
            if name.partition(".")[0] not in modules:
                raise ModuleNotFoundError(f"No module named {name!r}")
            return modules[name.partition(".")[0]]

        monkeypatch.setattr(bench, "import_module", find)

    return only


@pytest.fixture
def timed(monkeypatch):
    """Fits that take as long as they are told to: a round of ours twice as long as one of scikit-learn's."""

    def simulate(work, rounds):
        kind = work.args[0].__module__
        return 5 + rounds * (1 if kind.startswith("sklearn") else 2), SimpleNamespace(
            n_iter_=rounds, labels_=work.args[1]
        )

    monkeypatch.setattr(bench, "time_fit", simulate)


def test_missing_packages_are_noted(installed):
    installed()
    ran = run_successfully(*SMALL, "--repeats", 2)
    assert names(ran.out) == ours("memory", "file")
    for name in ("dask", "torch"):
        assert f"note: {name} is left out, as it is not installed: pip install 'consilience[{name}]'\n" in ran.err
    assert ran.out.startswith("400 rows, two views of 4 columns, float32, 3 clusters, ")
    assert "A ratio below 1 means faster than scikit-learn" in ran.out


def test_dask_finds_the_same_labels(installed):
    installed(dask=pytest.importorskip("dask.array"))
    ran = run_successfully(*SMALL, "--repeats", 1)
    assert names(ran.out) == ours("memory", "file", "dask")
    assert ran.out.count("100% the same") == 4


def test_gpu_is_used_if_torch_finds_one(installed):
    requests = []

    def asarray(X, device):
        requests.append(device)
        return array_api_strict.asarray(X)

    torch = SimpleNamespace(cuda=SimpleNamespace(is_available=lambda: True), asarray=asarray)
    installed(torch=torch)
    ran = run_successfully(*SMALL, "--repeats", 1)
    assert names(ran.out) == ours("memory", "file", "GPU")
    assert requests == ["cuda", "cuda"]
    torch.cuda.is_available = lambda: False
    ran = run_successfully(*SMALL, "--repeats", 1)
    assert names(ran.out) == ours("memory", "file")
    assert "note: The GPU is left out: torch does not find one.\n" in ran.err


def test_time_per_round_cancels_setup(installed, timed):
    installed()
    ran = run_successfully(*SMALL, "--quiet")
    lines = [line.split() for line in ran.out.splitlines()]
    assert (ran.err, len(lines)) == ("", 1 + 3 + 1 + 4)
    assert lines[1] == ["scikit-learn", "KMeans", "1,000.00", "1.000"]
    assert lines[2] == ["MultiViewKMeans,", "memory", "2,000.00", "2.000", "2.000", "to", "2.000"]
    assert lines[3][:2] + lines[3][-3:] == ["MultiViewKMeans,", "file", "100%", "the", "same"]


def test_too_short_times_give_no_ratio_and_shares_of_equal_labels_are_rounded_down(monkeypatch):
    shown = bench.format_times(np.array([0.1, -0.001]), np.array([0.2, 0.2]))
    assert (shown["ratio"], shown["range"]) == ("unclear", "use more --rows")
    group = {"scikit-learn KMeans": None, "memory": np.zeros(100_000), "file": np.arange(100_000) == 7}
    monkeypatch.setattr(bench, "time_fit", lambda labels, rounds: (1.0, SimpleNamespace(labels_=labels)))
    assert bench.warm_up([group], bench.Terminal(quiet=True)) == {"file": "99.99% the same"}


def test_early_convergence_and_a_full_disk_are_refused(installed, monkeypatch):
    installed()
    monkeypatch.setattr(bench, "time_fit", lambda work, rounds: (1.0, SimpleNamespace(n_iter_=1, labels_=np.zeros(3))))
    assert_refused(run(*SMALL), "scikit-learn KMeans converges after 1 round: use more --rows")
    monkeypatch.setattr(bench.shutil, "disk_usage", lambda _: SimpleNamespace(free=1000))
    assert_refused(run(*SMALL), "400 rows of two views of 4 columns need 0.0 GiB in ", "use fewer --rows")


@pytest.mark.skipif(not hasattr(os, "getloadavg"), reason="the system does not say")
@pytest.mark.parametrize(("load", "is_noted"), [(50.0, True), (0.0, False)])
def test_busy_machine_is_noted(load, is_noted, installed, timed, monkeypatch):
    installed()
    monkeypatch.setattr(bench, "available_threads", lambda: 8)
    monkeypatch.setattr(os, "getloadavg", lambda: (load, load, load))
    assert ("This machine is busy (load 50.0, 8 threads)" in run_successfully(*SMALL).err) == is_noted


@pytest.mark.parametrize(("whole", "left"), [(0, "no repetition was finished"), (2, "the table shows 2 repetitions")])
def test_interrupt_prints_finished_repetitions(whole, left, installed, monkeypatch, tmp_path):
    installed()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    def interrupt(groups, n_turns, terminal):
        yield from [{name: 0.5 for group in groups for name in group}] * whole
        raise KeyboardInterrupt

    monkeypatch.setattr(bench, "time_turns", interrupt)
    ran = run(*SMALL)
    assert_refused(ran, "stopped after it had warmed up CoEM, memory and warmed up CoEM, file: " + left, code=130)
    assert ("contestant" in ran.out) == (whole > 0)
    assert list_folder(tmp_path) == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("-k", 1), "-k 1 is too small: use at least 2 clusters"),
        (("--rows", 50, "-k", 5), "--rows 50 is too small for -k 5: use at least 100 (20 rows per cluster)"),
        (("--rows", 10**13), "10,000,000,000,000 rows of two views of 32 columns need"),
        (("--rows=0",), "argument --rows: '0' is not an integer of 1 or more"),
        (("--columns=many",), "argument --columns: 'many' is not an integer of 1 or more"),
        (("-k-3",), "argument -k: '-3' is not an integer of 1 or more"),
        (("--repeats=1e6",), "argument --repeats: '1e6' is not an integer of 1 or more"),
    ],
)
def test_impossible_sizes_are_refused(arguments, words):
    ran = run(*arguments)
    assert ran.code != 0
    assert words in ran.err
    assert ran.out == ""
