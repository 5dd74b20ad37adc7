"""What changed between two clusterings of the same entities: which clusters were kept, split, merged, new or gone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment
from scipy.sparse.csgraph import connected_components

from ..data import Table
from ..metrics import adjusted_rand_score
from ..report.markup import format_share
from .log import count_noun

LEAST_OVERLAP = 1 / 3  # Jaccard index of a pair: then the shared entities are at least half of the clusters' mean size
LEAST_PART = 0.1  # share of a cluster from which its entities in another cluster are a part of it
MAX_LISTED = 10  # clusters per sentence, and sentences per kind of change
NO_CLUSTER = "no cluster"
CAPTIONS = {
    "ids": "by their ids",
    "rows": "by the number of the row, because the entities have no ids",
    "predictions": "by what the model of the earlier run predicts for the new rows, because the runs share no ids",
}


@dataclass(frozen=True, eq=False)
class Changes:
    """What changed between two clusterings.

    Printing it shows the changes in words. Entities are compared that both clusterings have. A cluster is matched with
    at most one of the other clustering, so that the sum of their Jaccard indices is largest; pairs below 1/3 are not
    matched. A cluster *splits* if it is found again in several clusters: in its match and in clusters that consist
    mostly of its entities, if these are at least a tenth of it. Clusters *merge* if it is so the other way round. A
    cluster without a match that takes part in neither has *appeared* or *vanished*.

    Attributes
    ----------
    before, after : Table
        One row per cluster of each clustering: ``cluster``, ``name``, ``size``, and ``shared``, the number of its
        entities that both clusterings have.
    flows : Table
        Number of shared entities (``entities``) in each cluster before (``before``) and after (``after``), where there
        are any; -1 is for entities in no cluster.
    matches : dict of int to int
        The cluster after for each cluster before that has a match.
    moved : Table
        The shared entities whose cluster after is not the match of their cluster before: ``id``, ``before``, ``after``.
    n_only_before, n_only_after : int
        Number of entities that only one clustering has.
    agreement : float
        Adjusted Rand index of the clusters of the shared entities; NaN without any.
    compared_by : str
        'ids', 'rows' (positions of the rows) or 'predictions' (of the earlier model for the new rows).
    """

    before: Table
    after: Table
    flows: Table
    matches: dict[int, int]
    moved: Table
    n_only_before: int
    n_only_after: int
    agreement: float
    compared_by: str = "ids"

    @property
    def n_shared(self) -> int:
        """Number of entities that both clusterings have."""
        return int(self.flows["entities"].sum())

    @property
    def n_moved(self) -> int:
        """Number of shared entities that are not in the match of their cluster."""
        return self.moved.n_rows

    @cached_property
    def _rows_before(self) -> dict[int, dict[str, Any]]:
        return {int(row["cluster"]): row for row in self.before.rows()}

    @cached_property
    def _rows_after(self) -> dict[int, dict[str, Any]]:
        return {int(row["cluster"]): row for row in self.after.rows()}

    @cached_property
    def _counts(self) -> dict[tuple[int, int], int]:
        """Number of shared entities by cluster before and after."""
        rows = zip(*(self.flows[name].tolist() for name in ("before", "after", "entities")), strict=True)
        return {(before, after): entities for before, after, entities in rows}

    @cached_property
    def splits(self) -> dict[int, list[int]]:
        """The clusters after that each cluster has split into, the largest part first."""
        return find_parts(self._counts, self._rows_before, self._rows_after, self.matches)

    @cached_property
    def merges(self) -> dict[int, list[int]]:
        """The clusters before that merged into a cluster, the largest part first, by cluster after."""
        counts = {(after, before): n for (before, after), n in self._counts.items()}
        matches = {after: before for before, after in self.matches.items()}
        return find_parts(counts, self._rows_after, self._rows_before, matches)

    @cached_property
    def appeared(self) -> list[int]:
        """The clusters after that are neither matched nor part of a split or merge."""
        explained = {*self.matches.values(), *self.merges, *(part for parts in self.splits.values() for part in parts)}
        return [cluster for cluster in self._rows_after if cluster not in explained]

    @cached_property
    def vanished(self) -> list[int]:
        """The clusters before that are neither matched nor part of a split or merge."""
        explained = {*self.matches, *self.splits, *(part for parts in self.merges.values() for part in parts)}
        return [cluster for cluster in self._rows_before if cluster not in explained]

    @property
    def kept(self) -> Table:
        """One row per pair of matched clusters, with their numbers, names, sizes and number of common entities."""
        rows = [
            {
                "before": before,
                "after": after,
                "name": self._rows_after[after]["name"],
                "size_before": self._rows_before[before]["size"],
                "size": self._rows_after[after]["size"],
                "common": self._counts.get((before, after), 0),
            }
            for before, after in sorted(self.matches.items())
        ]
        return Table.from_rows(rows)

    @cached_property
    def sentences(self) -> list[str]:
        """The changes in words, what concerns whole clusters first."""
        lists = [
            [self._describe_split(cluster, parts) for cluster, parts in self.splits.items()],
            [self._describe_merge(cluster, parts) for cluster, parts in self.merges.items()],
            [self._describe_appeared(cluster) for cluster in self.appeared],
            [self._describe_vanished(cluster) for cluster in self.vanished],
        ]
        kinds = ("split", "merged", "appeared", "vanished")
        sentences = []
        for kind, descriptions in zip(kinds, lists, strict=True):
            sentences += descriptions[:MAX_LISTED]
            if len(descriptions) > MAX_LISTED:
                sentences.append(f"{len(descriptions) - MAX_LISTED:,} more have {kind}.")
        return [*(sentences or ["Nothing has split, merged, appeared or vanished."]), self._describe_moves()]

    @property
    def overview(self) -> str:
        """One sentence with the numbers of clusters and entities, and one that says how they were compared."""
        numbers = f"{count_noun(self.before.n_rows, 'cluster')} before, {self.after.n_rows:,} after"
        if self.compared_by == "predictions":
            return f"{numbers}. Clusters are matched {CAPTIONS['predictions']}."
        others = f"{self.n_only_before:,} only before, {self.n_only_after:,} only after"
        by = f" Entities are matched {CAPTIONS['rows']}." if self.compared_by == "rows" else ""
        return f"{numbers}; {count_noun(self.n_shared, 'entity is', 'entities are')} in both, {others}.{by}"

    def _describe_split(self, cluster: int, parts: Sequence[int]) -> str:
        listed = [quote_cluster(self._rows_after[part]["name"], self._counts[cluster, part]) for part in parts]
        return f"{quote_cluster(self._rows_before[cluster]['name'])} split into {join_words(listed)}."

    def _describe_merge(self, cluster: int, parts: Sequence[int]) -> str:
        listed = [quote_cluster(self._rows_before[part]["name"], self._counts[part, cluster]) for part in parts]
        row = self._rows_after[cluster]
        return f"{join_words(listed)} merged into {quote_cluster(row['name'], row['size'])}."

    def _describe_appeared(self, cluster: int) -> str:
        row = self._rows_after[cluster]
        sentence = f"{quote_cluster(row['name'], row['size'])} appeared"
        if self.compared_by == "predictions":
            return f"{sentence}."
        counts = {before: n for (before, after), n in self._counts.items() if after == cluster}
        listed = self._list_places(counts, self._rows_before)
        new = row["size"] - row["shared"]
        words = [f"{count_part(new, row['size'])} new"] if new else []
        words += [f"{'the others' if new else 'its entities'} were in {listed}"] if listed else []
        return f"{sentence}: {', '.join(words)}."

    def _describe_vanished(self, cluster: int) -> str:
        row = self._rows_before[cluster]
        sentence = f"{quote_cluster(row['name'], row['size'])} vanished"
        counts = {after: n for (before, after), n in self._counts.items() if before == cluster}
        listed = self._list_places(counts, self._rows_after)
        gone = 0 if self.compared_by == "predictions" else row["size"] - row["shared"]
        words = [f"{count_part(gone, row['size'])} no longer in the data"] if gone else []
        if gone == row["size"]:
            words = ["none of its entities is in the data any more"]
        words += [f"{'the others' if gone else 'its entities'} are now in {listed}"] if listed else []
        return f"{sentence}: {', '.join(words)}." if words else f"{sentence}."

    def _list_places(self, counts: Mapping[int, int], rows: Mapping[int, Mapping[str, Any]]) -> str:
        """List clusters with numbers of entities, the largest first."""
        order = sorted(counts, key=lambda cluster: (-counts[cluster], cluster))
        names = [rows[cluster]["name"] if cluster in rows else NO_CLUSTER for cluster in order]
        return join_words([quote_cluster(name, counts[cluster]) for name, cluster in zip(names, order, strict=True)])

    def _describe_moves(self) -> str:
        """Say how many entities have moved, and between which clusters most."""
        noun = "rows" if self.compared_by == "predictions" else "entities"
        if not self.n_moved:
            return f"None of the {self.n_shared:,} {noun} has moved."
        share = format_share(self.n_moved / max(self.n_shared, 1))
        verb = "has moved" if self.n_moved == 1 else "have moved"
        if self.compared_by == "predictions":
            verb = f"{'is' if self.n_moved == 1 else 'are'} not where the earlier model predicts"
        sentence = f"{self.n_moved:,} of {self.n_shared:,} {noun} ({share}) {verb}"
        moves = {pair: n for pair, n in self._counts.items() if not self._stays(*pair)}
        (before, after), n = max(moves.items(), key=lambda item: (item[1], item[0]))
        move = f"from {self._name_before(before)} to {self._name_after(after)}"
        if n == self.n_moved:
            return f"{sentence}, {'all ' if n > 1 else ''}{move}."
        return f"{sentence}, most {move} ({n:,})."

    def _stays(self, before: int, after: int) -> bool:
        return self.matches.get(before, -1 if before < 0 else None) == after

    def _name_before(self, cluster: int) -> str:
        return NO_CLUSTER if cluster < 0 else quote_cluster(self._rows_before[cluster]["name"])

    def _name_after(self, cluster: int) -> str:
        return NO_CLUSTER if cluster < 0 else quote_cluster(self._rows_after[cluster]["name"])

    def to_dict(self) -> dict[str, Any]:
        """Return the figures and sentences for JSON, without the entities that moved."""

        def list_parts(
            parts: Sequence[int], rows: Mapping[int, Any], counts: Mapping[int, int]
        ) -> list[dict[str, Any]]:
            return [{"cluster": part, "name": rows[part]["name"], "entities": counts[part]} for part in parts]

        outflows: dict[int, dict[int, int]] = {}
        inflows: dict[int, dict[int, int]] = {}
        for (before, after), n in self._counts.items():
            outflows.setdefault(before, {})[after] = n
            inflows.setdefault(after, {})[before] = n
        return {
            "compared_by": self.compared_by,
            "shared": self.n_shared,
            "only_before": self.n_only_before,
            "only_after": self.n_only_after,
            "clusters_before": self.before.n_rows,
            "clusters_after": self.after.n_rows,
            "agreement": self.agreement,
            "moved": self.n_moved,
            "kept": list(self.kept.rows()),
            "split": [
                {**self._rows_before[cluster], "into": list_parts(parts, self._rows_after, outflows[cluster])}
                for cluster, parts in self.splits.items()
            ],
            "merged": [
                {**self._rows_after[cluster], "from": list_parts(parts, self._rows_before, inflows[cluster])}
                for cluster, parts in self.merges.items()
            ],
            "appeared": [self._rows_after[cluster] for cluster in self.appeared],
            "vanished": [self._rows_before[cluster] for cluster in self.vanished],
            "sentences": [self.overview, *self.sentences],
        }

    def __repr__(self) -> str:
        tables = [repr(self.kept)] if self.matches and self.kept.n_rows <= 2 * MAX_LISTED else []
        return "\n".join([self.overview, *self.sentences, *(f"\n{table}" for table in tables)])


def compare_labels(
    ids1: Any,
    labels1: Any,
    ids2: Any,
    labels2: Any,
    *,
    names1: Sequence[str] = (),
    names2: Sequence[str] = (),
    compared_by: str = "ids",
) -> Changes:
    """Compare two clusterings by the entities that both have.

    Parameters
    ----------
    ids1, ids2 : sequences of shape (n_entities,)
        Ids of the entities, compared as text.
    labels1, labels2 : array-like of int, shape (n_entities,)
        Their clusters, -1 for none.
    names1, names2 : sequences of str, default=()
        Names of the clusters by number; clusters beyond them are called "cluster 3".
    compared_by : {'ids', 'rows', 'predictions'}, default='ids'
        What the ids are, for the sentences.

    Returns
    -------
    Changes

    Examples
    --------
    >>> compare_labels("abcdef", [0, 0, 0, 1, 1, 1], "abcdeg", [1, 1, 1, 0, 0, 2], names2=["y", "x", "z"])
    2 clusters before, 3 after; 5 entities are in both, 1 only before, 1 only after.
    'z' (1) appeared: all of its entities are new.
    None of the 5 entities has moved.
    <BLANKLINE>
    before  after  name  size_before  size  common
         0      1  x               3     3       3
         1      0  y               3     2       2
    """
    first, second = (number_ids(ids, labels) for ids, labels in ((ids1, labels1), (ids2, labels2)))
    shared = [entity for entity in second if entity in first]
    if not shared:
        raise ValueError(
            "the two clusterings have no entity in common, so that nothing can be compared: "
            f"the first has ids such as {next(iter(first), '')!r}, the second such as {next(iter(second), '')!r}"
        )
    rows1, rows2 = ([numbers[entity] for entity in shared] for numbers in (first, second))
    before, after = np.asarray(labels1), np.asarray(labels2)
    return describe_changes(
        ClusterList.build(before, names1),
        ClusterList.build(after, names2),
        (shared, before[rows1], after[rows2]),
        (len(before), len(after)),
        compared_by=compared_by,
    )


@dataclass(frozen=True, eq=False)
class ClusterList:
    """The clusters of a run: their numbers, names and sizes."""

    names: dict[int, str]
    sizes: dict[int, int]

    @classmethod
    def build(cls, labels: np.ndarray, names: Sequence[str] = ()) -> ClusterList:
        """Return the nonempty clusters of labels."""
        numbers, sizes = np.unique(labels[labels >= 0], return_counts=True)
        by_number = dict(enumerate(names))
        clusters = numbers.tolist()
        return cls(
            {number: str(by_number.get(number) or f"cluster {number}") for number in clusters},
            dict(zip(clusters, sizes.tolist(), strict=True)),
        )

    def tabulate(self, labels: np.ndarray) -> Table:
        """Return a row per cluster, with the number of its entities among shared ones that have these labels."""
        shared = {number: int(n) for number, n in zip(*np.unique(labels, return_counts=True), strict=True)}
        return Table.from_rows(
            [
                {"cluster": number, "name": name, "size": self.sizes[number], "shared": shared.get(number, 0)}
                for number, name in self.names.items()
            ]
        )


def describe_changes(
    clusters_before: ClusterList,
    clusters_after: ClusterList,
    shared: tuple[Any, np.ndarray, np.ndarray],
    n_entities: tuple[int, int],
    *,
    matches: Mapping[int, int] | None = None,
    compared_by: str = "ids",
) -> Changes:
    """Return the changes between two clusterings, from ids, labels before and labels after of the shared entities.

    `n_entities` are the numbers of entities before and after. Without `matches` the clusters are matched by overlap.
    """
    ids, before, after = shared
    pairs, entities = np.unique(np.stack([before, after]), axis=1, return_counts=True)
    flows = Table({"before": pairs[0], "after": pairs[1], "entities": entities})
    matches = match_by_overlap(before, after) if matches is None else dict(matches)
    match = np.array([-1, *(matches.get(cluster, -2) for cluster in range(int(before.max(initial=-1)) + 1))])
    has_moved = np.flatnonzero(match[before + 1] != after)
    both = (before >= 0) & (after >= 0)
    return Changes(
        clusters_before.tabulate(before),
        clusters_after.tabulate(after),
        flows,
        dict(matches),
        Table(
            {
                "id": [str(ids[row]) for row in has_moved.tolist()],
                "before": before[has_moved],
                "after": after[has_moved],
            }
        ),
        n_entities[0] - len(ids),
        n_entities[1] - len(ids),
        float(adjusted_rand_score(before[both], after[both])) if both.any() else float("nan"),
        compared_by,
    )


@dataclass(frozen=True, eq=False)
class RunUpdate:
    """How a run continues an earlier one."""

    origin: str  # the earlier run, for messages
    names: dict[int, str]  # of its clusters
    sizes: dict[int, int]
    labels: np.ndarray  # (n,), what the earlier run says of the entities of this run, -1 for no cluster
    is_compared: np.ndarray  # (n,), whether an entity is used to match clusters
    compared_by: str  # ids, rows or predictions
    n_before: int  # number of entities of the earlier run
    kept: list[int]  # numbers of the clusters that both runs have
    next_cluster: int  # number for the next new cluster: numbers of clusters that vanished are not used again

    @classmethod
    def from_saved(cls, saved: Mapping[str, Any] | None) -> RunUpdate | None:
        """Return the update from a model file, None if there is none; the file may contain anything."""
        if saved is None:
            return None
        try:
            return cls(**{**saved, "next_cluster": int(saved["next_cluster"])})
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"the model file is damaged: it lacks facts about the earlier run ({error})") from error

    def describe(self, ids: Any, labels: np.ndarray, names: Sequence[str]) -> Changes:
        """Return what changed, from the ids and clusters of this run's entities and the names of its clusters."""
        try:
            rows = np.flatnonzero(self.is_compared)
            shared = (np.asarray(ids, object)[rows], np.asarray(self.labels)[rows], labels[rows])
            n_before = len(rows) if self.compared_by == "predictions" else self.n_before
            return describe_changes(
                ClusterList(self.names, self.sizes),
                ClusterList.build(labels, names),
                shared,
                (n_before, len(labels)),
                matches={number: number for number in self.kept},
                compared_by=self.compared_by,
            )
        except (AttributeError, IndexError, KeyError, TypeError) as error:
            raise ValueError(f"the model file is damaged: what changed cannot be told ({error})") from error


def match_by_overlap(before: np.ndarray, after: np.ndarray) -> dict[int, int]:
    """Match clusters of the same entities one to one, so that the sum of the Jaccard indices of the pairs is largest.

    Pairs with an index below `LEAST_OVERLAP` are not matched. Clusters that such pairs connect are matched together;
    there are few of them, because a cluster has at most three partners, so that thousands of clusters can be matched.
    """
    pairs, common = np.unique(np.stack([before, after]), axis=1, return_counts=True)
    n_before = dict(zip(*(values.tolist() for values in np.unique(before, return_counts=True)), strict=True))
    n_after = dict(zip(*(values.tolist() for values in np.unique(after, return_counts=True)), strict=True))
    candidates = {}
    for (old, new), n in zip(pairs.T.tolist(), common.tolist(), strict=True):
        overlap = n / (n_before[old] + n_after[new] - n)
        if old >= 0 and new >= 0 and overlap >= LEAST_OVERLAP:
            candidates[old, new] = overlap
    olds, rows = np.unique([old for old, _ in candidates], return_inverse=True)
    news, columns = np.unique([new for _, new in candidates], return_inverse=True)
    size = len(olds) + len(news)
    graph = sp.csr_array((np.ones(len(rows)), (rows, len(olds) + columns)), shape=(size, size))
    component = connected_components(graph, directed=False)[1][rows] if size else rows
    groups: dict[int, list[tuple[int, int]]] = {}
    for number, pair in zip(component.tolist(), candidates, strict=True):
        groups.setdefault(number, []).append(pair)
    matches = {}
    for group in groups.values():
        group_olds, group_news = (sorted(set(numbers)) for numbers in zip(*group, strict=True))
        overlaps = np.array([[candidates.get((old, new), 0.0) for new in group_news] for old in group_olds])
        for i, j in zip(*linear_sum_assignment(overlaps, maximize=True), strict=True):
            if overlaps[i, j] > 0:
                matches[group_olds[i]] = group_news[j]
    return dict(sorted(matches.items()))


def find_parts(
    counts: Mapping[tuple[int, int], int],
    wholes: Mapping[int, Mapping[str, Any]],
    others: Mapping[int, Mapping[str, Any]],
    matches: Mapping[int, int],
) -> dict[int, list[int]]:
    """Return the clusters in which each whole is found again, if there are several, the largest part first.

    A part has at least a tenth of the whole's shared entities, and it is the match of the whole or consists mostly of
    entities of the whole.
    """
    parts: dict[int, list[tuple[int, int]]] = {}
    for (whole, other), n in counts.items():
        if whole < 0 or other < 0 or n < LEAST_PART * wholes[whole]["shared"]:
            continue
        if matches.get(whole) == other or 2 * n > others[other]["shared"]:
            parts.setdefault(whole, []).append((-n, other))
    return {whole: [other for _, other in sorted(found_in)] for whole, found_in in parts.items() if len(found_in) > 1}


def number_ids(ids: Any, labels: Any) -> dict[str, int]:
    """Return the position of each id, as text; refuse ids that repeat or are not as many as the labels."""
    texts = [str(entity) for entity in ids]
    if len(texts) != len(labels):
        raise ValueError(f"there are {len(texts):,} ids for {len(labels):,} labels: give one id per entity")
    numbers = {entity: row for row, entity in enumerate(texts)}
    if len(numbers) < len(texts):
        repeated = next(entity for row, entity in enumerate(texts) if numbers[entity] != row)
        raise ValueError(f"the id {repeated!r} occurs more than once: ids must identify the entities")
    return numbers


def quote_cluster(name: str, size: int | None = None) -> str:
    """Write the name of a cluster in quotation marks, with its size: "'knives' (340)"."""
    quoted = name if name == NO_CLUSTER else f"'{name}'"
    return quoted if size is None else f"{quoted} ({size:,})"


def count_part(n: int, size: int) -> str:
    """Write how many entities of a cluster are concerned, with the verb: "3 of its entities are"."""
    if n == size:
        return "all of its entities are"
    return "1 of its entities is" if n == 1 else f"{n:,} of its entities are"


def join_words(words: Sequence[str]) -> str:
    """Join words by commas and "and", the first ten of them."""
    if len(words) > MAX_LISTED:
        words = [*words[: MAX_LISTED - 1], f"{len(words) - MAX_LISTED + 1:,} more"]
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))
