"""The outcome of an assessment, in figures and in words."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from ..data import Table
from .reference import LEAST_SUPPORT, RECORDS, STABLE_DISAGREEMENT, STABLE_DOUBT, UNRELIABLE_DOUBT, estimate_impurity

Verdict = Literal["stable", "mixed", "do not rely"]


@dataclass(frozen=True, eq=False)
class Assessment:
    """How far a clustering can be relied on, judged by entities that the models have not seen.

    Printing it shows the verdict and its reasons. No figure here bounds the error: without labels nothing does. The
    figures were compared with the true classes of 28 reference sets, and the sentences say how that went.

    Attributes
    ----------
    disagreement : float
        R: how often two fits to disjoint halves of the entities disagree about entities that the one has seen and the
        other has not, or, if that is more often, how often such a fit disagrees with the model about entities it has
        not seen; clusters are matched one to one.
    ambiguity : float
        M: one minus the mean relative margin of the cluster with most votes over the second, where the views vote on
        each entity without having learned from it.
    clusters : Table
        Per cluster: ``size`` (assessed entities), ``stability`` (share of its entities that a fit to the other half
        puts into it again; NaN with fewer than two entities) and ``margin`` (their mean relative margin).
    views : Table
        Per view: ``support``, how well it and the view that confirms it best predict each other's clusters (0 for
        chance, 1 for copies); ``confirmed_by``, that view; ``confirmed``, whether the support reaches 0.05; ``trust``,
        by which views can be ordered: how far the view's own clusters are reproduced by halves, times how well the
        other views predict them; ``share``, the part of the information in the clusters that it predicts.
    stability : ndarray of shape (n_entities,)
        Share of the fits to halves without the entity that put it into its cluster; NaN if it was not assessed.
    margin : ndarray of shape (n_entities,)
        Relative margin of each entity's cluster in the left-out vote; NaN if it was not assessed.
    copies : list of pairs of str
        Views that are nearly copies of each other, whose agreement proves nothing.
    n_assessed, n_splits : int
        Number of entities that were assessed, and of divisions into halves.
    alternative : Alternative or None
        The result without the views that no other view confirms, if `assess` was called with ``refit=True`` and there
        are such views.
    """

    disagreement: float
    ambiguity: float
    clusters: Table
    views: Table
    stability: np.ndarray
    margin: np.ndarray
    copies: Sequence[tuple[str, str]]
    n_assessed: int
    n_splits: int
    alternative: Alternative | None = None
    notes: Sequence[str] = field(default_factory=tuple)

    @property
    def doubt(self) -> float:
        """D: the mean of disagreement and ambiguity, the best estimate of how much is wrong."""
        return (self.disagreement + self.ambiguity) / 2

    @property
    def impurity(self) -> float:
        """Estimated share of the entities whose cluster consists mostly of entities of another kind."""
        return estimate_impurity(self.doubt)[0]

    @property
    def impurity_range(self) -> tuple[float, float]:
        """The range in which the impurity lay in eight of ten results on reference sets with such a doubt."""
        return estimate_impurity(self.doubt)[1]

    @property
    def unconfirmed(self) -> list[str]:
        """The views that no other view confirms; of a single view nothing is said."""
        if self.views.n_rows < 2:
            return []
        return [str(name) for name, ok in zip(self.views["view"], self.views["confirmed"], strict=True) if not ok]

    @property
    def leading(self) -> str | None:
        """An unconfirmed view that predicts the clusters better than every confirmed view: the clusters follow it."""
        unconfirmed = set(self.unconfirmed)
        if not unconfirmed or len(unconfirmed) == self.views.n_rows:
            return None
        shares = dict(zip(self.views["view"].tolist(), self.views["share"].tolist(), strict=True))
        best = max(shares, key=lambda name: shares[name])
        return best if best in unconfirmed else None

    @property
    def verdict(self) -> Verdict:
        """'stable', 'mixed' or 'do not rely'."""
        if self.doubt > UNRELIABLE_DOUBT or self.leading is not None:
            return "do not rely"
        confirmed = self.views.n_rows - len(self.unconfirmed) if self.views.n_rows > 1 else 0
        if self.disagreement <= STABLE_DISAGREEMENT and self.doubt <= STABLE_DOUBT and confirmed >= 2:
            return "stable"
        return "mixed"

    @property
    def reason(self) -> str:
        """One sentence that says why the verdict is what it is."""
        repeated = f"fits to half of the entities repeat the clusters of {1 - self.disagreement:.0%} of the other half"
        if self.leading is not None:
            return f"the clusters follow view {self.leading!r}, which no other view confirms; {repeated}."
        if self.verdict == "stable" or self.doubt > UNRELIABLE_DOUBT:
            return f"{repeated}."
        if self.views.n_rows < 2:
            return f"{repeated}, but there is no second view to confirm the clusters."
        if len(self.unconfirmed) == self.views.n_rows:
            return f"{repeated}, but no view confirms another."
        return f"{repeated}."

    @property
    def headline(self) -> str:
        """The verdict and its reason in one sentence."""
        return f"{self.verdict.capitalize()}: {self.reason}"

    @property
    def worth(self) -> str:
        """One sentence that says how often this verdict was right on the reference sets."""
        return f"With this verdict {RECORDS[self.verdict]}."

    @property
    def estimate(self) -> str:
        """One sentence with the estimated impurity and its range."""
        low, high = self.impurity_range
        return (
            f"Estimated impurity: {self.impurity:.0%} of the entities are in a cluster that consists mostly of "
            f"entities of another kind ({low:.0%} to {high:.0%} in eight of ten results on reference sets)."
        )

    @property
    def advice(self) -> list[str]:
        """Sentences about views that no other view confirms, and about copies."""
        sentences = []
        unconfirmed, n_views = self.unconfirmed, self.views.n_rows
        if n_views == 2 and unconfirmed:
            sentences.append(
                f"Views {list_names(unconfirmed)} do not confirm each other, and nothing here tells which of them is "
                "right: cluster each alone, compare, and decide by what you know about them."
            )
        elif n_views > 2 and len(unconfirmed) == n_views:
            sentences.append("No view confirms another, and nothing here tells which of them is right.")
        elif unconfirmed:
            subject = f"view {unconfirmed[0]!r}" if len(unconfirmed) == 1 else f"views {list_names(unconfirmed)}"
            pronoun = "it" if len(unconfirmed) == 1 else "them"
            sentences.append(f"No other view confirms {subject}: compare the result without {pronoun}.")
        for first, second in self.copies:
            sentences.append(
                f"Views {first!r} and {second!r} are nearly copies of each other: that they agree proves nothing."
            )
        if self.alternative is not None:
            sentences.append(self.alternative.describe())
        return sentences

    def __repr__(self) -> str:
        lines = [self.headline, self.worth, self.estimate, *self.advice, *self.notes]
        tables = [self.clusters] if self.views.n_rows < 2 else [self.views, self.clusters]
        return "\n".join([*lines, *(f"\n{table!r}" for table in tables)])

    def _repr_html_(self) -> str:
        sentences = [self.worth, self.estimate, *self.advice, *self.notes]
        text = "".join(f"<p>{html.escape(sentence)}</p>" for sentence in sentences)
        tables = "" if self.views.n_rows < 2 else self.views._repr_html_()
        return f"<p><strong>{html.escape(self.headline)}</strong></p>{text}{tables}{self.clusters._repr_html_()}"

    def to_dict(self) -> dict[str, Any]:
        """Return the figures and sentences, without the arrays per entity, for JSON."""
        return {
            "verdict": self.verdict,
            "reason": self.reason,
            "worth": self.worth,
            "disagreement": self.disagreement,
            "ambiguity": self.ambiguity,
            "doubt": self.doubt,
            "impurity": self.impurity,
            "impurity_range": list(self.impurity_range),
            "unconfirmed": self.unconfirmed,
            "advice": self.advice,
            "notes": list(self.notes),
            "views": self.views,
            "clusters": self.clusters,
            "entities": self.n_assessed,
            "splits": self.n_splits,
            "alternative": None if self.alternative is None else self.alternative.to_dict(),
        }


@dataclass(frozen=True, eq=False)
class Alternative:
    """The result without the views that no other view confirms.

    Attributes
    ----------
    left_out : tuple of str
        The views that were left out.
    model : estimator
        Fitted to the other views; entities that have none of them are not among its `labels_`.
    rows : ndarray
        The positions of the entities of `model`.
    assessment : Assessment
        Of that model.
    similarity : float
        Normalised mutual information of its labels and the labels with all views.
    """

    left_out: tuple[str, ...]
    model: Any
    rows: np.ndarray
    assessment: Assessment
    similarity: float

    def describe(self) -> str:
        """Return one sentence that compares it with the result of all views."""
        views = f"view {self.left_out[0]!r}" if len(self.left_out) == 1 else f"views {list_names(self.left_out)}"
        other = self.assessment
        return (
            f"Without {views}: {other.verdict}, estimated impurity {other.impurity:.0%}, fits to half of the entities "
            f"repeat the clusters of {1 - other.disagreement:.0%} of the other half; normalised mutual information "
            f"with the result of all views {self.similarity:.2f}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the figures and sentences for JSON."""
        return {
            "left_out": list(self.left_out),
            "similarity": self.similarity,
            "assessment": self.assessment.to_dict(),
        }


def list_names(names: Sequence[str]) -> str:
    """Write quoted names, with commas and an "and"."""
    return f"{', '.join(map(repr, names[:-1]))} and {names[-1]!r}"


def tabulate_views(names: Sequence[str], judged: Mapping[str, np.ndarray]) -> Table:
    """Return the table of views from how well each view (row) predicts the clusters of each other (column).

    Copies confirm nothing, so that a view's support comes from views that are no copies of it.
    """
    mutual = (judged["prediction"] + judged["prediction"].T) / 2
    for first, second in judged["copies"].tolist():
        mutual[first, second] = mutual[second, first] = np.nan
    n_views = len(names)
    rows = []
    for v, name in enumerate(names):
        support, best = np.nan, ""
        if not np.isnan(mutual[v]).all():
            best = names[int(np.nanargmax(mutual[v]))]
            support = float(np.nanmax(mutual[v]))
        others = judged["prediction"][np.arange(n_views) != v, v]
        predicted = max(0.0, float(np.nanmean(others))) if np.isfinite(others).any() else np.nan
        rows.append(
            {
                "view": name,
                "support": support,
                "confirmed_by": best if support >= LEAST_SUPPORT else "",
                "confirmed": support >= LEAST_SUPPORT,
                "trust": float(judged["halves_agree"][v]) * predicted,
                "share": float(judged["share"][v]),
            }
        )
    return Table.from_rows(rows)


def tabulate_clusters(labels: np.ndarray, arrays: Mapping[str, np.ndarray]) -> Table:
    """Return the size of each cluster and the mean of arrays per entity over its entities, NaN if it has only one."""
    rows = []
    for cluster in np.unique(labels[labels >= 0]):
        members = labels == cluster
        size = int(members.sum())
        means = {name: float(np.mean(values[members])) if size > 1 else np.nan for name, values in arrays.items()}
        rows.append({"cluster": int(cluster), "size": size, **means})
    return Table.from_rows(rows)
