"""`open_sparse`: what comes back from three files, against scipy."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

import consilience as cs

from .case import ACCEPTED, REFUSALS, Case, Refused, call, require


def check(case: Case) -> str:
    """Store a random matrix, sometimes damaged; require its rows, or a refusal when it is opened or read."""
    rng = case.rng
    n, d = int(case.choose([1, 2, 10, 40])), int(case.choose([1, 3, 20]))
    dense = np.where(rng.random((n, d)) < rng.random(), rng.normal(size=(n, d)), 0)
    if n > 2 and case.chance(0.5):
        dense[rng.random(n) < 0.3] = 0
    X = sp.csr_array(dense.astype(case.choose(["float64", "float64", "float32", "int32"])))
    data, indices, indptr = X.data, X.indices, X.indptr
    widths = case.choose([("int32", "int32"), ("int64", "int64"), ("int32", "int64"), ("uint16", "int64")])
    parts = {"data": data, "indices": indices.astype(widths[0]), "indptr": indptr.astype(widths[1])}
    shape: Any = X.shape
    case.note(cut=False)
    sound = not case.chance(0.3)
    if not sound:
        parts, shape = damage(case, parts, X.shape)
    case.note(parts=parts, shape=shape, sound=sound)
    stored = {name: store(case, name, part) for name, part in parts.items()}
    try:
        lazy = call(cs.open_sparse, **stored, shape=shape)
        case.note(lazy=lazy)
        views = call(cs.Views, {"v": lazy})
        whole = read(views["v"], 0, n)
    except Refused:
        require(not sound or case.notes["cut"], "a sound matrix is refused")
        raise
    if sound and not case.notes["cut"]:
        require(views.shape == (n, 1) or len(views) == n, f"the views have shape {views.shape}")
        require(np.array_equal(whole, X.toarray()), "the rows differ from scipy's")
        start, stop = sorted(int(i) for i in rng.integers(n + 1, size=2))
        part = read(lazy, start, stop)
        require(np.array_equal(part, X.toarray()[start:stop]), f"rows {start} to {stop} differ")
        if n >= 10 and np.any(dense):
            check_fit(case, views, X)
    return ACCEPTED


def read(rows: Any, start: int, stop: int) -> np.ndarray:
    """Read some of the stored rows; a file that contradicts itself may be refused as an OSError."""
    part = call(lambda: rows[start:stop], refusals=(*REFUSALS, OSError))
    first, last = part.indptr[0], part.indptr[-1]
    csr = part.data[first:last], part.indices[first:last], part.indptr - first
    return sp.csr_array(csr, shape=part.shape).toarray()


def check_fit(case: Case, views: Any, X: sp.csr_array) -> None:
    """A fit on the stored rows gives the labels of a fit on the matrix."""
    model = cs.MultiViewKMeans(2, n_init=1, max_iter=5, random_state=0)
    expected = call(lambda: model.fit(X).labels_.copy())
    require(np.array_equal(call(lambda: model.fit(views).labels_), expected), "the labels of stored rows differ")


def damage(case: Case, parts: dict[str, Any], shape: tuple[int, int]) -> tuple[dict[str, Any], Any]:
    """Change one of the arrays or the shape."""
    rng = case.rng
    name = case.choose([*parts, "shape"])
    if name == "shape":
        n, d = shape
        wrong = [(n + 1, d), (n, d - 1), (n - 1, d), (n,), (n, d, 1), (-1, d), "ab", None, (n, 0), (0.5, d), (2**62, d)]
        return parts, case.choose(wrong)
    part = parts[name].copy()
    kind = case.choose(["cut", "value", "dtype", "dimensions", "longer"])
    if kind == "cut":
        part = part[: len(part) // 2]
    elif kind == "value" and len(part):
        values = [np.nan, np.inf] if part.dtype.kind == "f" else [0, 10**4, *([-1] if part.dtype.kind == "i" else [])]
        part[rng.integers(len(part))] = case.choose(values)
    elif kind == "dtype":
        part = part.astype(case.choose(["float32", "complex128", "<U4", "bool"]))
    elif kind == "dimensions":
        part = part[:, None]
    else:
        part = np.append(part, part[:1])
    return parts | {name: part}, shape


def store(case: Case, name: str, part: np.ndarray) -> Any:
    """Write an array, and give its path, its text, the mapped array, or (for indptr) the array itself."""
    path = case.folder / f"{name}.npy"
    np.save(path, part)
    forms: list[Any] = [path, str(path)]
    if case.chance(0.02):
        path.write_bytes(path.read_bytes()[:-5])
        case.note(cut=True)
    elif name == "indptr":
        forms.append(part)
    elif part.size:
        forms.append("mapped")
    form = case.choose(forms)
    is_mapped = isinstance(form, str) and form == "mapped"
    return np.load(path, mmap_mode="r") if is_mapped else form
