"""The data of the papers' tables: fetched, or what ships in its place; read once a process."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfTransformer

from ..datasets import FETCHERS, Dataset, load_digits_views, load_word_senses

SHIPPED = {"shipped-digits": load_digits_views, "word-senses": load_word_senses}


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
        except (OSError, ImportError) as error:
            reasons[name] = str(error)
    return reasons


def tf_idf(counts: Any) -> sp.csr_array:
    """Counts weighted by the rarity of their terms, with rows of unit length; a row of zeros stays one."""
    return sp.csr_array(TfidfTransformer().fit_transform(sp.csr_array(counts, dtype=np.float64)))
