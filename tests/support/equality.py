"""Bitwise comparison of trees of models, arrays and values."""

import functools
import types

import numpy as np
import scipy.sparse as sp


def is_identical(a, b):
    """Return whether two trees are equal down to the last bit."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray | np.generic):
        if a.dtype == object:
            return a.shape == b.shape and all(map(is_identical, a.ravel().tolist(), b.ravel().tolist()))
        return a.dtype == b.dtype and np.shape(a) == np.shape(b) and np.asarray(a).tobytes() == np.asarray(b).tobytes()
    if sp.issparse(a):
        return (
            a.shape == b.shape
            and is_identical(a.tocoo().data, b.tocoo().data)
            and is_identical(a.toarray(), b.toarray())
        )
    if isinstance(a, dict):
        return is_identical(list(a), list(b)) and is_identical(list(a.values()), list(b.values()))
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(is_identical, a, b))
    if isinstance(a, float):
        return repr(a) == repr(b)
    if isinstance(a, functools.partial):
        return a.func is b.func and is_identical(a.args, b.args)
    if isinstance(a, types.MethodType):
        return a.__func__ is b.__func__ and is_identical(a.__self__, b.__self__)
    if type(a).__module__.startswith("consilience") and not isinstance(a, type):
        return is_identical(a.__getstate__(), b.__getstate__())
    return a == b
