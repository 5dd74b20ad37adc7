"""``--write-back FILE``: a copy of the single-cell file with the clusters in it."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from .._version import __version__
from ..explain import joint_embedding, joint_map
from ..files import parse_view
from ..files.annotate import SUFFIXES, check_write_back, collect_results, write_annotated
from ..registry import DEFAULT_METHOD, find_estimator
from .fitting import FittedRun
from .loading import LoadedData
from .terminal import Terminal, UsageError


def find_annotated_input(options: argparse.Namespace) -> Path | None:
    """Return the single-cell file that is copied, None without --write-back; refuse what cannot be written."""
    if options.write_back is None:
        return None
    target = Path(options.write_back)
    paths = dict.fromkeys(parse_view(text).path for text in options.view)
    sources = [path for path in paths if path.suffix.lower() in SUFFIXES]
    if not sources:
        raise UsageError(
            "--write-back adds the clusters to a copy of a single-cell file, and no view is .h5ad or .h5mu"
        )
    if len(sources) > 1:
        raise UsageError(
            f"--write-back takes one single-cell file, got {' and '.join(map(str, sources))}: join them in one .h5mu"
        )
    if target.exists() and any(path.is_file() and path.samefile(target) for path in paths):
        raise ValueError(f"--write-back {target} is an input file, which is never changed: choose another name")
    check_write_back(sources[0], target, options.force)
    return sources[0]


def write_back(
    source: Path | None,
    data: LoadedData,
    fitted: FittedRun,
    confidence: np.ndarray,
    options: argparse.Namespace,
    terminal: Terminal,
) -> None:
    """Write the copy of the single-cell file with clusters, confidence and joint embedding, if there is to be one."""
    if source is None:
        return
    kinds, model = data.prepared.kinds, fitted.estimator
    affinity = {name: "precomputed" if kinds[name] == "similarities" else "auto" for name in data.views.names}
    with terminal.step("computing the joint embedding", "computed the joint embedding"):
        views = data.prepare_for(find_estimator(DEFAULT_METHOD))  # normalized, also if the method takes raw counts
        embedding = joint_embedding(views, affinity=affinity, random_state=options.seed)
        drawn = joint_map(embedding, random_state=options.seed)
    names = data.prepared.names
    if data.prepared.view_ids:  # the views have different ids: those of the file identify its cells
        view = next(content.name for content in data.reading.contents if content.origin.startswith(str(source)))
        names = data.prepared.view_ids[view]
    results = collect_results(
        names,
        model.labels_,
        confidence=confidence,
        view_labels=model.view_labels_,
        embedding=embedding,
        joint_map=drawn,
    )
    labels = np.asarray(model.labels_)
    facts: dict[str, Any] = {
        "version": __version__,
        "method": data.method,
        "n_clusters": len(np.unique(labels[labels >= 0])),
        "seed": options.seed,
        "views": list(data.views.names),
        "command": str(options.command_line),
    }
    target = Path(options.write_back)
    with terminal.step(f"writing {target}", f"wrote {target}"):
        write_annotated(source, target, results, facts, options.force)
    terminal.print_result(f"\nThe clusters are in obs['consilience'] of {target}, a copy of {source}.")
