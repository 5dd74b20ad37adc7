"""Data and options that the papers share; each data set is read once per process."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfTransformer

from consilience.datasets import FETCHERS, Dataset, load_digits_views, load_word_senses

SHIPPED = {"shipped-digits": load_digits_views, "word-senses": load_word_senses}
CLUTO = ("re0", "fbis", "la1", "hitech", "tr11", "wap")  # six document collections of CLUTO


@cache
def load_dataset(name: str) -> Dataset:
    """Load a data set by its name in `datasets.FETCHERS`, or one that ships (``shipped-digits``, ``word-senses``)."""
    return (SHIPPED.get(name) or FETCHERS[name])()


def find_unavailable(names: Iterable[str]) -> dict[str, str]:
    """Return the data sets that cannot be loaded, with the reasons."""
    reasons = {}
    for name in dict.fromkeys(names):
        try:
            load_dataset(name)
        except (OSError, ImportError, ValueError) as error:  # missing, not downloadable, or damaged
            reasons[name] = str(error)
    return reasons


def compute_tf_idf(counts: Any) -> sp.csr_array:
    """Weight counts by tf-idf and normalize rows to unit length; rows of zeros stay zero."""
    return sp.csr_array(TfidfTransformer().fit_transform(sp.csr_array(counts, dtype=np.float64)))


def find_filled_rows(blocks: Iterable[Any]) -> np.ndarray:
    """Return a mask (rows, blocks) of the rows that have non-zero entries in each block."""
    return np.stack([sp.csr_array(block).count_nonzero(axis=1) > 0 for block in blocks], axis=1)


def single_start_options(run: int, init: str = "random") -> dict[str, Any]:
    """Estimator options for one random start with the run number as the seed."""
    return {"init": init, "n_init": 1, "n_jobs": 1, "random_state": run}
