"""What the papers' tables share: data, fetched or what ships in its place, read once a process; how a run starts."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfTransformer

from consilience.datasets import FETCHERS, Dataset, load_digits_views, load_word_senses

SHIPPED = {"shipped-digits": load_digits_views, "word-senses": load_word_senses}
CLUTO = ("re0", "fbis", "la1", "hitech", "tr11", "wap")  # six of its sets of documents


@cache
def dataset(name: str) -> Dataset:
    """A data set by its name in `datasets.FETCHERS`, or one that ships (``shipped-digits``, ``word-senses``)."""
    return (SHIPPED.get(name) or FETCHERS[name])()


def cannot_have(names: Iterable[str]) -> dict[str, str]:
    """Those of the sets that cannot be had here, and why."""
    reasons = {}
    for name in dict.fromkeys(names):
        try:
            dataset(name)
        except (OSError, ImportError, ValueError) as error:  # not here, not to be had, or not what it should be
            reasons[name] = str(error)
    return reasons


def tf_idf(counts: Any) -> sp.csr_array:
    """Counts weighted by the rarity of their terms, with rows of unit length; a row of zeros stays one."""
    return sp.csr_array(TfidfTransformer().fit_transform(sp.csr_array(counts, dtype=np.float64)))


def filled(blocks: Iterable[Any]) -> np.ndarray:
    """Which rows, of each of the blocks in a column, have anything in it."""
    return np.stack([sp.csr_array(block).count_nonzero(axis=1) > 0 for block in blocks], axis=1)


def one_start(run: int) -> dict[str, Any]:
    """What makes an estimator start once, at random, with the run as its seed."""
    return {"init": "random", "n_init": 1, "n_jobs": 1, "random_state": run}
