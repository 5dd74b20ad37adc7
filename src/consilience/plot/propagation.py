"""How constraints of a view spread to entities that it shares with other views."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..arrays import to_numpy
from ..data import Constraints, Views
from ..methods.constrained.propagate import estimate_shapes
from ._docs import share_docs
from ._figure import Axes, escape_name, pluralize
from ._model import check_fitted_views, get_fitted_attribute
from .constraints import (
    KINDS,
    LINK_COLORS,
    LINK_DASHES,
    MAX_LINKS,
    ConstraintsDisplay,
    check_positions,
    compute_positions,
    describe_links,
    draw_lines,
    get_view_labels,
    resolve_by_view,
    stack_links,
)

SOURCE_WIDTH = 2.2  # of the lines of the source's constraints
N_REACHES = 5  # constraints whose reach is shown
REACH: dict[str, Any] = {"color": "black", "linestyle": ":", "linewidth": 1.3}


@share_docs
class PropagationDisplay(ConstraintsDisplay):
    """Constraints that a view passes on to others: in the first panel where they come from, then where they arrive.

    In the panel of the source, thick lines are the constraints of the view and thin ones those that it passes on:
    between entities near the ends that also have other views. The other panels show them in the views that receive
    them. Must-links are solid lines, cannot-links dashed ones; the wider and darker a line, the larger its weight.
    Dotted ellipses around the ends of the source's strongest constraints show how far these reach.

    Parameters
    ----------
    embeddings : mapping of str to array-like of shape (n_entities, 2)
        Positions of the entities in each view, NaN for those that lack the view or are not drawn.
    %(view_labels)s
    constraints : Constraints
        The constraints of the source, by position.
    propagated : Constraints
        Those that it passes on.
    source : str
        The view that passes them on.
    reaches : sequence of array-like of shape (n_points, 2), default=()
        Outlines in the panel of the source, around the ends of its constraints.
    %(max_links)s

    Attributes
    ----------
    ax_ : ndarray of Axes, shape (n_views,)
        The panels, that of the source first.
    %(figure_)s
    points_ : dict of str to dict of int to PathCollection
        The points of each view and cluster.
    lines_ : dict of str to dict of str to LineCollection
        The constraints that are passed on, as drawn in each view, by ``'must-link'`` and ``'cannot-link'``.
    source_lines_ : dict of str to LineCollection
        The constraints of the source.
    outlines_ : LineCollection
        How far they reach.

    Examples
    --------
    >>> import consilience as cs
    >>> from consilience.plot import PropagationDisplay
    >>> views, y = cs.datasets.make_four_quadrants(mapped=0.5, random_state=0)
    >>> rows = views.present[:, 0].nonzero()[0]
    >>> constraints = {"a": cs.Constraints.sample(y[rows], 4, random_state=0).renumbered(rows)}
    >>> model = cs.MultiViewConstrainedKMeans(2, random_state=0).fit(views, constraints=constraints)
    >>> display = PropagationDisplay.from_estimator(model, views, constraints)
    >>> [len(lines.get_segments()) for lines in display.source_lines_.values()]
    [2, 2]
    >>> sum(len(lines.get_segments()) for lines in display.lines_["b"].values()) == model.propagated_["a"].size
    True
    """

    def __init__(
        self,
        embeddings: Mapping[str, Any],
        labels: Any,
        constraints: Constraints,
        propagated: Constraints,
        source: str,
        reaches: Sequence[Any] = (),
        *,
        max_links: int = MAX_LINKS,
    ) -> None:
        if source not in embeddings:
            raise ValueError(f"source={source!r} is not a view: choose from {', '.join(map(repr, embeddings))}")
        ordered = {name: embeddings[name] for name in sorted(embeddings, key=lambda name: name != source)}
        super().__init__(ordered, labels, propagated, max_links=max_links)
        self.source = source
        self.source_constraints = constraints
        self.reaches = [np.asarray(outline, dtype=np.float64) for outline in reaches]
        check_positions([constraints], len(self.labels))

    def _draw_links(self, panel: Axes, name: str, positions: np.ndarray) -> None:
        """Draw the constraints that are passed on, and in the source those of the view and how far they reach."""
        from matplotlib.collections import LineCollection

        drawn, _ = self._select_links(name, self.constraints[name])
        share = drawn.weights / max(drawn.weights.max(initial=0.0), np.finfo(float).tiny)
        self.lines_[name] = draw_lines(panel, positions, drawn, 0.3 + 1.2 * share**3, 0.1 + 0.7 * share**3)
        if name == self.source:
            drawn, _ = self._select_links(name, self.source_constraints)
            self.source_lines_ = draw_lines(panel, positions, drawn, np.full(len(drawn.weights), SOURCE_WIDTH))
            self.outlines_ = LineCollection(self.reaches, zorder=2, **REACH)
            panel.add_collection(self.outlines_)

    def _describe_panel(self, name: str, n_drawn: int) -> str:
        drawn, n_links = self._select_links(name, self.constraints[name])
        links = describe_links(drawn, n_links, "constraint")
        entities = f"{pluralize(n_drawn, 'entity')} drawn"
        if name != self.source:
            return f"{entities}\nreceives {links}"
        drawn, n_links = self._select_links(name, self.source_constraints)
        return f"{entities}\nhas {describe_links(drawn, n_links, 'constraint')}\npasses on {links}"

    def _list_lines(self) -> list[Any]:
        from matplotlib.lines import Line2D

        handles = []
        for kind in KINDS:
            style: dict[str, Any] = {"color": LINK_COLORS[kind], "linestyle": LINK_DASHES[kind]}
            handles.append(
                Line2D([], [], label=f"{kind} of {escape_name(self.source)}", linewidth=SOURCE_WIDTH, **style)
            )
            handles.append(Line2D([], [], label=f"{kind} passed on", linewidth=1.2, **style))
        return handles + [Line2D([], [], label="reach", **REACH)] * bool(self.reaches)

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        views: Any,
        constraints: Any = None,
        *,
        source: str | None = None,
        max_links: int = MAX_LINKS,
        max_points: int = 20_000,
        random_state: int = 0,
        ax: Any = None,
    ) -> PropagationDisplay:
        """Draw the constraints that a view of a fitted `MultiViewConstrainedKMeans` passes on to the others.

        Views of more than two columns are projected. In a source of two columns, ellipses around the ends of the five
        strongest constraints show how far they reach: where the weight falls to the threshold if the other end of a
        propagated constraint is that of the original.

        Parameters
        ----------
        %(model)s
        %(views)s
        constraints : Constraints, or mapping of view to Constraints, optional
            As given to `fit`; by default all that the model was given, in every view that both ends have.
        source : str, optional
            The view that passes constraints on; by default the one with the most `constraints`, and of several such
            views the one that passes on most.
        %(max_links)s
        %(max_points)s
        %(axes_returns_display)s
        """
        views = check_fitted_views(model, views)
        propagated = get_fitted_attribute(model, "propagated_")
        if constraints is None:
            constraints = model.input_constraints_
        links_by_view = resolve_by_view(constraints, views)
        if source is None:
            source = max(views.names, key=lambda name: (links_by_view[name].size, propagated[name].size))
        if source not in propagated:
            raise ValueError(f"source={source!r} is not a view: choose from {', '.join(map(repr, propagated))}")
        links, passed_on = links_by_view[source], propagated[source]
        embeddings = compute_positions(views, [links, passed_on], max_points, random_state)
        labels = get_view_labels(model, views)
        reaches = outline_reaches(model, views, source, links) if views[source].shape[1] == 2 else []
        return cls(embeddings, labels, links, passed_on, source, reaches, max_links=max_links).plot(ax)


def outline_reaches(model: Any, views: Views, source: str, constraints: Constraints) -> list[np.ndarray]:
    """Compute ellipses around the ends of the strongest constraints, at which their weight falls to the threshold."""
    if model.transfer != "propagate":
        return []
    present = views.present[:, views.names.index(source)]
    X, labels = to_numpy(views[source]).astype(np.float64), model.view_labels_[source]
    centers, metric = model.cluster_centers_[source], model._views[source].metric
    shapes = estimate_shapes(X[present], labels[present], centers, metric, model.gamma)
    angles = np.linspace(0, 2 * np.pi, 61)
    circle = np.column_stack([np.cos(angles), np.sin(angles)])
    outlines = []
    _, pairs, weights = stack_links(constraints)
    visible = present[pairs].all(axis=1)
    for pair, weight in zip(pairs[visible][:N_REACHES], weights[visible][:N_REACHES], strict=True):
        for end in pair if weight > model.thresholds_[source] else ():
            whitener = shapes.whiteners[labels[end]]
            height = np.exp(-0.5 * np.sum(((X[end] - centers[labels[end]]) @ whitener) ** 2))  # g, by Eq 4
            radius = np.sqrt(2 * height * np.log(weight / model.thresholds_[source]))
            outlines.append(X[end] + radius * circle @ np.linalg.inv(whitener))
    return outlines
