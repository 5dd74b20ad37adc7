"""The result of a run: clusters with names, the model that predicts them, and the report."""

from __future__ import annotations

import html
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._describe import describe_value
from .._numbers import is_integer, is_real
from .._warnings import find_stack_level
from ..data import Constraints, Table, Views
from ..explain import Hierarchy, OriginalColumn
from ..files import check_complete, stage_file
from ..files.annotate import annotate_mudata
from ..report import Report
from .changes import Changes, RunUpdate, compare_labels
from .figure import DISPLAYS, draw_run
from .folder import LABELS, SUMMARY, open_model, read_summary, refuse_without_data, restore_run, write_run
from .frame import build_frame
from .level import Level
from .log import RunLog, count_noun
from .memory import collect_memory, is_path, list_described, list_files, name_views
from .options import RunOptions, parse_pairs
from .prediction import Prediction, predict_clusters
from .run import PipelineRun
from .sheets import build_tables
from .steps import run_pipeline
from .stored_data import DATA
from .update import PreviousRun
from .wording import put_in_python_terms, raise_in_python_terms
from .workbook import write_workbook
from .write_back import collect_cell_results, describe_run

if TYPE_CHECKING:
    from ..workbench.serve import RunningWorkbench

MAX_SHOWN = 20  # clusters in the representation
VERDICT_COLORS = {"stable": "#2E7D32", "mixed": "#B8860B", "do not rely": "#B71C1C"}


class Result:
    """Clusters with names, the model that predicts them, and the report.

    `consilience.cluster` and `consilience.load_run` return it.

    Attributes
    ----------
    labels : ndarray of shape (n_entities,)
        Cluster of each entity, in the order of the data; -1 for outliers and for rows without any data.
    ids : ndarray of shape (n_entities,)
        Ids of the entities, or the numbers of their rows.
    names : list of str
        A name for each cluster, from what marks it.
    frame : DataFrame or Table
        The data with cluster, name, confidence, second choice and the clusters by each view. Columns of several
        frames and files are joined like the views; matrices are left out. It is a frame of the library of the first
        frame in the data, and a `Table` if there is none (``frame.to_pandas()`` converts it).
    views : Views
        The data as numbers, of the entities with data.
    model : estimator
        The fitted model.
    report : Report
        The report, which Jupyter shows; ``report.save("report.html")`` writes it.
    summary : dict
        Facts about the run, as in summary.json.
    notes : list of str
        What was noticed on the way, such as columns that were left out.
    prediction_notes : list of str
        What the last call of `predict` or `predict_frame` noticed, and gave as warnings.
    assessment : Assessment or None
        How reliable the clusters are.
    map : ndarray of shape (n_entities, 2)
        Position of each entity on the map of all views.
    hierarchy : Hierarchy
        The tree that merges the clusters; ``at(n)`` gives n groups.

    Examples
    --------
    >>> import consilience as cs
    >>> data = {"size": [[1.0], [1.1], [5.0], [5.2]], "weight": [[2.0], [2.2], [9.0], [9.1]]}
    >>> result = cs.cluster(data, n_clusters=2, method="k-means", assess=False)
    >>> result.summary["sizes"], result.views.names
    ([2, 2], ('size', 'weight'))
    >>> bool(result.labels[0] == result.labels[1] != result.labels[2])
    True
    """

    def __init__(
        self,
        run: PipelineRun | None,
        data: Any = None,
        *,
        folder: Path | None = None,
        knowledge: Mapping[str, Any]
        | None = None,  # labels, seeds, constraints and descriptions of a run that is loaded
        encode: Mapping[str, Callable[..., Any]] | None = None,  # functions of a run that is loaded
    ) -> None:
        self._data, self._folder, self._knowledge, self._encode = (
            name_views(data),
            folder,
            knowledge or {},
            encode or {},
        )
        if run is not None:
            self._run = run
            self._saved, self.summary = run.collect_saved(), run.facts
            self.notes = [put_in_python_terms(note) for note in run.notes]
        else:
            assert folder is not None, "a result comes from a run or from a folder"
            check_complete(folder)
            self._saved, self.summary = open_model(folder), read_summary(folder / SUMMARY)
            self.notes = [put_in_python_terms(note) for note in self.summary.get("notes", [])]
            for part in self._saved["parts"].values():
                if part.content in self._encode and hasattr(part.encoder, "attach"):
                    part.encoder.attach(self._encode[part.content])
        self.prediction_notes: list[str] = []
        self.model = self._saved["estimator"]
        is_kept = np.ones(len(self.model.labels_), bool)
        self._saved = {"names": [], "ids": None, "kept": is_kept, **self._saved}  # runs of earlier versions lack these
        self.names: list[str] = self._saved["names"]
        self.assessment = self._saved["assessment"]

    @cached_property
    def _run(self) -> PipelineRun:
        """The run with its data, which is read again if the result was loaded from a folder."""
        with raise_in_python_terms():
            assert self._folder is not None, "a result without a run comes from a folder"
            knowledge = {name: value for name, value in self._knowledge.items() if value is not None}
            encode = {**parse_pairs("encode", self.summary["inputs"].get("encode") or ()), **self._encode}
            if self._data is None and not knowledge and (self._folder / DATA).exists():
                options = RunOptions(encode=encode)
                return restore_run(self._folder, self.summary, self._saved, options, RunLog())
            views = self.summary["inputs"]["view"] if self._data is None else list_files(self._data)
            if self._data is None and not views:
                refuse_without_data(self._folder)
            self._check_knowledge(knowledge)
            memory = collect_memory(self._data, **knowledge, files=views)
            names: dict[str, Any] = {name: str(value) for name, value in knowledge.items() if is_path(value)}
            names["describe"] = list_described(knowledge.get("describe")) or ()
            options = RunOptions.select({"view": views, "encode": encode, **names})
            return restore_run(self._folder, self.summary, self._saved, options, RunLog(), memory)

    def _check_knowledge(self, knowledge: Mapping[str, Any]) -> None:
        """Refuse to read the data of a run again without the seeds and the functions that were in memory."""
        has_seeds = "seeds" in knowledge or self.summary["inputs"].get("seeds") is not None
        if self.summary.get("seeds") is not None and not has_seeds:
            raise ValueError(
                f"{self._folder} was made with seeds in memory: give them again, cs.load_run(folder, data, seeds=seeds)"
            )
        lacking = [name for name in self.summary.get("functions", []) if name not in self._encode]
        if lacking:
            raise ValueError(
                f"a Python function has encoded {lacking[0]!r}, which {self._folder} does not contain: give it "
                f"again, cs.load_run(folder, data, encode={{{lacking[0]!r}: function}})"
            )

    @property
    def labels(self) -> np.ndarray:
        """Cluster of each entity, in the order of the data; -1 for outliers and for rows without any data."""
        labels = np.full(len(self._saved["kept"]), -1)
        labels[self._saved["kept"]] = np.asarray(self.model.labels_)
        return labels

    @property
    def ids(self) -> np.ndarray:
        """Ids of the entities, or the numbers of their rows."""
        ids = self._saved["ids"]
        return np.arange(len(self._saved["kept"])) if ids is None else np.asarray(ids, dtype=object)

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return int(self.summary["clusters"])

    @property
    def sizes(self) -> list[int]:
        """Number of entities in each cluster."""
        return list(self.summary["sizes"])

    @property
    def views(self) -> Views:
        """The data as numbers, of the entities with data."""
        return self._run.data.views

    @cached_property
    def report(self) -> Report:
        """The report, which Jupyter shows; ``report.save("report.html")`` writes it."""
        return self._run.build_report()

    @cached_property
    def frame(self) -> Any:
        """The data with cluster, name, confidence, second choice, and the clusters by each view."""
        run = self._run
        return build_frame(self._data, run.data.reading, run.data.prepared, run.entity_columns)

    @property
    def clusters(self) -> Table:
        """One row per cluster: number, name and size."""
        numbers = [
            number for number, size in enumerate(self.sizes) if size
        ]  # those of vanished clusters have no entities
        names = dict(enumerate(self.names))
        return Table(
            {
                "cluster": numbers,
                "name": [names.get(number, f"cluster {number}") for number in numbers],
                "size": [self.sizes[number] for number in numbers],
            }
        )

    def predict(self, data: Any) -> np.ndarray:
        """Find the clusters of new entities.

        Parameters
        ----------
        data : as for `consilience.cluster`
            New entities with the columns that the model was fitted on; views may be left out.

        Returns
        -------
        ndarray of shape (n_entities,)
            Cluster of each entity, -1 for rows without any data.

        Warns
        -----
        UserWarning
            If cells cannot be read, rows have no data, or clearly more rows than by chance fit no cluster. The texts
            are also in `prediction_notes`.
        """
        return self._predict(data).all_labels

    def predict_frame(self, data: Any) -> Any:
        """Return new entities with their cluster, its name, its probability, and the second choice.

        Parameters
        ----------
        data : as for `consilience.cluster`
            New entities with the columns that the model was fitted on; views may be left out.

        Returns
        -------
        DataFrame or Table
            The data with columns added. ``fits`` says whether an entity is like those of the fit.

        Warns
        -----
        UserWarning
            As for `predict`.
        """
        data = name_views(data)
        prediction = self._predict(data)
        return build_frame(data, prediction.reading, prediction.prepared, prediction.columns)

    def _predict(self, data: Any) -> Prediction:
        data, log = name_views(data), RunLog()
        with raise_in_python_terms():
            prediction = predict_clusters(self._saved, RunOptions(view=list_files(data)), log, collect_memory(data))
        self.prediction_notes = log.notes
        usual = {put_in_python_terms(note) for note in prediction.reading.joins}
        for note in log.notes:
            if note not in usual:
                warnings.warn(note, UserWarning, stacklevel=find_stack_level())
        return prediction

    def save(self, folder: str | os.PathLike[str], *, overwrite: bool = False, include_data: bool = True) -> Path:
        """Write labels, sheets, summary, model, report and settings to a folder, completely or not at all.

        Parameters
        ----------
        folder : path
            The folder, which `consilience.load_run` and ``consilience predict`` read.
        overwrite : bool, default=False
            Whether to replace the files of an earlier run.
        include_data : bool, default=True
            Whether to write data that was in memory to ``data.zip`` in the folder, so that the folder alone is enough
            for everything that the result shows. Without it, `consilience.load_run` needs the data again for
            `views`, `report`, `frame`, `plot` and `save`.

        Returns
        -------
        Path
            The folder.
        """
        if not is_path(folder):
            raise TypeError(f"folder must be a path, such as 'groups', got {describe_value(folder)}")
        out = Path(folder)
        with raise_in_python_terms():
            write_run(self._run, out, RunLog(), overwrite=overwrite, include_data=include_data)
        return out

    def rename(self, names: Mapping[Any, str] | str | os.PathLike[str]) -> Result:
        """Return the result with other names of clusters, without fitting again.

        Parameters
        ----------
        names : mapping or path
            New names by the number or the present name of a cluster, such as ``{0: "knives"}``; or a table with columns
            ``cluster`` and ``name``, or a JSON file with an object.

        Returns
        -------
        Result
            The result with the names in its frame, its report and its predictions.
        """
        new_names: Any = str(names) if is_path(names) else names
        if not isinstance(new_names, str | Mapping):
            raise TypeError(f"names must be a mapping, such as {{0: 'knives'}}, or a path, got {describe_value(names)}")
        with raise_in_python_terms():
            return Result(self._run.rename(new_names), self._data)

    @property
    def embedding(self) -> np.ndarray:
        """Coordinates of the entities with data in a space that all views share, 30 columns."""
        return self._run.joint_embedding

    def to_mudata(self, data: Any = None) -> Any:
        """Return a copy of single-cell data with the clusters in it.

        Parameters
        ----------
        data : MuData or AnnData, optional
            The data of the run, or data of the same cells; by default the data that was clustered.

        Returns
        -------
        MuData or AnnData
            A copy with clusters, confidence and the clusters by each view in ``obs``, the joint embedding and a map
            of it in ``obsm``, and facts about the run in ``uns``. Cells without data have no cluster.
        """
        cells = self._data if data is None else data
        if not hasattr(cells, "obs_names"):
            raise TypeError(f"data must be MuData or AnnData, got {type(cells).__name__}: to_mudata(mdata)")
        run = self._run
        return annotate_mudata(cells, collect_cell_results(run, run.data.prepared.names), describe_run(run))

    def to_excel(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
        """Write a workbook of the items and the groups, completely or not at all; it needs XlsxWriter.

        Parameters
        ----------
        path : path
            The file, such as ``"groups.xlsx"``. The sheet "items" has the data with the group of each item, the sheet
            "groups" what marks each group, and the sheet "about" the verdict and what the columns mean. Texts are never
            run as formulas.
        overwrite : bool, default=False
            Whether to replace a file.

        Returns
        -------
        Path
            The file.
        """
        if not is_path(path):
            raise TypeError(f"path must be a path, such as 'groups.xlsx', got {describe_value(path)}")
        out = Path(path)
        if out.suffix.lower() != ".xlsx":
            raise ValueError(f"path must end in .xlsx, got {str(path)!r}")
        with raise_in_python_terms(), stage_file(out, overwrite) as temporary:
            write_workbook(temporary, build_tables(self._run))
        return out

    @property
    def noun(self) -> str:
        """What the entities are, in the plural, such as 'products'."""
        return self._run.noun

    @property
    def columns(self) -> list[OriginalColumn]:
        """The columns of the data in their units, and those that only describe the clusters."""
        return self._run.columns

    def plot(self, kind: str = "map", *, ax: Any = None, **options: Any) -> Any:
        """Draw the result, as the report shows it.

        Parameters
        ----------
        kind : {'map', 'group', 'verdict', 'survival', 'hierarchy', 'described'}, default='map'
            What to draw: the map of all views, what marks a cluster (``cluster=3``), the verdict of the assessment,
            survival curves, the tree of the clusters, or columns that describe them.
        ax : Axes, optional
            Where to draw; by default a new figure.
        **options
            Further arguments of ``from_result`` of the display, such as ``color="price"`` of the map.

        Returns
        -------
        display
            The display of `consilience.plot`, such as `plot.JointMapDisplay`, already drawn.
        """
        if kind not in DISPLAYS:
            raise ValueError(f"kind={kind!r}: choose from {', '.join(map(repr, DISPLAYS))}")
        return DISPLAYS[kind].from_result(self, ax=ax, **options)

    def figure(self, kind: str = "all", *, groups: Sequence[int] | None = None, width: float = 180.0) -> Any:
        """Draw a figure for a paper, as ``consilience figure`` writes it.

        Parameters
        ----------
        kind : {'all', 'map', 'groups', 'verdict', 'survival', 'hierarchy', 'described'}, default='all'
            What to draw; ``'all'`` is a panel for each of map, verdict, survival and descriptions, as far as there are.
        groups : sequence of int, optional
            Clusters to draw in profiles, survival and descriptions, and to name on the map; by default the largest.
        width : float, default=180
            Width in mm.

        Returns
        -------
        Figure
            A figure of matplotlib, which Jupyter shows; ``figure.savefig("figure.pdf")`` writes it, and
            ``figure.get_label()`` is a caption.
        """
        if not is_real(width):
            raise TypeError(f"width must be a number of mm, got {describe_value(width)}")
        with raise_in_python_terms():
            return draw_run(self, kind, groups=groups, width=width)

    def update(
        self,
        data: Any = None,
        *,
        labels: Any = None,
        seeds: Any = None,
        constraints: Constraints | str | os.PathLike[str] | None = None,
        verbose: bool = False,
    ) -> Result:
        """Cluster new data with the settings of this result, and keep the numbers and names of its clusters.

        Clusters are matched by the entities that both have, by their ids; if these are too few, by what this model
        predicts for the new data. A cluster that is found again keeps its number and its name. Others get numbers that
        neither this result nor those before it have used.

        Parameters
        ----------
        data : as for `consilience.cluster`, optional
            This month's data, with the views and columns of this result. By default the files of this result are read
            again.
        labels, seeds, constraints : as for `consilience.cluster`, optional
            Those of the new data. Names of columns and files of seeds and constraints are those of this result unless
            you give others.
        verbose : bool, default=False
            Whether to show progress.

        Returns
        -------
        Result
            The new clusters; its `changes` say what moved, split, merged, appeared and vanished.

        Examples
        --------
        >>> import numpy as np
        >>> import consilience as cs
        >>> rng = np.random.default_rng(0)
        >>> center = np.repeat([0.0, 8.0], 40)[:, None]
        >>> may = {"size": center + rng.normal(size=(80, 2)), "weight": center + rng.normal(size=(80, 3))}
        >>> result = cs.cluster(may, n_clusters=2, assess=False)
        >>> june = {name: block[10:] for name, block in may.items()}
        >>> bool((result.update(june).labels == result.labels[10:]).all())
        True
        """
        data = name_views(data)
        with raise_in_python_terms():
            previous = PreviousRun(
                "the earlier result" if self._folder is None else str(self._folder), self._saved, self.summary
            )
            names = {"labels": labels, "seeds": seeds, "constraints": constraints}
            texts = {name: str(value) for name, value in names.items() if is_path(value)}
            has_seeds = seeds is not None or self.summary["inputs"].get("seeds") is not None
            if self.summary.get("seeds") is not None and not has_seeds:
                raise ValueError("this result has used seeds in memory: give those of the new data, seeds=...")
            files = [] if data is None else list_files(data)
            if data is None and not self.summary["inputs"]["view"]:
                raise ValueError("this result was made from data in memory: give the new data, update(data)")
            options = previous.collect_options({"view": files, **texts}, self._functions)
            if data is not None and not files:
                options = replace(options, view=[])
            memory = collect_memory(data, labels, seeds, constraints, files=options.view if data is None else ())
            return Result(run_pipeline(options, RunLog(verbose), memory, previous), data)

    def open(
        self, folder: str | os.PathLike[str] | None = None, *, port: int = 0, browser: bool = True, wait: bool = True
    ) -> RunningWorkbench:
        """Open the workbench: look at the groups in the browser, and correct them.

        Parameters
        ----------
        folder : path, optional
            Folder for the decisions. A result that was loaded has one; one in memory is saved there.
        port : int, default=0
            Port of this machine to listen on; 0 chooses a free one.
        browser : bool, default=True
            Whether to open the page in the browser.
        wait : bool, default=True
            Whether to return only after Ctrl-C. Otherwise the workbench runs until its ``close`` is called, or until
            the program ends.

        Returns
        -------
        RunningWorkbench
            Its ``url`` is the address of the page.
        """
        from ..workbench.serve import RunningWorkbench

        with raise_in_python_terms():
            running = RunningWorkbench(self, None if folder is None else Path(folder), port)
        if browser:
            running.show()
        if wait:
            print(f"The workbench is at {running.url}\nPress Ctrl-C to stop it.")
            with running:
                running.wait()
        return running

    @property
    def changes(self) -> Changes | None:
        """What changed since the result that `update` was called on; None if it was not."""
        update = RunUpdate.from_saved(self._saved.get("update"))
        if update is None:
            return None
        return update.describe(self.ids[self._saved["kept"]], np.asarray(self.model.labels_), self.names)

    def compare(self, other: Result) -> Changes:
        """Compare with a later result: which clusters were kept, split, merged, appeared or vanished.

        Parameters
        ----------
        other : Result
            Clusters of some of the same entities, by their ids.

        Returns
        -------
        Changes
            Printing it shows the changes in words.

        Examples
        --------
        >>> import consilience as cs
        >>> data = {"size": [[1.0], [1.1], [5.0], [5.2]], "weight": [[2.0], [2.2], [9.0], [9.1]]}
        >>> result = cs.cluster(data, n_clusters=2, method="k-means", assess=False)
        >>> result.compare(result).n_moved
        0
        """
        if not isinstance(other, Result):
            raise TypeError(f"other must be a Result, as consilience.cluster returns it, got {describe_value(other)}")
        is_kept = [result._saved["kept"] for result in (self, other)]
        return compare_labels(
            self.ids[is_kept[0]],
            self.model.labels_,
            other.ids[is_kept[1]],
            other.model.labels_,
            names1=self.names,
            names2=other.names,
            compared_by="rows" if self._saved["ids"] is None and other._saved["ids"] is None else "ids",
        )

    @property
    def _functions(self) -> dict[str, Any]:
        """The functions that have encoded views."""
        if "_run" in vars(self):
            return {name: encoding for name, encoding in self._run.data.choices.encode.items() if callable(encoding)}
        return dict(self._encode)

    @property
    def map(self) -> np.ndarray:
        """Position of each entity on the map of all views, two columns; NaN for rows without any data."""
        positions = np.full((len(self._saved["kept"]), 2), np.nan)
        positions[self._saved["kept"]] = self._run.layout
        return positions

    @property
    def hierarchy(self) -> Hierarchy:
        """The tree that merges the clusters; a run that was loaded contains it."""
        return self._saved.get("hierarchy") or self._run.hierarchy

    def at(self, n: int) -> Level:
        """Merge the clusters into fewer groups.

        Clusters that are similar in all views together merge first, see `consilience.explain.build_hierarchy`. A run
        that was loaded contains the names at the usual levels, ``result.hierarchy.levels``; other levels need its data.

        Parameters
        ----------
        n : int
            Number of groups, from 1 to the number of clusters. For more, run `consilience.cluster` with
            ``n_clusters=n``.

        Returns
        -------
        Level
            The groups, with labels, names and sizes.

        Examples
        --------
        >>> import consilience as cs
        >>> sizes, ages = [1.0, 1.1, 2.0, 2.1, 9.0, 9.1], [1.0, 1.2, 3.0, 3.1, 9.0, 9.2]
        >>> data = {"size": [[size] for size in sizes], "age": [[age] for age in ages]}
        >>> result = cs.cluster(data, n_clusters=3, method="k-means", assess=False)
        >>> sorted(result.at(2).sizes)
        [2, 4]
        """
        hierarchy = self.hierarchy
        if not is_integer(n, least=1):
            raise ValueError(f"n must be an integer of 1 or more, got {n!r}")
        if n > hierarchy.n_clusters:
            raise ValueError(
                f"n={n} is more than the {count_noun(hierarchy.n_clusters, 'cluster')} of this result, which can only "
                f"be merged: run cs.cluster(data, n_clusters={n})"
            )
        groups = hierarchy.cut(n)
        names = self._saved.get("level_names", {}).get(n) or self._run.name_level(n)
        merged = [np.flatnonzero(groups == group).tolist() for group in range(len(names))]
        return Level(np.append(groups, -1)[self.labels], names, merged)

    def _list_lines(self) -> list[str]:
        """Return the lines above the table of clusters."""
        n_entities, n_outliers = self.summary["entities"], self.summary["outliers"]
        outliers = f", {n_outliers:,} in none" if n_outliers else ""
        first = f"{count_noun(n_entities, 'entity', 'entities')} in {count_noun(self.n_clusters, 'cluster')}{outliers}"
        verdict = [] if self.assessment is None else [self.assessment.headline]
        return [f"{first}; views: {', '.join(self.summary['views'])}", *verdict]

    def __repr__(self) -> str:
        table = Table({name: column[:MAX_SHOWN] for name, column in self.clusters.items()})
        n_more = self.n_clusters - MAX_SHOWN
        more = [f"... and {n_more} more"] if n_more > 0 else []
        return "\n".join([*self._list_lines(), "", repr(table), *more])

    def _repr_html_(self) -> str:
        first, *verdict = self._list_lines()
        lines = f"<p>{html.escape(first)}</p>"
        if self.assessment is not None:
            style = f"border-left: 4px solid {VERDICT_COLORS[self.assessment.verdict]}; padding-left: 8px"
            lines += f'<p style="{style}"><strong>{html.escape(verdict[0])}</strong></p>'
        notes = "".join(f"<li>{html.escape(note)}</li>" for note in self.notes)
        details = f"<details><summary>Notes</summary><ul>{notes}</ul></details>" if notes else ""
        return f"<div>{lines}{self.clusters._repr_html_()}{details}</div>"


def load_run(
    folder: str | os.PathLike[str],
    data: Any = None,
    *,
    labels: Any = None,
    seeds: Any = None,
    constraints: Constraints | str | os.PathLike[str] | None = None,
    describe: Any = None,
    encode: Mapping[str, Callable[..., Any]] | None = None,
) -> Result:
    """Load the result of a run from its folder.

    Parameters
    ----------
    folder : path
        A folder that `Result.save` or ``consilience cluster`` has written.
    data : as for `consilience.cluster`, optional
        The data of the run, which must not have changed. The folder of a run from memory contains it, unless it was
        saved with ``include_data=False``. Of a run from files, `Result.views`, `Result.report` and `Result.frame` read
        the files again.
    labels, seeds, constraints, describe : as for `consilience.cluster`, optional
        Other classes for scores, or further columns to describe, if they were not used to find the clusters; a run from
        memory then needs its data, too, and the seeds and constraints that it had.
    encode : mapping of view name to callable, optional
        The functions that have encoded views of the run, which no file contains; `Result.predict` and `Result.update`
        need them.

    Returns
    -------
    Result

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import consilience as cs
    >>> data = {"size": [[1.0], [1.1], [5.0], [5.2]], "weight": [[2.0], [2.2], [9.0], [9.1]]}
    >>> result = cs.cluster(data, n_clusters=2, method="k-means", assess=False)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     loaded = cs.load_run(result.save(f"{folder}/run"))
    >>> bool(np.all(loaded.predict(data) == result.labels))
    True
    """
    path = Path(folder)
    if not (path / LABELS).exists():
        raise FileNotFoundError(f"{path} is not the folder of a run: it has no {LABELS}")
    knowledge = {"labels": labels, "seeds": seeds, "constraints": constraints, "describe": describe}
    return Result(None, data, folder=path, knowledge=knowledge, encode=encode)
