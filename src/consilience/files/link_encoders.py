"""Encoders that use links as a graph: similarities of linked entities, and rows of a view averaged over links.

Links are used in both directions, and those of an id with itself are ignored. A *node* is an entity, or an id that no
other view has and that entities are linked with. The latter is a *bridge* between these entities, such as a product
between the users who bought it. In a bipartite list of links all paths go over bridges.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from .._saving import save_as
from .._tuning import Tuning
from .encoders import LinksEncoder, find_measured_rows, find_nonzero_rows
from .joining import Entities
from .kinds import ViewContent

HOPS = {"smooth": 2, "smooth1": 1, "smooth4": 4}  # encodings that average views along links: how often
tuning = Tuning(
    max_pairs=500,  # per entity, that bridges may make: a bridge with m entities makes m * m of them
    max_entries=256,  # that are kept per row of a sparse view, because averages of many rows would fill the memory
    chunk=1000,  # rows that are averaged at a time
)


def list_link_candidates(contents: Sequence[ViewContent]) -> list[str]:
    """List the encodings among which an automatic choice should choose, the default first.

    `smooth` needs a view that can be averaged. All but `rows` let links count several times, so that meaningless links
    could outvote the other views: they are for a choice that keeps `rows` unless the other views confirm them.
    """
    others = [content for content in contents if content.kind not in ("links", "similarities")]
    return ["rows", "graph", "rows+smooth", "smooth"] if others else ["rows", "graph"]


def fit_links(content: ViewContent, encodings: Sequence[str], rare: bool, entities: Entities) -> dict[str, Any]:
    """Fit the views that are made of links alone: rows of outgoing and of incoming links, and a graph.

    A direction without links is left out.
    """
    ids = entities.row_ids[content.name]
    directions = {direction: LinksEncoder(direction, rare).fit((content.data, ids)) for direction in ("out", "in")}
    if not any(encoder.n_links for encoder in directions.values()):
        raise ValueError(
            f"no link starts or ends at an id of the other views. Its first is {content.data[0][0]!r}, theirs is "
            f"{ids[0]!r}"
            if len(content.data[0])
            else "it has no links"
        )
    encoders: dict[str, Any] = {}
    if "rows" in encodings:
        encoders = {f"{content.name}-{name}": encoder for name, encoder in directions.items() if encoder.n_links}
    if "graph" in encodings:
        encoders[content.name] = GraphEncoder().fit((content.data, list_link_ids(entities, content.name)))
    return encoders


def list_link_ids(entities: Entities, name: str) -> np.ndarray:
    """Return the id of each entity in a content of links, None if it has none."""
    return np.append(entities.row_ids[name], [None])[entities.rows[name]]


def number_nodes(links: Any, ids: np.ndarray, fitted: Sequence[str] = ()) -> dict[str, int]:
    """Number the entities' ids and the ids that these are linked with; links between two other ids are ignored.

    The nodes of the fit come first.
    """
    entities = dict.fromkeys(name for name in ids.tolist() if name is not None)
    pairs = zip(links[0].tolist(), links[1].tolist(), strict=True)
    ends = (name for pair in pairs if pair[0] in entities or pair[1] in entities for name in pair)
    return {name: i for i, name in enumerate(dict.fromkeys([*fitted, *entities, *ends]))}


def find_nodes(names: np.ndarray, number: dict[str, int]) -> np.ndarray:
    """Return the number of the node of each name, -1 if it has none."""
    return np.array([number.get(name, -1) for name in names.tolist()], dtype=np.intp)


def mark_nodes(ids: np.ndarray, number: dict[str, int]) -> sp.csr_array:
    """Return a 1 where the entity of the row is the node of the column: (entities, nodes)."""
    nodes = find_nodes(ids, number)
    rows = np.flatnonzero(nodes >= 0)
    return sp.csr_array((np.ones(len(rows)), (rows, nodes[rows])), shape=(len(ids), len(number)))


def sum_links(links: Any, ids: np.ndarray, number: dict[str, int]) -> sp.csr_array:
    """Add up the weights of the links between each entity and each node, in both directions: (entities, nodes).

    `ids` has the id of each entity in the links, None if it has none. Several entities may have the same id.
    """
    starts, ends = find_nodes(links[0], number), find_nodes(links[1], number)
    kept = (starts >= 0) & (ends >= 0) & (starts != ends)
    weights = np.asarray(links[2], dtype=np.float64)[kept]
    among_nodes = sp.csr_array((weights, (starts[kept], ends[kept])), shape=(len(number), len(number)))
    linked = sp.csr_array(mark_nodes(ids, number) @ (among_nodes + among_nodes.T))
    linked.eliminate_zeros()
    return linked


def compute_mean_weight(linked: sp.csr_array) -> float:
    """Return the mean weight of linked pairs: the unit in which an entity has weight 1 for itself."""
    if not linked.nnz:
        raise ValueError(
            "no link joins an id of the other views with a different id: do the ids match, and are there weights "
            "other than 0?"
        )
    return float(linked.data.mean())


def scale_columns(values: sp.csr_array, factors: np.ndarray) -> sp.csr_array:
    """Multiply each column by a number, and drop zeros."""
    scaled = sp.csr_array(values @ sp.diags_array(np.asarray(factors, dtype=np.float64)))
    scaled.eliminate_zeros()
    return scaled


def find_usable_bridges(on_bridges: sp.csr_array) -> np.ndarray:
    """Mark the bridges that have fewest entities, as many as make at most `tuning.max_pairs` per entity: (nodes,)."""
    n_entities = np.diff(sp.csc_array(on_bridges).indptr).astype(np.int64)
    sizes, n_bridges = np.unique(n_entities, return_counts=True)
    n_pairs = np.cumsum(n_bridges * sizes**2)
    return n_entities <= sizes[n_pairs <= tuning.max_pairs * on_bridges.shape[0]].max(initial=0)


@save_as("encoder-link-graph")
class GraphEncoder:
    """Encode links as the similarity of each entity to each fitted entity.

    The weight between two entities is that of their links, in units of the mean, plus, for each bridge between them,
    the product of their weights with it over the sum of all weights with it. The similarity is D^-1/2 (W + I) D^-1/2,
    where D has the row sums of W + I. Entities without neighbors lack the view. If bridges would make too many pairs,
    those with most entities are left out, because they say least about each.
    """

    kind = "similarities"
    present = staticmethod(find_nonzero_rows)

    def fit(self, data: Any) -> GraphEncoder:
        """Learn the fitted entities, their bridges, and how much each is linked; `data` are links and ids in them."""
        links, ids = data
        self.features = np.array(["" if name is None else name for name in ids.tolist()], dtype=object)
        number = number_nodes(links, ids)
        self.nodes = np.array(list(number), dtype=object)
        self.is_node = mark_nodes(ids, number)
        linked = sum_links(links, ids, number)
        self.unit = compute_mean_weight(linked)
        on_bridges = scale_columns(linked / self.unit, self.is_node.sum(axis=0) == 0)
        sums = np.maximum(on_bridges.sum(axis=0), np.finfo(float).tiny)
        self.from_bridges = scale_columns(on_bridges, find_usable_bridges(on_bridges) / sums)
        self.degree = self._weigh(linked, self.is_node).sum(axis=1)
        if not self.degree.any():
            raise ValueError("no entity is linked with another one, nor with an id that another one is linked with")
        return self

    def transform(self, data: Any) -> sp.csr_array:
        """Return similarities to the fitted entities; links with ids that were not seen in `fit` are ignored."""
        links, ids = data
        number = number_nodes(links, ids, self.nodes.tolist())
        is_node = mark_nodes(ids, number)[:, : len(self.nodes)]
        weights = self._weigh(sum_links(links, ids, number)[:, : len(self.nodes)], is_node)
        degree = weights.sum(axis=1)
        scale = sp.diags_array((degree > 0) / np.sqrt(1 + degree))
        return scale_columns(scale @ (weights + is_node @ self.is_node.T), (self.degree > 0) / np.sqrt(1 + self.degree))

    def _weigh(self, linked: sp.csr_array, is_node: sp.csr_array) -> sp.csr_array:
        """Return the weight between each entity and each fitted one, 0 for an entity and itself."""
        linked = linked / self.unit
        weights = sp.csr_array(linked @ self.is_node.T + linked @ self.from_bridges.T)
        weights = sp.csr_array(weights - weights.multiply(is_node @ self.is_node.T))
        weights.eliminate_zeros()
        return weights


def average_rows(weights: sp.csr_array, rows: Any, has_row: np.ndarray) -> tuple[Any, np.ndarray]:
    """Return weighted means of the rows that exist, and which means exist.

    Sparse means keep their `tuning.max_entries` largest entries, and ties with the last of them.
    """
    weights = scale_columns(weights, has_row)
    has_mean = np.diff(weights.indptr) > 0
    weights = sp.csr_array(sp.diags_array(1 / np.where(has_mean, weights.sum(axis=1), 1)) @ weights)
    if not sp.issparse(rows):
        return np.asarray(weights @ rows), has_mean
    blocks = []
    for start in range(0, max(1, weights.shape[0]), tuning.chunk):
        block = sp.csr_array(weights[start : start + tuning.chunk] @ rows)
        for row in np.flatnonzero(np.diff(block.indptr) > tuning.max_entries):
            entries = block.data[block.indptr[row] : block.indptr[row + 1]]  # changes of this slice reach the block
            entries[np.abs(entries) < np.partition(np.abs(entries), -tuning.max_entries)[-tuning.max_entries]] = 0
        block.eliminate_zeros()
        blocks.append(block)
    return sp.csr_array(sp.vstack(blocks)), has_mean


@save_as("encoder-link-smoothing")
class SmoothEncoder:
    """Average the rows of a view along links: each hop replaces a row by the mean of itself and its neighbors' rows.

    Neighbors count by the weights of their links, in units of the mean weight. The row of a bridge is the mean of its
    entities' rows. Rows that do not exist do not count, so that an entity without a row gets the mean of its neighbors.
    Without links a row stays as it is. Means are scaled to unit length if the rows of the view have unit length.

    New entities are averaged with the rows that entities and bridges had in `fit`, and with each other.

    Parameters
    ----------
    hops : int
        How often rows are averaged.
    kind : str
        Kind of the view whose rows are averaged.
    features : ndarray or None
        Names of its columns.
    """

    present = staticmethod(find_measured_rows)

    def __init__(self, hops: int, kind: str, features: np.ndarray | None) -> None:
        self.hops = hops
        self.kind = kind
        self.features = features

    def fit(self, data: Any) -> SmoothEncoder:
        """Keep the rows that new entities may be averaged with: those of entities and bridges before each hop.

        `data` are the links, the id of each entity in them, its row in the view, and whether the row exists.
        """
        links, ids, rows, has_row = data
        number = number_nodes(links, ids)
        self.nodes = np.array(list(number), dtype=object)
        self.unit = compute_mean_weight(sum_links(links, ids, number))
        self.is_sparse, self.n_columns = sp.issparse(rows), rows.shape[1]
        lengths = np.sqrt(np.asarray((rows * rows).sum(axis=1)).ravel())
        self.has_unit_length = bool(np.allclose(lengths[has_row], 1))
        self.node_rows: list[Any] = []  # per hop: (nodes, columns)
        self.has_node_row: list[np.ndarray] = []
        for _, _, node_rows, has_node_row in self._hop(data):
            self.node_rows.append(node_rows)
            self.has_node_row.append(has_node_row)
        return self

    def transform(self, data: Any) -> Any:
        """Return the averaged rows; without rows, which may be None, those of the neighbors alone."""
        *_, (rows, has_row, _, _) = self._hop(data)
        rows = normalize(rows) if self.has_unit_length else rows
        return rows if self.is_sparse else np.where(has_row[:, None], rows, np.nan)

    def _hop(self, data: Any) -> Iterator[tuple[Any, np.ndarray, Any, np.ndarray]]:
        """Yield per hop the averaged rows and which exist, and the rows of nodes before it and which exist."""
        links, ids, rows, has_row = data
        number = number_nodes(links, ids, self.nodes.tolist())
        is_node = mark_nodes(ids, number)
        linked = sum_links(links, ids, number) / self.unit
        on_nodes = sp.csr_array((is_node + scale_columns(linked, is_node.sum(axis=0) == 0)).T)
        itself_and_nodes = sp.csr_array(sp.hstack([sp.eye_array(len(ids)), linked]))
        stack = sp.vstack if self.is_sparse else np.vstack
        if rows is None:
            shape = (len(ids), self.n_columns)
            rows, has_row = sp.csr_array(shape) if self.is_sparse else np.zeros(shape), np.zeros(len(ids), bool)
        rows = rows if self.is_sparse else np.where(has_row[:, None], rows, 0.0)
        kept_rows, kept_masks = list(self.node_rows), list(self.has_node_row)  # empty in `fit`
        for hop in range(self.hops):
            new_nodes = on_nodes[len(self.nodes) :] if kept_rows else on_nodes
            node_rows, has_node_row = average_rows(new_nodes, rows, has_row)
            node_rows = node_rows.astype(np.float32)
            if kept_rows:
                node_rows = stack([kept_rows[hop], node_rows])
                has_node_row = np.append(kept_masks[hop], has_node_row)
            neighbors = stack([rows, node_rows])
            rows, has_row = average_rows(itself_and_nodes, neighbors, np.append(has_row, has_node_row))
            yield rows, has_row, node_rows, has_node_row
