"""Small runs for the tests of the workbench: 90 items of three known groups in three views."""

import json
from contextlib import contextmanager
from unittest.mock import patch

import numpy as np
import pandas as pd

import consilience as cs
from consilience.workbench.decisions import FILE_NAME
from consilience.workbench.opening import open_result
from consilience.workbench.workbench import Workbench
from waiting import HANG_LIMIT

N_ITEMS = 90
CLASSES = np.repeat([0, 1, 2], N_ITEMS // 3)
CLASS_NAMES = np.array(["food", "knife", "cloth"])[CLASSES]
CENTERS = np.array([[0.0, 0, 4], [4, 0, 0], [0, 4, 0]])
IDS = [f"item {i:02d}" for i in range(N_ITEMS)]
WORDS = (
    ("sweet", "fruit", "juice", "ripe"),
    ("steel", "blade", "handle", "sharp"),
    ("cotton", "shirt", "sleeve", "soft"),
)


def make_items(ids=IDS, n_missing=6):
    """Return the items as a table; some lack the view of colors. Without `ids`, they are rows."""
    rng = np.random.default_rng(0)
    size, color = (np.round(CENTERS[CLASSES] + rng.normal(size=(N_ITEMS, 3)), 3) for _ in range(2))
    color[rng.permutation(N_ITEMS)[:n_missing]] = np.nan
    columns = {} if ids is None else {"id": ids}
    columns |= dict(zip(("length", "width", "height"), size.T, strict=True))
    columns |= dict(zip(("red", "green", "blue"), color.T, strict=True))
    texts = [" ".join(["a", "thing", "with", *rng.choice(WORDS[k], 5)]) for k in CLASSES]
    return pd.DataFrame({**columns, "text": texts, "kind": CLASS_NAMES})


def list_views(path):
    return {"size": f"{path}:length,width,height", "color": f"{path}:red,green,blue", "text": f"{path}:text"}


def cluster_items(path, n_clusters=3, *, items=None, **options):
    items = make_items() if items is None else items
    items.to_csv(path, index=False)
    options = {"labels": "kind", "id_column": "id" if "id" in items else None, **options}
    return cs.cluster(list_views(path), n_clusters, assess=False, **options)


_opened = {}  # what the workbench prepares of each result, which decisions do not change


def open_once(result, report):
    """Prepare a result the first time that it is opened."""
    if id(result) not in _opened:
        _opened[id(result)] = result, open_result(result, report)  # as long as the result is here, its id is its own
    return _opened[id(result)][1]


@contextmanager
def open_workbench(result, folder):
    """Open the workbench of a result, with its decisions in a folder, and wait until it is ready."""
    folder.mkdir(exist_ok=True)
    workbench = Workbench(result, folder)
    try:
        with patch("consilience.workbench.workbench.open_result", open_once):
            workbench.start()
            workbench.wait_until_ready(HANG_LIMIT)
        yield workbench
    finally:
        workbench.close()


def settle(workbench):
    """Wait until the groups follow from all decisions; return their labels."""
    workbench.wait_until_ready(HANG_LIMIT)
    return workbench.snapshot.clustering.labels.copy()


def decide(workbench, action, rows=(), **values):
    """Make a decision and wait for its effect; return its number."""
    number = workbench.decide({"action": action, "rows": list(rows), **values})["number"]
    settle(workbench)
    return number


def find_decision(workbench, number):
    return next(entry for entry in workbench.describe_state()["decisions"] if entry["number"] == number)


def read_log(folder):
    """Return the entries of the log of a folder, without those that every line has."""
    lines = (folder / FILE_NAME).read_text("ascii").splitlines()[1:]
    extra = ("number", "time", "check")
    return [{key: value for key, value in json.loads(line).items() if key not in extra} for line in lines]


def dump_strictly(value):
    """Return a value as JSON; NaN and values that JSON lacks are errors."""
    return json.dumps(value, allow_nan=False)
