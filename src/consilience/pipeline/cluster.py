"""`consilience.cluster`: from data of any form to named clusters, in one call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, Literal

from .._describe import describe_value
from .._numbers import is_integer, is_real, is_truth_value
from ..data import Constraints
from ..explain.namer import Namer
from .log import RunLog
from .memory import collect_memory, is_path, list_described, list_files, name_views
from .options import RunOptions
from .result import Result
from .steps import run_pipeline
from .wording import raise_in_python_terms

EXAMPLES = {
    "kinds": "'title': 'text'",
    "encode": "'title': 'semantic'",
    "options": "'n_init': 5",
    "names": "0: 'knives'",
}  # of arguments
TEXTS = {"id_column": "sku", "method": "co-em", "title": "Products"}  # of arguments that are strings


def cluster(
    data: Any,
    n_clusters: int | Literal["auto", "small-groups"] = "auto",
    *,
    id_column: str | None = None,
    kinds: Mapping[str, str] | None = None,
    encode: Mapping[str, str | PathLike[str] | Callable[..., Any]] | None = None,
    labels: Any = None,
    seeds: Any = None,
    constraints: Constraints | str | PathLike[str] | None = None,
    describe: Any = None,
    mapping: str | PathLike[str] | Sequence[str | PathLike[str]] = (),
    method: str = "auto",
    options: Mapping[str, Any] | None = None,
    outliers: float | Literal["auto"] | None = None,
    assess: bool = True,
    title: str | None = None,
    names: Mapping[Any, str] | str | PathLike[str] | None = None,
    namer: Namer | None = None,
    random_state: int = 0,
    verbose: bool = False,
) -> Result:
    """Find the groups in data of any form: read it, encode it, cluster it, and assess the clusters.

    This is what ``consilience cluster`` does with files; both give the same clusters. A table is split into views:
    its columns of numbers, dates and categories are one view, each column of text is one, and so is each block of
    numbered columns, such as the dimensions of an embedding.

    Parameters
    ----------
    data : DataFrame, array, Views, AnnData, MuData, path, or mapping of view name to any of these, or list of views
        A DataFrame of pandas, polars or another library that narwhals reads; a Series or list of strings; a numpy or
        sparse matrix; `Views`; single-cell data; or the path of a file or of a folder of images. In a mapping, a path
        may name columns: ``{"text": "papers.csv:title,abstract"}``. In a list of matrices, frames and columns of a
        frame the views are called ``view0``, ``view1``, ... Frames with an index that names the rows are joined by it,
        and other data by the position of rows.
    n_clusters : int, 'auto' or 'small-groups', default='auto'
        Number of clusters. ``'auto'`` chooses the number with the most support; ``'small-groups'`` finds duplicates
        and other groups of a few entities.
    id_column : str, optional
        Column that identifies the entities and joins the views; by default a column that is unique is found.
    kinds : mapping of view name to str, optional
        Kinds of views in place of the detected ones: ``'numbers'``, ``'counts'``, ``'text'``, ``'names'``,
        ``'categories'``, ``'links'``, ``'similarities'`` or ``'images'``.
    encode : mapping of view name to str, path or callable, optional
        How texts, links and images become numbers: for texts ``'words'``, ``'lsa'``, ``'semantic'``, several joined
        by ``+``, the path of a local model, or a function that takes a list of strings and returns an array.
    labels : str or array-like, optional
        Known classes, for scoring only: the name of a column, or one class per row.
    seeds : str or array-like, optional
        Known classes of some entities, which the fit uses: the name of a column, or one class per row; None, NaN or an
        empty string where a class is not known.
    constraints : Constraints or path, optional
        Pairs of entities that belong together or apart, by id or by the position of the row.
    describe : str, sequence of str, DataFrame, or mapping of str to array-like, optional
        Columns that describe the clusters and are never used to find them: names of columns of the data, such as
        ``["age", "months/event"]``, where a time and whether the event has happened are joined by a slash;
        ``"table.csv:age,sex"`` for columns of another file, joined by its ids; or the values themselves, one row per
        entity. The report compares the clusters in them.
    mapping : path or sequence of paths, default=()
        Tables that join views with different ids, each with two columns that are called like two views.
    method : str, default='auto'
        Name of the method, as ``consilience methods`` lists them; ``'auto'`` is `Consilience`.
    options : mapping, optional
        Options of the method, such as ``{"eta": 1}``, or ``{"families.text": "multinomial"}`` for one view.
    outliers : float or 'auto', optional
        Share of the entities to leave out of all clusters. By default none is left out.
    assess : bool, default=True
        Whether to assess how reliable the clusters are, which takes about as long as the fit.
    title : str, optional
        Title of the report.
    names : mapping or path, optional
        Names of clusters in place of the automatic ones, by the number or the automatic name of a cluster:
        ``{0: "knives"}``; or a table with columns ``cluster`` and ``name``, or a JSON file with an object.
    namer : callable, optional
        A function that names clusters. It gets a `consilience.explain.ClusterDescription` and returns a string. If it
        fails for a cluster, the cluster keeps its automatic name, and a note says so. `names` counts more.
    random_state : int, default=0
        Seed of the random numbers.
    verbose : bool, default=False
        Whether to show progress. The logger ``consilience`` gets a message per step in any case.

    Returns
    -------
    Result
        Clusters, their names, the model and the report.

    Examples
    --------
    >>> import numpy as np
    >>> import consilience as cs
    >>> rng = np.random.default_rng(0)
    >>> center = np.repeat([0.0, 5.0], 40)[:, None]
    >>> data = {"size": center + rng.normal(size=(80, 2)), "weight": center + rng.normal(size=(80, 3))}
    >>> result = cs.cluster(data, n_clusters=2, assess=False)
    >>> sorted(np.bincount(result.labels).tolist())
    [40, 40]
    """
    data = name_views(data)
    new_names: Any = str(names) if is_path(names) else names
    named = None if is_path(names) else names
    _check_mappings(kinds=kinds, encode=encode, options=options, names=named)
    _check_values(outliers, random_state, namer, assess, id_column=id_column, method=method, title=title)
    mappings: Any = [mapping] if is_path(mapping) else mapping
    if not isinstance(mappings, list | tuple) or not all(map(is_path, mappings)):
        raise TypeError(f"mapping must be the path of a table, or a list of paths, got {describe_value(mapping)}")
    with raise_in_python_terms():
        run_options = RunOptions(
            view=list_files(data),
            id=None if id_column is None else str(id_column),
            mapping=[str(path) for path in mappings],
            kind={str(name): str(kind) for name, kind in (kinds or {}).items()},
            encode={str(name): way if callable(way) else str(way) for name, way in (encode or {}).items()},
            labels=str(labels) if is_path(labels) else None,
            seeds=str(seeds) if is_path(seeds) else None,
            constraints=str(constraints) if is_path(constraints) else None,
            describe=list_described(describe) or (),
            method=str(method),
            settings={str(name): value for name, value in (options or {}).items()},
            k=_check_n_clusters(n_clusters),
            seed=random_state,
            outliers=outliers,
            assess=bool(assess),
            title=None if title is None else str(title),
            names=new_names,
            namer=namer,
        )
        log = RunLog(verbose)
        memory = collect_memory(data, labels, seeds, constraints, describe)
        return Result(run_pipeline(run_options, log, memory), data)


def _check_n_clusters(n_clusters: Any) -> Any:
    """Return the number of clusters, 'auto' or 'small-groups', as Python's own types."""
    if is_integer(n_clusters, least=1) and not is_truth_value(n_clusters):
        return int(n_clusters)
    if isinstance(n_clusters, str) and n_clusters in ("auto", "small-groups"):
        return str(n_clusters)
    raise ValueError(
        f"n_clusters must be an integer of 1 or more, 'auto' or 'small-groups', got {describe_value(n_clusters)}"
    )


def _check_mappings(**mappings: Any) -> None:
    """Refuse arguments that are no mappings, before the data is read."""
    for name, value in mappings.items():
        if value is not None and not isinstance(value, Mapping):
            raise TypeError(f"{name} must be a mapping, such as {{{EXAMPLES[name]}}}, got {describe_value(value)}")


def _check_values(outliers: Any, random_state: Any, namer: Any, assess: Any, **texts: Any) -> None:
    """Refuse values that no setting has, and `texts` that are no strings."""
    for name, value in texts.items():
        if not isinstance(value, str) and (value is not None or name == "method"):
            raise TypeError(f"{name} must be a string, such as {TEXTS[name]!r}, got {describe_value(value)}")
    is_share = is_real(outliers) and 0 < outliers < 0.5
    if outliers is not None and not is_share and not (isinstance(outliers, str) and outliers == "auto"):
        raise ValueError(f"outliers must be a number between 0 and 0.5, 'auto' or None, got {describe_value(outliers)}")
    if namer is not None and not callable(namer):
        raise TypeError(
            f"namer must be a function of a ClusterDescription that returns a name, got {describe_value(namer)}"
        )
    if not is_truth_value(assess):
        raise TypeError(f"assess must be True or False, got {describe_value(assess)}")
    if not is_integer(random_state, least=0):
        raise ValueError(f"random_state must be an integer of 0 or more, got {describe_value(random_state)}")
