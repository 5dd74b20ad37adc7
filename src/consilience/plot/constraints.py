"""Must-links and cannot-links between the entities of each view."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp

from ..arrays import to_numpy
from ..data import Constraints, Views
from ..methods.common.constraint_checks import resolve_constraints, split_by_view
from ._docs import share_docs
from ._figure import Axes, pluralize
from ._model import check_fitted_views, get_fitted_attribute
from .embedding import EntityPanels, compute_view_components

MAX_LINKS = 100
KINDS = ("must-link", "cannot-link")
LINK_COLORS = {"must-link": "#555555", "cannot-link": "#C2187A"}  # not those of clusters
LINK_DASHES: dict[str, Any] = {"must-link": "-", "cannot-link": (0, (4, 2.5))}
VIOLATED: dict[str, Any] = {"color": "black", "marker": "x", "linestyle": "", "markersize": 6, "markeredgewidth": 1.6}


class DrawnLinks(NamedTuple):
    """The links of a panel that are drawn, the strongest first."""

    kinds: np.ndarray  # positions in KINDS
    pairs: np.ndarray
    weights: np.ndarray
    violated: np.ndarray


@share_docs
class ConstraintsDisplay(EntityPanels):
    """The entities in the plane with their constraints, one panel per view.

    Must-links are solid lines, cannot-links dashed ones, and a cross in the middle marks those that the clusters
    violate. Clusters have a color, a marker and a number at the median.

    Parameters
    ----------
    embeddings : mapping of str to array-like of shape (n_entities, 2)
        Positions of the entities in each view, NaN for those that lack the view or are not drawn.
    %(view_labels)s
    constraints : Constraints, or mapping of view to Constraints
        Pairs of entities by position: in all views that both ends have, or in each view.
    %(max_links)s

    Attributes
    ----------
    ax_ : ndarray of Axes, shape (n_views,)
        The panels.
    %(figure_)s
    points_ : dict of str to dict of int to PathCollection
        The points of each view and cluster.
    lines_ : dict of str to dict of str to LineCollection
        The lines of each view, by ``'must-link'`` and ``'cannot-link'``.
    crosses_ : dict of str to Line2D
        The crosses on violated constraints of each view.

    Examples
    --------
    >>> import consilience as cs
    >>> from consilience.plot import ConstraintsDisplay
    >>> views, y = cs.datasets.make_four_quadrants(random_state=0)
    >>> constraints = cs.Constraints.sample(y, 10, random_state=0)
    >>> model = cs.MultiViewConstrainedKMeans(2, random_state=0).fit(views, constraints=constraints)
    >>> display = ConstraintsDisplay.from_estimator(model, views, constraints)
    >>> {kind: len(lines.get_segments()) for kind, lines in display.lines_["a"].items()}
    {'must-link': 5, 'cannot-link': 5}
    """

    def __init__(
        self,
        embeddings: Mapping[str, Any],
        labels: Any,
        constraints: Constraints | Mapping[str, Constraints],
        *,
        max_links: int = MAX_LINKS,
    ) -> None:
        by_view = labels if hasattr(labels, "keys") else dict.fromkeys(embeddings, labels)
        super().__init__(embeddings, next(iter(by_view.values())))
        self.view_labels = {}
        for name in self.embeddings:
            self.view_labels[name] = np.asarray(by_view.get(name, ()))
            if self.view_labels[name].shape != self.labels.shape:
                raise ValueError(
                    f"view {name!r} has labels of shape {self.view_labels[name].shape}: give one per entity, "
                    f"{self.labels.shape}"
                )
        links, common = split_by_view(constraints, tuple(self.embeddings))
        self.constraints = {name: links[name] | common for name in self.embeddings}
        check_positions(self.constraints.values(), len(self.labels))
        self.max_links = max_links

    point_opacity = 0.4  #: opacity of the points, from 0 to 1

    def plot(self, ax: Any = None) -> Self:
        """Draw the panels.

        %(section_axes_returns_self)s
        """
        self.lines_: dict[str, dict[str, Any]] = {}
        self.crosses_: dict[str, Any] = {}
        super().plot(ax)
        return self

    def _select_links(self, name: str, constraints: Constraints) -> tuple[DrawnLinks, int]:
        """Return the links of a view that are drawn, and the number of those whose ends have the view."""
        labels, is_hidden = self.view_labels[name], np.isnan(self.embeddings[name].sum(axis=1))
        kinds, pairs, weights = stack_links(constraints)
        visible = ~is_hidden[pairs].any(axis=1)
        kinds, pairs, weights = (values[visible][: self.max_links] for values in (kinds, pairs, weights))
        first, second = labels[pairs].T
        together = (first == second) & (first >= 0)  # -1 is not a cluster
        return DrawnLinks(kinds, pairs, weights, together == (kinds == 1)), int(visible.sum())

    def _draw_panel(self, panel: Axes, name: str, positions: np.ndarray) -> dict[int, Any]:
        """Draw one view: entities, and their links."""
        points = super()._draw_panel(panel, name, positions)
        self._draw_links(panel, name, positions)
        return points

    def _draw_links(self, panel: Axes, name: str, positions: np.ndarray) -> None:
        """Draw lines, and crosses above them."""
        drawn, _ = self._select_links(name, self.constraints[name])
        self.lines_[name] = draw_lines(panel, positions, drawn, np.full(len(drawn.weights), 1.4))
        middle = positions[drawn.pairs[drawn.violated]].mean(axis=1)
        (self.crosses_[name],) = panel.plot(*middle.T, zorder=2.5, **VIOLATED)

    def _describe_panel(self, name: str, n_drawn: int) -> str:
        drawn, n_links = self._select_links(name, self.constraints[name])
        links = describe_links(drawn, n_links, "constraint")
        among = "" if len(drawn.weights) == n_links else "of these "
        return f"{pluralize(n_drawn, 'entity')} drawn\n{links}, {int(drawn.violated.sum()):,} {among}violated"

    def _list_lines(self) -> list[Any]:
        from matplotlib.lines import Line2D

        lines = [Line2D([], [], color=LINK_COLORS[kind], linestyle=LINK_DASHES[kind], label=kind) for kind in KINDS]
        return [*lines, Line2D([], [], label="violated", **VIOLATED)]

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        views: Any,
        constraints: Any = None,
        *,
        max_links: int = MAX_LINKS,
        max_points: int = 20_000,
        random_state: int = 0,
        ax: Any = None,
    ) -> ConstraintsDisplay:
        """Draw the entities and constraints of a fitted model; views of more than two columns are projected.

        Parameters
        ----------
        %(model)s
        %(views)s
        constraints : Constraints, or mapping of view to Constraints, optional
            As given to `fit`; by default all that the model was given, in every view that both ends have.
        %(max_links)s
        %(max_points)s
        %(axes_returns_display)s
        """
        views = check_fitted_views(model, views)
        if constraints is None:
            constraints = get_fitted_attribute(model, "input_constraints_")
        links = resolve_by_view(constraints, views)
        embeddings = compute_positions(views, links.values(), max_points, random_state)
        return cls(embeddings, get_view_labels(model, views), links, max_links=max_links).plot(ax)


def stack_links(constraints: Constraints) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the kind, ends and weight of each constraint, the strongest first; equal ones alternate between kinds."""
    n_must, n_cannot = len(constraints.must.weights), len(constraints.cannot.weights)
    kinds, positions = np.repeat([0, 1], [n_must, n_cannot]), np.concatenate([np.arange(n_must), np.arange(n_cannot)])
    pairs = np.vstack([constraints.must.pairs, constraints.cannot.pairs])
    weights = np.concatenate([constraints.must.weights, constraints.cannot.weights])
    order = np.lexsort((positions, -weights))
    return kinds[order], pairs[order], weights[order]


def check_positions(constraints: Iterable[Constraints], n: int) -> None:
    """Refuse constraints by id, and those that name entities that are not drawn."""
    for links in constraints:
        if links.by != "position":
            raise ValueError(
                f"constraints are by {links.by}: give positions, as Constraints.positions does, or use from_estimator"
            )
        last = int(stack_links(links)[1].max(initial=-1))
        if last >= n:
            raise ValueError(f"constraints name entity {last}, but there are {n} positions: give one per entity")


def draw_lines(
    panel: Axes, positions: np.ndarray, links: DrawnLinks, widths: np.ndarray, opacities: np.ndarray | None = None
) -> dict[str, Any]:
    """Draw links as lines, and return them by kind."""
    from matplotlib.collections import LineCollection
    from matplotlib.colors import to_rgba_array

    lines = {}
    for k, kind in enumerate(KINDS):
        chosen = np.flatnonzero(links.kinds == k)[::-1]  # the strongest on top
        colors = np.repeat(to_rgba_array(LINK_COLORS[kind]), len(chosen), axis=0)
        colors[:, 3] = 0.85 if opacities is None else opacities[chosen]
        options: dict[str, Any] = {"linewidths": widths[chosen], "linestyles": [LINK_DASHES[kind]], "zorder": 1.5}
        lines[kind] = LineCollection(list(positions[links.pairs[chosen]]), colors=colors, **options)
        panel.add_collection(lines[kind], autolim=False)
    return lines


def describe_links(links: DrawnLinks, n_links: int, noun: str) -> str:
    """Say how many links there are, and whether only the strongest are drawn."""
    n_drawn = len(links.weights)
    return pluralize(n_links, noun) if n_drawn == n_links else f"strongest {n_drawn:,} of {n_links:,} {noun}s"


def resolve_by_view(constraints: Any, views: Views) -> dict[str, Constraints]:
    """Convert constraints in views or of entities as such to constraints by position in each view."""
    by_view, common = split_by_view(constraints, views.names)
    resolved = resolve_constraints(common, views, views.ids, None)
    return {name: resolve_constraints(links, views, views.ids, name) | resolved for name, links in by_view.items()}


def compute_positions(
    views: Views, constraints: Iterable[Constraints], max_points: int, random_state: int
) -> dict[str, np.ndarray]:
    """Compute positions: the two columns of a view, or two principal components if it has more.

    Of more than `max_points` entities, those get positions that are ends of constraints, and a sample.
    """
    n, rows = len(views), np.arange(len(views))
    if n > max_points:
        rows = np.random.default_rng(random_state).choice(n, max_points, replace=False)
        for links in constraints:
            rows = np.union1d(rows, stack_links(links)[1])
    shown, embeddings = views[rows], {}
    for v, (name, block) in enumerate(shown.items()):
        embeddings[name] = np.full((n, 2), np.nan)
        if block.shape[1] == 2 and not sp.issparse(block):
            points = np.where(shown.present[:, [v]], to_numpy(block).astype(np.float64), np.nan)
        else:
            points = compute_view_components(shown, name, random_state)
        embeddings[name][rows] = points
    return embeddings


def get_view_labels(model: Any, views: Views) -> dict[str, Any]:
    """Return the clusters of the entities in each view; `labels_` for models without clusters per view."""
    labels = dict.fromkeys(views.names, get_fitted_attribute(model, "labels_"))
    return labels | {name: kept for name, kept in getattr(model, "view_labels_", {}).items() if name in labels}
