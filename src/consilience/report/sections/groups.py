"""The page of each group: what marks it, its typical and borderline members, its neighbors, and its views."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from ...explain import Hierarchy, Mark, profile, typical
from ...explain.differences import Difference, find_differences
from ..charts import draw_bar
from ..facts import ReportFacts
from ..markup import (
    Html,
    format_count,
    format_integer,
    format_number,
    format_share,
    join_html,
    mark_feature_name,
    mark_user_text,
    tag,
)

MAX_GROUPS = 200  # groups with a page, the largest
MAX_MARKS = 2500  # features of all groups together, to limit the size of the page
MAX_PICTURES = 300  # of typical and borderline members
MAX_MEMBERS = 20  # listed members of a group that is small
MAX_NEIGHBORS = 4
MAX_DIFFERENCE = 160  # characters of a difference
N_DIFFERENCES = 8  # of a group, in the units of the data


def build_group_pages(facts: ReportFacts) -> Html:
    """Return the pages of the largest groups; the script shows one at a time."""
    shown = facts.largest_first[:MAX_GROUPS]
    n_top = int(np.clip(MAX_MARKS // max(1, len(shown) * facts.views.n_views), 3, 8))
    marks = profile(facts.views, facts.labels, n_top, texts=facts.view_texts)
    n_examples = 5 if len(shown) <= MAX_GROUPS // 4 else 3
    if facts.thumbnails is not None:
        n_examples = int(np.clip(MAX_PICTURES // max(1, 2 * len(shown)), 2, 8))
    best = typical(facts.labels, facts.typicality, n_examples)
    worst = typical(facts.labels, -facts.typicality, n_examples)
    neighbors = find_neighbors(facts.hierarchy, facts.labels, facts.second_choice)
    differences = find_differences(facts.labels, facts.columns, N_DIFFERENCES)
    pages = [
        _build_page(
            facts,
            cluster,
            _describe_group(
                facts, differences[cluster], {view: by_cluster[cluster] for view, by_cluster in marks.items()}
            ),
            _list_examples(facts, cluster, best[cluster], worst[cluster]),
            _list_neighbors(facts, neighbors[cluster]),
        )
        for cluster in shown
    ]
    n_hidden = len(facts.sizes) - len(shown)
    hidden = (
        f"{format_count(n_hidden, 'smaller group has', 'smaller groups have')} no description, to keep the page small."
    )
    merged = tag("article", id="merged", class_="group needs-js", aria_label="Group")  # filled by the script
    return tag("div", pages, merged, tag("p", hidden, class_="note") if n_hidden else None, class_="group-pages")


def find_neighbors(
    hierarchy: Hierarchy, labels: np.ndarray, second_choice: np.ndarray | None
) -> dict[int, list[tuple[int, int]]]:
    """Return the nearest groups of each group, with the number of members whose second choice they are.

    Second choices come first, the most frequent before the others; then the groups that merge with the group first.
    """
    clusters = hierarchy.clusters.tolist()
    counts = np.zeros((max(clusters, default=-1) + 1,) * 2, dtype=np.int64)
    if second_choice is not None:
        rows = np.flatnonzero((labels >= 0) & (second_choice >= 0) & np.isin(second_choice, clusters))
        np.add.at(counts, (labels[rows], second_choice[rows]), 1)
    steps = np.zeros(counts.shape, dtype=np.int64)  # at which two clusters merge
    nodes = [[cluster] for cluster in clusters]
    for step, (a, b) in enumerate(hierarchy.merges.tolist()):
        steps[np.ix_(nodes[a], nodes[b])] = step
        steps[np.ix_(nodes[b], nodes[a])] = step
        nodes.append([*nodes[a], *nodes[b]])
    neighbors = {}
    for cluster in clusters:
        others = sorted(
            (other for other in clusters if other != cluster),
            key=lambda other: (-counts[cluster, other], steps[cluster, other], other),
        )
        neighbors[cluster] = [(other, int(counts[cluster, other])) for other in others[:MAX_NEIGHBORS]]
    return neighbors


def _build_page(facts: ReportFacts, cluster: int, marks: Html | None, members: Html | None, near: Html | None) -> Html:
    size, stability = facts.sizes[cluster], facts.stability.get(cluster, np.nan)
    inside = facts.labels == cluster
    figures = [f"{facts.count(size)}, {format_share(size / facts.n)} of all"]
    if stability == stability:
        figures.append(f"{format_share(stability)} stay in it when the data is resampled")
    if facts.has_confidence and np.isfinite(facts.confidence[inside]).any():
        figures.append(f"mean confidence {format_share(float(np.nanmean(facts.confidence[inside])))}")
    content = [members, marks] if facts.thumbnails is not None else [marks, members]  # pictures tell more than marks
    number = f"number {cluster} in {'labels.csv' if facts.is_command else 'labels_'}"
    return tag(
        "article",
        tag("p", tag("a", "← All groups", href="#overview"), class_="back needs-js"),
        tag("h2", facts.draw_group(cluster, 160), tabindex="-1", id=f"group-{cluster}-title"),
        tag("p", "; ".join([*figures, number]), ".", class_="note"),
        *content,
        tag("div", _list_support(facts, cluster), near, class_="views") if facts.shows_views else None,
        id=f"group-{cluster}",
        class_="group",
        aria_labelledby=f"group-{cluster}-title",
    )


def _describe_group(facts: ReportFacts, differences: Sequence[Difference], marks: dict[str, list[Mark]]) -> Html | None:
    """List what marks a group: differences in the units of the data if there are any, and the means of each view.

    With differences or pictures the means are shown on request: names such as "edges at 90°, 3/8" tell readers little.
    """
    if len(facts.sizes) < 2:
        return None
    heading = tag("h3", "What marks it")
    views = tag("div", (_list_marks(facts, name, view_marks) for name, view_marks in marks.items()), class_="views")
    more = tag("details", tag("summary", "Features of each view"), views)
    if not differences:
        return join_html((heading, more if facts.thumbnails is not None else views))
    n_texts = sum(column.kind == "text" for column in facts.columns)
    sentences = (
        tag(
            "li",
            tag(
                "span",
                mark_user_text(difference.sentence, MAX_DIFFERENCE),
                # sentences about words do not name their column
                tag("small", " ", mark_user_text(difference.column, 30))
                if difference.kind == "text" and n_texts > 1
                else None,
            ),
            draw_bar(difference.strength),
        )
        for difference in differences
    )
    return join_html((heading, tag("ul", sentences, class_="differences"), more))


def _list_marks(facts: ReportFacts, name: str, marks: Sequence[Mark]) -> Html:
    """List the features that distinguish the group in one view: frequent ones if sparse, different means if dense."""
    if not marks:
        return tag("div", tag("h4", mark_user_text(name)), tag("p", "Nothing stands out.", class_="note"))
    strongest = max(abs(mark.strength) for mark in marks)
    prefix = None if facts.has_names(name) else tag("small", "column ")
    is_dense = not sp.issparse(facts.views[name]) and not facts.shows_words(name)
    lines = (
        tag(
            "li",
            tag("span", prefix, mark_feature_name(mark.feature), class_="term"),
            draw_bar(abs(mark.strength) / strongest),
            tag(
                "span",
                _draw_arrow(mark) if is_dense else None,
                format_number(mark.inside),
                tag("small", f" / {format_number(mark.outside)}"),
                class_="means",
            ),
        )
        for mark in marks
    )
    heading = tag("h4", mark_user_text(name), tag("small", "mean within / elsewhere"))
    return tag("div", heading, tag("ul", lines, class_="marks"))


def _draw_arrow(mark: Mark) -> Html:
    arrow, word = ("▲ ", "higher ") if mark.strength > 0 else ("▼ ", "lower ")
    return join_html((tag("span", arrow, aria_hidden="true", class_="arrow"), tag("span", word, class_="unseen")))


def _list_examples(facts: ReportFacts, cluster: int, best: np.ndarray, worst: np.ndarray) -> Html | None:
    """List typical and borderline members; of a small group all members, and none of a single group."""
    if facts.sizes[cluster] <= len(best) or facts.has_small_groups:
        rows = np.flatnonzero(facts.labels == cluster)[:MAX_MEMBERS]
        return _list_entities(facts, "Members", rows)
    if not facts.shows_views:
        return None
    borderline = worst[~np.isin(worst, best)]
    return tag(
        "div",
        _list_entities(facts, "Typical members", best),
        _list_entities(facts, "Borderline members, of the lowest confidence", borderline),
        class_="examples",
    )


def _list_entities(facts: ReportFacts, heading: str, rows: np.ndarray) -> Html:
    items = (
        tag("li", tag("b", facts.mark_entity(row)), " ", _describe_doubt(facts, row), facts.quote_texts(row))
        for row in rows.tolist()
    )
    class_ = "typical pictures" if facts.thumbnails is not None else "typical"
    return tag("div", tag("h3", heading), tag("ol", items), class_=class_)


def _describe_doubt(facts: ReportFacts, row: int) -> Html | None:
    """Write the confidence of an entity, and its second choice if it is not typical."""
    if not facts.shows_views:
        return None
    second = -1 if facts.second_choice is None else int(facts.second_choice[row])
    shown = [facts.write_confidence(row)] if facts.has_confidence else []
    if second >= 0 and facts.typicality[row] < np.median(facts.typicality):
        shown.append(join_html((", then " if shown else "then ", facts.draw_group(second, 40))))
    return tag("small", shown) if shown else None


def _list_support(facts: ReportFacts, cluster: int) -> Html | None:
    """List the share of the members that each view puts into the group by itself."""
    if not facts.view_labels:
        return None
    inside = facts.labels == cluster
    rows = []
    for name, labels in facts.view_labels.items():
        has_view = inside & (labels >= 0)
        share = float((labels[has_view] == cluster).mean()) if has_view.any() else np.nan
        rows.append(
            tag(
                "li",
                tag("span", mark_user_text(name, 40), class_="term"),
                draw_bar(share),
                tag("span", format_share(share) if share == share else "no member has it", class_="means"),
            )
        )
    heading = tag("h3", "Which views support it ", tag("small", "members that the view alone puts here"))
    return tag("div", heading, tag("ul", rows, class_="marks"))


def _list_neighbors(facts: ReportFacts, neighbors: Sequence[tuple[int, int]]) -> Html | None:
    if not neighbors:
        return None
    items = (
        tag(
            "li",
            tag("a", facts.draw_group(other, 60), href=f"#group-{other}"),
            tag("small", f" second choice of {format_integer(n)} members") if n else None,
        )
        for other, n in neighbors
    )
    return tag("div", tag("h3", "Neighboring groups"), tag("ul", items, class_="neighbors"))
