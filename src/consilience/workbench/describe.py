"""What the page shows of items, groups and decisions, as values of JSON."""

from __future__ import annotations

import base64
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import normalized_mutual_info_score

from ..assessment.reference import choose_words
from ..data.links import label_components
from ..explain import Difference, find_differences, profile
from ..explain.names import choose_names
from ..explain.terms import count_terms
from ..metrics.classes import number_classes
from ..pipeline.changes import join_words
from ..pipeline.columns import list_times
from ..pipeline.log import count_noun
from ..report.markup import format_number
from ..report.pack import pack_names, pack_numbers
from .clustering import Clustering
from .knowledge import RUN, DecisionSet, Entry, Link, find_contradiction
from .measurements import describe_cell, list_measurements
from .opening import OpenedRun

MAX_PICTURES = 300  # that are sent with the list of the items; others are sent with the item
MAX_FEATURES = 8  # of an item in a sparse view
N_EXAMPLES = 6  # typical and borderline members of a group
N_MARKS = 6  # per view and group
MAX_TEXT = 1500  # characters
MAX_ID = 80  # characters of an id in a sentence
MAX_LISTED_ROWS = 50  # of a decision
SAME_GROUP = 0.5  # share of the items of two groups that they have in common, from which the name is kept


def estimate_confidence(opened: OpenedRun, clustering: Clustering) -> np.ndarray:
    """Return the confidence in the group of each item, by the assessment of the run; NaN if it has none."""
    assessment = opened.run.assessment
    margin = np.where(clustering.compact >= 0, clustering.clarity, np.nan)
    return np.full(len(margin), np.nan) if assessment is None else assessment.estimate_confidence(margin)


def round_confidence(confidence: np.ndarray) -> float | None:
    """Return the mean of confidences in whole percents, None if none is known."""
    finite = confidence[np.isfinite(confidence)]
    return round(float(finite.mean()), 2) if len(finite) else None


def pack_confidence(opened: OpenedRun, clustering: Clustering) -> dict[str, str] | None:
    """Return the confidence in the group of each item in percent, 255 if it is unknown; None if all are."""
    confidence = estimate_confidence(opened, clustering)
    is_known = np.isfinite(confidence)
    return pack_numbers(np.round(np.where(is_known, 100 * confidence, 255)), "u1") if is_known.any() else None


def describe_items(opened: OpenedRun, title: str, folder: str) -> dict[str, Any]:
    """Return what does not change: ids, texts, and positions on all maps."""
    data = opened.data
    classes = None
    if data.classes is not None:
        values = [str(value) for value in data.classes.tolist()]
        names = sorted({value for value in values if value})[:255]  # an empty text is an unknown class
        codes = {name: code for code, name in enumerate(names)}
        classes = {"names": names, "values": pack_numbers([codes.get(value, 255) for value in values], "u1")}
    pictures = {}
    if opened.thumbnails is not None and opened.n_items <= MAX_PICTURES:
        pictures = {row: encode_picture(opened.thumbnails(row)) for row in range(opened.n_items)}
    return {
        "title": title,
        "folder": folder,
        "noun": opened.run.noun,
        "n": opened.n_items,
        "ids": pack_names([flatten_text(name) for name in opened.ids]),
        "texts": pack_names([flatten_text(text) for text in opened.texts]),
        "layout": pack_numbers(opened.layout.T.ravel(), "u2"),
        "views": [
            {
                "name": name,
                "layout": pack_numbers(opened.view_layouts[name].T.ravel(), "u2"),
                "n_present": int(data.views.present[:, v].sum()),
            }
            for v, name in enumerate(data.views.names)
        ],
        "pictures": {row: picture for row, picture in pictures.items() if picture is not None},
        "classes": classes,
        "words": choose_words(np.arange(101) / 100).tolist(),  # by the confidence in percent
    }


def flatten_text(text: str) -> str:
    """Return a text on one line."""
    return " ".join(text.split())


def encode_picture(content: bytes | None) -> str | None:
    """Return a picture as an address that contains it."""
    return None if content is None else f"data:image/jpeg;base64,{base64.b64encode(content).decode('ascii')}"


def name_groups(opened: OpenedRun, clustering: Clustering) -> dict[int, str]:
    """Return the name of each group without decisions: that of the run, or the terms that mark a changed group."""
    run = opened.run
    names: dict[int, str] = {}
    is_changed = []
    for number in clustering.numbers.tolist():
        before, now = run.labels == number, clustering.labels == number
        if number < len(run.cluster_names) and (before & now).sum() >= SAME_GROUP * (before | now).sum():
            names[number] = run.cluster_names[number]
        else:
            is_changed.append(number)
    if is_changed:
        automatic = choose_names(count_terms(clustering.compact, opened.data.views, run.texts, list_times(opened.data)))
        for number in is_changed:
            group = clustering.find_group(number)
            is_marked = automatic[group] != f"cluster {group}"  # by any term
            names[number] = automatic[group] if is_marked else f"group {number}"
    return names


def add_decided_names(names: Mapping[int, str], decisions: DecisionSet) -> dict[int, str]:
    """Return the names of groups with those that a person gave them; no two are called alike."""
    decided = {number: name for number, name in decisions.names.items() if number in names}
    return number_equal_names({**names, **decided})


def number_equal_names(names: Mapping[int, str]) -> dict[int, str]:
    """Return names in which no two groups are called alike: later ones get their number."""
    unique: dict[int, str] = {}
    for number, name in names.items():
        while name in unique.values():
            name = f"{name} ({number})"
        unique[number] = name
    return unique


def describe_groups(opened: OpenedRun, clustering: Clustering, names: Mapping[int, str]) -> list[dict[str, Any]]:
    """Return the groups as they stand in the list."""
    confidence = estimate_confidence(opened, clustering)
    first_numbers = set(opened.reclustering.first_labels.tolist())
    return [
        {
            "number": number,
            "name": names[number],
            "size": int(clustering.sizes[group]),
            "confidence": round_confidence(confidence[clustering.compact == group]),
            "is_new": number not in first_numbers,
        }
        for group, number in enumerate(clustering.numbers.tolist())
    ]


def score_groups(opened: OpenedRun, clustering: Clustering) -> dict[str, float] | None:
    """Compare the groups with the known classes; None if there are none."""
    classes = opened.data.classes
    if classes is None:
        return None
    is_scored = (classes != "") & (clustering.labels >= 0)
    if not is_scored.any():
        return None
    nmi = normalized_mutual_info_score(number_classes(classes[is_scored])[1], clustering.labels[is_scored])
    return {"nmi": round(float(nmi), 4)}


def describe_item(opened: OpenedRun, clustering: Clustering, decisions: DecisionSet, row: int) -> dict[str, Any]:
    """Return an item in all its views."""
    run, views = opened.run, opened.data.views
    label = int(clustering.labels[row])
    picture = None if opened.thumbnails is None else encode_picture(opened.thumbnails(row))
    columns = [
        {"name": column.name, "value": describe_cell(column.values[row], column.kind, column.unit)}
        for column in run.columns
        if column.kind != "text"
    ]
    described = []
    for v, name in enumerate(views.names):
        text = run.texts.get(name)
        is_present = bool(views.present[row, v])
        view_label = int(clustering.view_labels[name][row])
        ignored = decisions.knowledge.ignored.get(name)
        described.append(
            {
                "name": name,
                "is_present": is_present,
                "is_distrusted": ignored is not None and bool(ignored[row]),
                "group": None if view_label < 0 else view_label,
                "text": None if text is None or text[row] is None else str(text[row])[:MAX_TEXT],
                "features": list_features(opened, name, row) if is_present and text is None else [],
                "measurements": list_measurements(opened, name, row) if is_present and text is None else [],
                "nearest": [list_entry(opened, other) for other in opened.find_similar(name, row)],
            }
        )
    return {
        **list_entry(opened, row),
        "group": label,
        "second": int(clustering.numbers[clustering.second[row]]) if clustering.n_groups > 1 else None,
        "confidence": round_confidence(estimate_confidence(opened, clustering)[[row]]),
        "is_contested": bool(clustering.is_contested[row]),
        "picture": picture,
        "columns": [cell for cell in columns if cell["value"]],
        "views": described,
    }


def list_entry(opened: OpenedRun, row: int) -> dict[str, Any]:
    """Return an item as it stands in a list."""
    return {"row": int(row), "id": opened.ids[row], "text": opened.texts[row]}


def list_features(opened: OpenedRun, name: str, row: int) -> list[dict[str, str]]:
    """Return the columns with names in which an item's row of a sparse view is largest, such as its links."""
    block, features = opened.data.views[name], opened.data.views.feature_names(name)
    if not sp.issparse(block) or features is None:
        return []
    cells = sp.csr_array(block[[row]])
    order = np.argsort(-cells.data, kind="stable")[:MAX_FEATURES]
    return [
        {"name": str(features[cells.indices[place]]), "value": format_number(float(cells.data[place]))}
        for place in order
    ]


def describe_group(opened: OpenedRun, clustering: Clustering, names: Mapping[int, str], number: int) -> dict[str, Any]:
    """Return what marks a group, its members, and the groups near it."""
    group = clustering.find_group(number)
    run, views, labels = opened.run, opened.data.views, clustering.compact
    inside, confidence = labels == group, estimate_confidence(opened, clustering)
    marks = profile(views, labels, N_MARKS, texts=run.texts) if clustering.n_groups > 1 else {}
    differences = find_differences(labels, run.columns) if clustering.n_groups > 1 else [[] for _ in names]
    n_texts = sum(column.kind == "text" for column in run.columns)
    members = np.flatnonzero(inside)
    ordered = members[np.argsort(-clustering.clarity[members], kind="stable")].tolist()
    typical = ordered[:N_EXAMPLES]
    borderline = [row for row in ordered[::-1][:N_EXAMPLES] if row not in typical]
    support = []
    for name, view_labels in clustering.view_labels.items():
        has_view = inside & (view_labels >= 0)
        share = float((view_labels[has_view] == number).mean()) if has_view.any() else None
        support.append({"view": name, "share": share})
    seconds = np.bincount(clustering.second[inside], minlength=clustering.n_groups)
    neighbors = [int(other) for other in np.argsort(-seconds, kind="stable") if other != group and seconds[other]][:4]
    return {
        "number": number,
        "name": names[number],
        "size": int(inside.sum()),
        "confidence": round_confidence(confidence[inside]),
        "differences": [describe_difference(difference, n_texts) for difference in differences[group]],
        "marks": [
            {
                "view": view,
                "terms": [
                    {
                        "name": mark.feature,
                        "inside": float(mark.inside),
                        "outside": float(mark.outside),
                        "strength": float(mark.strength),
                    }
                    for mark in by_group[group]
                ],
            }
            for view, by_group in marks.items()
            if by_group[group]
        ],
        "typical": [list_member(opened, confidence, row) for row in typical],
        "borderline": [list_member(opened, confidence, row) for row in borderline],
        "support": support,
        "neighbors": [
            {"number": int(clustering.numbers[other]), "n_members": int(seconds[other])} for other in neighbors
        ],
    }


def describe_difference(difference: Difference, n_texts: int) -> str:
    """Return what marks a group in a column; words are named with their column if several columns are texts."""
    is_ambiguous = difference.kind == "text" and n_texts > 1
    return f"{difference.column}: {difference.sentence}" if is_ambiguous else difference.sentence


def list_member(opened: OpenedRun, confidence: np.ndarray, row: int) -> dict[str, Any]:
    """Return a member of a group as it stands in a list."""
    return {**list_entry(opened, row), "confidence": round_confidence(confidence[[row]])}


def describe_decision(entry: Entry) -> str:
    """Return a decision as a sentence."""
    items, others = entry.get("items", []), entry.get("others", [])
    groups = " and ".join(f"“{name}”" for name in entry.get("group_names", []))
    match entry["action"]:
        case "together":
            whole = f" (group {groups})" if groups else ""
            return f"{quote_items(items)} belong together{whole}."
        case "apart" if groups:
            return f"Groups {groups} do not belong together."
        case "apart" if others:
            return f"{quote_items(items)} {'does' if len(items) == 1 else 'do'} not belong with {quote_items(others)}."
        case "apart":
            return f"{quote_items(items)} do not belong together."
        case "merge":
            return f"Groups {groups} are one group."
        case "split":
            name = f", called “{entry['name']}”" if entry.get("name") else ""
            return f"{quote_items(items)} {'is' if len(items) == 1 else 'are'} a group{name}."
        case "rename":
            return f"Group {groups} is called “{entry['name']}”."
        case "outlier":
            return f"{quote_items(items)} {'is an outlier' if len(items) == 1 else 'are outliers'}."
        case "distrust":
            return f"View “{entry['view']}” is misleading for {quote_items(items)}."
        case "unknown":
            return f"Whether {quote_items(items)} belong together was left open."
    return str(entry["action"])


def quote_items(items: Sequence[str]) -> str:
    """Return up to three items by their ids, more by their number."""
    if len(items) > 3:
        return f"{len(items):,} items"
    texts = [flatten_text(item) for item in items]
    quoted = [f"“{text if len(text) <= MAX_ID else text[: MAX_ID - 1] + '…'}”" for text in texts]
    return " and ".join([", ".join(quoted[:-1]), quoted[-1]]) if len(quoted) > 1 else quoted[0]


def check_decision(entry: Entry, clustering: Clustering, decisions: DecisionSet) -> tuple[str, str]:
    """Return whether the groups satisfy a decision, and the reason if they do not: status and sentence."""
    labels = clustering.labels
    match entry["action"]:
        case "together" | "split":
            rows = decisions.find_united(entry)
            counts = np.unique(labels[rows], return_counts=True)[1] if rows else np.zeros(1, int)
            n_outliers = sum(row in decisions.outliers for row in decisions.find_rows(entry))
            n_regrouped = len(decisions.find_rows(entry)) - n_outliers - len(rows)
            if len(counts) > 1:
                n_apart = int(counts.sum() - counts.max())
                return "violated", f"{count_noun(n_apart, 'item is', 'items are')} in other groups."
            new_group = entry.get("new_group")
            if new_group in clustering.numbers and rows and labels[rows[0]] != new_group:
                return "violated", "The items are together, but in another group than the one that was made for them."
            changes = [
                f"{count_noun(n_outliers, 'item was', 'items were')} made an outlier later." if n_outliers else "",
                f"{count_noun(n_regrouped, 'item was', 'items were')} made another group later." if n_regrouped else "",
            ]
            return "satisfied", " ".join(filter(None, changes))
        case "apart":
            rows, others = decisions.find_rows(entry), decisions.find_rows(entry, "others")
            pairs = [(a, b) for a in rows for b in others] if others else [(a, b) for a in rows for b in rows if a < b]
            violated = [(a, b) for a, b in pairs if labels[a] == labels[b] >= 0]
            if violated:
                return "violated", explain_violation(violated, int(entry["number"]), clustering, decisions)
            return "satisfied", ""
        case "merge" if int(entry["number"]) in decisions.without_effect:
            return "", "It has no effect: a group that it merges does not exist any more."
        case "merge":
            return (
                ("satisfied", "")
                if len(set(labels[decisions.find_united(entry)].tolist())) <= 1
                else ("violated", "Their typical items are in different groups.")
            )
        case "rename":
            is_present = int(entry["group"]) in clustering.numbers
            return ("satisfied", "") if is_present else ("", "The group does not exist any more.")
        case "outlier":
            return (
                ("satisfied", "")
                if (labels[decisions.find_rows(entry)] == -1).all()
                else ("", "A later decision put it into a group.")
            )
    return "", ""


def explain_violation(
    pairs: Sequence[tuple[int, int]], number: int, clustering: Clustering, decisions: DecisionSet
) -> str:
    """Say that pairs which a decision keeps apart are in one group, and why, where the decisions show it."""
    run_links = [link for link in decisions.run_links if link not in decisions.withdrawn_run_links]
    must_links = [link for link in [*decisions.must_links, *run_links] if link.is_together]
    united = np.array([(link.first, link.second) for link in must_links], np.int64).reshape(-1, 2)
    component = label_components(united, decisions.n_rows)
    barred: dict[int, dict[int, set[int]]] = {}  # by component: groups with items apart from it, and by which decisions
    for link in [*decisions.cannot_links, *run_links]:
        if not link.is_together:
            for row, other in ((link.first, link.second), (link.second, link.first)):
                by_group = barred.setdefault(int(component[row]), {})
                by_group.setdefault(int(clustering.labels[other]), set()).add(link.decision)
    uniting, barring = set[int](), set[int]()
    n_united = n_barred = 0
    for first, second in pairs:
        if component[first] == component[second]:
            path = find_contradiction([*must_links, Link(first, second, number, False)], decisions.n_rows)
            uniting |= {link.decision for link in path if link.is_together}
            n_united += 1
            continue
        groups = set(clustering.numbers.tolist()) - {int(clustering.labels[first])}
        by_group_of_pair = [barred.get(int(component[row]), {}) for row in (first, second)]
        if all(groups <= by_group.keys() for by_group in by_group_of_pair):
            barring = barring.union(*(by_group[group] for by_group in by_group_of_pair for group in groups))
            n_barred += 1
    sentences = [f"{count_noun(len(pairs), 'pair is', 'pairs are')} in one group."]
    if n_united:
        items = "the two items" if len(pairs) == 1 else count_noun(n_united, "pair")
        verb = "puts" if len(uniting - {RUN}) == len(uniting) == 1 else "put"
        sentences.append(f"{name_decisions(uniting).capitalize()} {verb} {items} together.")
    if n_barred and clustering.n_groups == 1:
        sentences.append("There is only one group.")
    elif n_barred:
        items = "both items" if len(pairs) == 1 else f"both items of {count_noun(n_barred, 'pair')}"
        sentences.append(
            f"Every other group contains items from which {items} must be apart: {name_decisions(barring)}."
        )
    return " ".join(sentences)


def name_decisions(numbers: Collection[int]) -> str:
    """Return decisions by their numbers, such as "decisions 2 and 5"."""
    listed = [str(number) for number in sorted(numbers) if number != RUN]
    words = [f"{'decision' if len(listed) == 1 else 'decisions'} {join_words(listed)}"] if listed else []
    return join_words([*words, "constraints of the run"] if RUN in numbers else words)
