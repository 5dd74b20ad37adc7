"""Summarize a run: all facts for scripts, and the result in a few lines."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics.cluster import contingency_matrix, normalized_mutual_info_score

from ..assessment import Assessment
from ..data import Table
from ..explain import describe_support
from ..explain.confidence import describe_counted_views
from ..files.spec import join_pair
from ..metrics.classes import number_classes
from ..report.facts import AGREEMENT_CAVEAT
from ..report.sections.method import list_versions
from .constraints import describe_satisfied
from .descriptions import summarize_descriptions
from .log import RunLog, count_noun
from .mapping import summarize_mapping
from .reliance import describe_reliance
from .run import PipelineRun
from .seeds import describe_seeds
from .settings import describe_parameters, list_settings
from .single_views import SCORES, score_labels

# options that `consilience report` needs to read the files again
INPUTS = (
    *("view", "id", "mapping", "kind", "encode", "delimiter", "labels", "constraints", "seeds"),
    *("describe", "method", "settings", "k", "seed", "outliers", "assess", "title", "names"),
)


MAX_NAMES = 20  # clusters whose names are printed
UNSEEN = "entities it was not trained on (share: 0 is chance, 1 is perfect)"


def summarize_run(run: PipelineRun, log: RunLog) -> dict[str, Any]:
    """Return the content of summary.json, except the notes."""
    data, fitted, assessment, options = run.data, run.fitted, run.assessment, run.options
    model, views, prepared = fitted.estimator, data.views, data.prepared
    labels = np.asarray(model.labels_)
    placed = labels >= 0
    return {
        "entities": len(views),
        "left_out": int((~prepared.kept).sum()),
        "views": {
            name: {
                "kind": prepared.kinds[name],
                "columns": views[name].shape[1],
                "present": int(views.present[:, v].sum()),
            }
            for v, name in enumerate(views.names)
        },
        "method": data.method,
        "method_chosen": data.reason,
        "estimator": type(
            getattr(model, "model", model)
        ).__name__,  # a model with other numbers of clusters contains it
        "settings": {"given": list_settings(options.settings), "resolved": describe_parameters(model)},
        "seed": options.seed,
        "assessment": None if assessment is None else assessment.to_dict(),
        "clusters": len(np.unique(labels[placed])),
        "names": run.cluster_names,
        "given_names": run.given_names,
        "sizes": np.bincount(labels[placed]).tolist(),
        "outliers": int((~placed).sum()),
        "agreement": dict(zip(views.names, model.agreement_, strict=True)),
        "contested": int(run.is_contested.sum()),
        "mean_confidence": float(np.nanmean(run.confidence)) if np.isfinite(run.confidence).any() else None,
        "view_information": getattr(model, "view_information_", None),
        "runner_up": describe_runner_up(model, data.classes),
        "view_weights": getattr(model, "view_weights_", None),
        "rounds": getattr(model, "n_iter_", None),
        "converged": getattr(model, "converged_", None),
        "selection": None
        if fitted.selection is None
        else {
            "small_groups": fitted.has_small_groups,
            "reason": fitted.selection.reason,
            "supported": list(fitted.selection.supported),
            "sentences": list(fitted.selection.sentences),
            "table": fitted.selection.table,
        },
        "encodings": data.choices.tables,
        "mapping": summarize_mapping(prepared.entities),
        "constraints": None if data.file_constraints is None else data.file_constraints.count_satisfied(labels),
        "seeds": None if data.seeds is None else data.seeds.describe(labels),
        "descriptions": summarize_descriptions(labels, data.descriptions),
        "scores": None if data.classes is None else score_labels(data.classes[placed], labels[placed]),
        "scored": None if data.classes is None else int((data.classes[placed] != "").sum()),
        "view_errors": None
        if data.classes is None
        else {
            name: compute_matched_error(data.classes[view_labels >= 0], view_labels[view_labels >= 0])
            for name, view_labels in model.view_labels_.items()
        },
        "comparison": run.comparison,
        "changes": None
        if run.update is None or run.changes is None
        else {"previous": run.update.origin, **run.changes.to_dict(), "next_cluster": run.update.next_cluster},
        "seconds": log.seconds,
        "versions": list_versions(),
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": options.command_line,
        "functions": [name for name, encoding in data.choices.encode.items() if callable(encoding)],
        "inputs": {name: getattr(options, name) for name in INPUTS}
        | {
            "settings": list_settings(options.settings),
            "kind": [join_pair(name, kind) for name, kind in options.kind.items()],
            "encode": [
                join_pair(name, encoding) for name, encoding in data.choices.encode.items() if not callable(encoding)
            ],
            "names": options.names if isinstance(options.names, str) else None,
        },
    }


def describe_runner_up(model: Any, classes: np.ndarray | None) -> dict[str, Any] | None:
    """Return the sizes of the grouping that the views support as well, how similar it is, and its scores."""
    labels = getattr(model, "runner_up_", None)
    if labels is None:
        return None
    placed = labels >= 0
    both = placed & (np.asarray(model.labels_) >= 0)
    return {
        "sizes": np.bincount(labels[placed]).tolist(),
        "similarity": float(normalized_mutual_info_score(model.labels_[both], labels[both])),
        "scores": None if classes is None else score_labels(classes[placed], labels[placed]),
    }


def compute_matched_error(classes: np.ndarray, labels: np.ndarray) -> float:
    """Return the share of entities outside the class that their cluster matches, with a one-to-one matching."""
    has_class = classes != ""
    if not has_class.any():
        return float("nan")
    table = contingency_matrix(number_classes(classes[has_class])[1], labels[has_class])
    return 1 - float(table[linear_sum_assignment(table, maximize=True)].sum() / has_class.sum())


def describe_result(facts: dict[str, Any], title: str, comparison: Table | None, assessment: Assessment | None) -> str:
    """Describe the result of the method called `title` in a few lines, beginning with its reliability."""
    lines = [] if assessment is None else [*describe_reliance(assessment), ""]
    small_groups = facts["selection"] is not None and facts["selection"]["small_groups"]
    shows_views = facts["clusters"] > 1 and not small_groups  # small groups cannot be predicted from other entities
    noun, sizes = "cluster", f"size{'' if facts['clusters'] == 1 else 's'} {list_sizes(facts['sizes'])}"
    if small_groups:
        noun, sizes = "group", count_by_size(facts["sizes"])
    n_outliers = facts["outliers"]
    outliers = f"; {count_noun(n_outliers, 'entity fits', 'entities fit')} no cluster" if n_outliers else ""
    lines.append(f"{count_noun(facts['clusters'], noun)} by {title} ({facts['method_chosen']}), {sizes}{outliers}")
    if shows_views:
        lines += list_clusters(facts["names"], facts["sizes"])
    if len(facts["views"]) > 1 and shows_views:
        agreement = np.array(list(facts["agreement"].values()), dtype=np.float64)
        lines += describe_agreement(agreement[~np.eye(len(agreement), dtype=bool)], facts, assessment)
    elif len(facts["views"]) == 1:
        lines.append("There is only one view, so its clusters cannot be compared with those of another view.")
    if facts["runner_up"] is not None:
        lines.append(
            "Two groupings are equally supported by your views: the one above, and another of sizes "
            f"{list_sizes(facts['runner_up']['sizes'])} (column alternative in labels.csv). "
            "The data alone cannot decide between them."
        )
    if facts["constraints"] is not None:
        lines.append(describe_satisfied(facts["constraints"]))
    if facts["seeds"] is not None:
        lines.append(describe_seeds(facts["seeds"]))
    if facts["descriptions"]:
        lines += ["", "What describes the clusters, and was not used to find them"]
        lines += [f"  {row['column']}: {row['sentence']}" for row in facts["descriptions"]]
    if facts["scores"] is not None:
        is_partial = facts["scored"] < facts["entities"]
        among = f" (scored on {facts['scored']:,} of {facts['entities']:,} entities)" if is_partial else ""
        lines.append(
            f"Against the known labels{among}: " + ", ".join(f"{name} {facts['scores'][name]:.3f}" for name in SCORES)
        )
        errors = [error for error in facts["view_errors"].values() if error == error]
        if errors and facts["clusters"] > 1:
            shares = " to ".join(dict.fromkeys(f"{error:.0%}" for error in (min(errors), max(errors))))
            lines.append(
                f"With clusters matched to classes one to one, the views are wrong for {shares} of the entities."
            )
    if facts["view_information"] is not None and shows_views:
        lines += ["", f"How well each view predicts the clusters of {UNSEEN}", repr(facts["view_information"])]
        if assessment is None and (support := describe_support(facts["view_information"])):
            lines.append(support)
    if comparison is not None:
        lines += ["", repr(comparison)]
    return "\n".join(lines)


def list_clusters(names: list[str], sizes: list[int]) -> list[str]:
    """Return a line per cluster with its name, for the first 20; none if no cluster has a name of its own."""
    if all(name == f"cluster {number}" for number, name in enumerate(names)):
        return []
    width = len(f"{max(sizes):,}")
    clusters = [number for number, size in enumerate(sizes) if size]
    lines = [f"  {number:2}  {sizes[number]:{width},}  {names[number]}" for number in clusters[:MAX_NAMES]]
    return [*lines, *(["  ..."] if len(clusters) > MAX_NAMES else [])]


def list_sizes(sizes: list[int]) -> str:
    """Write the sizes of clusters that are not empty, the first 20 of them."""
    sizes = [size for size in sizes if size]
    return ", ".join(f"{size:,}" for size in sizes[:20]) + (" ..." if len(sizes) > 20 else "")


def count_by_size(sizes: list[int]) -> str:
    """Write how many groups there are of each size, the smallest first: "23 of 1 entity, 40 of 2"."""
    numbers, n_groups = np.unique(sizes, return_counts=True)
    first, *others = [f"{n:,} of {size:,}" for size, n in zip(numbers.tolist(), n_groups.tolist(), strict=True)]
    return ", ".join([f"{first} {'entity' if numbers[0] == 1 else 'entities'}", *others])


def describe_agreement(pairs: np.ndarray, facts: dict[str, Any], assessment: Assessment | None) -> list[str]:
    """Say how much the views agree and, without an assessment, that this does not show that they are right."""
    if np.isnan(pairs).all():
        return ["No entity has two views, so the clusters of the views cannot be compared."]
    n_contested, confirmed = facts["contested"], None if assessment is None else assessment.confirmed
    verb = "is" if n_contested == 1 else "are"
    contested_words = f"{n_contested:,} of {facts['entities']:,} {verb} contested"
    contested_words += describe_counted_views(len(facts["views"]), confirmed)
    first = f"Two views agree on {np.nanmean(pairs):.0%} of the entities on average; {contested_words}."
    return [first, AGREEMENT_CAVEAT] if assessment is None else [first]
