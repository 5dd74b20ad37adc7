"""Files of every shape that a user may have, small, and runs on them that are made once."""

import numpy as np
import pytest

from consilience import registry
from stage import CLASSES, IDS, N, make_blobs, run_successfully, write_csv


@pytest.fixture(scope="session")
def data(tmp_path_factory):
    """A folder of small files: measurements joined by id with a fifth missing, column groups, similarities, links."""
    folder = tmp_path_factory.mktemp("data")
    rng = np.random.default_rng(0)
    for seed, name in enumerate("ab"):
        X = np.round(make_blobs(seed), 4)
        rows = np.sort(rng.permutation(N)[: N * 4 // 5])
        write_csv(folder / f"{name}.csv", ["id", *(f"{name}{j}" for j in range(3))], ([IDS[i], *X[i]] for i in rows))
    class_names = ["xyz"[label] for label in CLASSES]
    write_csv(folder / "classes.csv", ["id", "class"], zip(IDS, class_names, strict=True))
    groups = np.round(np.hstack([make_blobs(2), make_blobs(3)]), 4).astype(object)
    groups[7, 1] = groups[30, 4] = ""
    header = ["x_0", "x_1", "x_2", "y_0", "y_1", "y_2", "class"]
    write_csv(folder / "groups.csv", header, ([*row, name] for row, name in zip(groups, class_names, strict=True)))
    for seed, name in enumerate(("near", "like")):
        X = make_blobs(4 + seed)
        np.save(folder / f"{name}.npy", np.exp(-np.square(X[:, None] - X).sum(axis=2) / 20))
        np.save(folder / f"{name}-raw.npy", X)
    ends = [(IDS[i], IDS[20 * CLASSES[i] + j]) for i in range(N) for j in rng.permutation(20)[:5]]
    write_csv(folder / "links.csv", ["source", "target"], ends)
    colours = [("red", "round"), ("green", "square"), ("blue", "flat")]
    write_csv(folder / "kinds.csv", ["id", "colour", "shape"], ((IDS[i], *colours[CLASSES[i]]) for i in range(N)))
    return folder


@pytest.fixture(scope="session")
def ab(data):
    """The arguments that name two views joined by id."""
    return "--view", f"a={data / 'a.csv'}", "--view", f"b={data / 'b.csv'}"


@pytest.fixture(scope="session")
def clustered(ab, tmp_path_factory):
    """The folder of a run with three clusters, of each method made once; not to be written to."""
    made = {}

    def folder(method):
        if method not in made:
            made[method] = tmp_path_factory.mktemp("runs") / method
            run_successfully("cluster", *ab, "-k", 3, "--method", method, "--out", made[method])
        return made[method]

    return folder


@pytest.fixture
def compare_few(monkeypatch):
    """A function that leaves few methods to be compared, besides those that comparisons need."""

    def declare(*names):
        names = dict.fromkeys((*names, "consilience", "spectral", "spherical"))
        monkeypatch.setattr(registry, "_DECLARATIONS", {name: registry.find_estimator(name) for name in names})

    return declare
