"""The outcome of an assessment, in figures and in words."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from .._saving import save_as
from ..data import Table
from .reference import (
    FOLLOWED,
    LEAST_SHARED,
    LEAST_SUPPORT,
    RECORDS,
    STABLE_DISAGREEMENT,
    STABLE_DOUBT,
    UNRELIABLE_DOUBT,
    WORDS,
    choose_words,
    estimate_impurity,
    estimate_right,
)

DIGITS = 6  # of margins that are compared, because equal votes may be added up in another order
LEAST_GAIN = 0.02  # of doubt, by which a result must be better to be worth a recommendation
LEAST_SIMILARITY = 0.95  # of two results that are nearly the same
UNJUDGED = {  # why it is not known how well a view predicts the clusters
    "few": f"could not be judged: fewer than {LEAST_SHARED} of the assessed entities have it.",
    "constant": "could not be judged: it is the same for all assessed entities that have it.",
    "one cluster": "is no evidence for or against the clusters: all assessed entities that have it are in one cluster.",
}
Verdict = Literal["stable", "mixed", "do not rely"]


@save_as(
    "assessment",
    version=2,
    upgrade=lambda attributes, _: {"related": (), "averaged": (), **attributes},  # 1 had neither
)
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
        M: one minus the mean relative margin of each entity's cluster over the best other, where the views vote on
        the entity without having learned from it.
    clusters : Table
        Per cluster: ``size`` (assessed entities), ``stability`` (share of its entities that a fit to the other half
        puts into it again; NaN with fewer than two entities) and ``margin`` (their mean relative margin).
    views : Table
        Per view: ``support``, how well it and the view that confirms it best predict each other's clusters (0 for
        chance, 1 for perfect prediction; NaN if it cannot be compared with another view that is no copy of it);
        ``confirmed_by``, that view; ``confirmed``, whether the support reaches 0.05; ``trust``, by which views can be
        ordered: how well the other views predict its clusters, on average; ``share``, the part of the information in
        the model's clusters that it predicts (NaN for a view that is constant).
    stability : ndarray of shape (n_entities,)
        Share of the fits to halves without the entity that put it into its cluster; NaN if it was not assessed or is
        in no cluster.
    margin : ndarray of shape (n_entities,)
        Margin of each entity's cluster over the best other in the left-out vote, relative to its votes, 0 if another
        cluster has more votes; NaN if it is unknown, as of entities outside the sample with other methods than
        `Consilience`.
    copies : list of pairs of str
        Views that are nearly copies of each other, whose agreement proves nothing and does not count.
    n_assessed, n_splits : int
        Number of entities that were assessed, and of divisions into halves.
    alternative : Alternative or None
        The result without the views that no other view confirms, if `assess` was called with ``refit=True`` and there
        are such views.
    notes : list of str
        What limits the assessment.
    alike : list of pairs of str
        Other views that are very alike, whose agreement proves little.
    unjudged : mapping of str to str
        Views whose share of the clusters is not known, and why: 'few' entities, 'constant' or 'one cluster'.
    n_missing_clusters : int
        Number of requested clusters that have no entities.
    related : list of pairs of str
        Views that were made from the same data, which do not confirm each other.
    averaged : list of str
        Views whose rows are averages over several entities, which make all figures optimistic.

    Examples
    --------
    >>> import consilience as cs
    >>> views, _ = cs.datasets.make_gaussian_views(150, n_clusters=3, separation=12, random_state=0)
    >>> model = cs.Consilience(n_clusters=3, random_state=0).fit(views)
    >>> assessment = cs.assess(model, views)
    >>> assessment.verdict, round(assessment.disagreement, 2), assessment.n_assessed
    ('stable', 0.0, 150)
    >>> assessment.clusters["size"].tolist()
    [50, 50, 50]
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
    alike: Sequence[tuple[str, str]] = field(default_factory=tuple)
    unjudged: Mapping[str, str] = field(default_factory=dict)
    n_missing_clusters: int = 0
    related: Sequence[tuple[str, str]] = field(default_factory=tuple)
    averaged: Sequence[str] = field(default_factory=tuple)

    @property
    def doubt(self) -> float:
        """D: the mean of disagreement and ambiguity, the best estimate of how much is wrong."""
        return (self.disagreement + self.ambiguity) / 2

    @property
    def impurity(self) -> float | None:
        """Estimated share of the entities whose cluster consists mostly of entities of another kind.

        None if the clusters follow a view that no other confirms, if no two views confirm each other, or if rows are
        averages over several entities.
        """
        return estimate_impurity(self.doubt)[0] if self._can_estimate else None

    @property
    def impurity_range(self) -> tuple[float, float] | None:
        """The range in which the impurity lay in eight of ten results on reference sets; None without an estimate."""
        return estimate_impurity(self.doubt)[1] if self._can_estimate else None

    @property
    def _can_estimate(self) -> bool:
        return self.leading is None and self._n_confirmed >= 2 and not self.averaged

    @property
    def _n_confirmed(self) -> int:
        return len(self.confirmed)

    @property
    def confidence(self) -> np.ndarray:
        """How sure the cluster of each entity is, array of float: the estimated probability that it is right.

        An entity is right if it belongs to the kind that is most frequent in its cluster. The probability follows from
        the rank of the entity's margin and from the ambiguity, and is a whole number of percents. It is NaN where the
        margin is unknown, and for all entities if the clusters follow a view that no other confirms, or if no two
        views confirm each other. docs/trust.md says how often entities of each confidence were right.
        """
        return self.estimate_confidence(self.margin)

    @property
    def certainty(self) -> np.ndarray:
        """The word for each `confidence`, array of str: 'sure', 'likely', 'doubtful', 'a guess'; empty for NaN.

        From 0.9 an entity is sure, from 0.7 likely, from 0.5 doubtful, and below that a guess.
        """
        return choose_words(self.confidence)

    def estimate_confidence(self, margin: np.ndarray) -> np.ndarray:
        """Say how sure the clusters of entities are, by their margins in the vote of views that have not seen them.

        Parameters
        ----------
        margin : array-like of shape (n_entities,)
            Such as `Consilience.predict_confidence` returns for new entities; NaN if unknown.

        Returns
        -------
        ndarray of float, shape (n_entities,)
            As `confidence`; NaN where the margin is.
        """
        margin = np.asarray(margin, dtype=np.float64)
        confidence = np.full(len(margin), np.nan)
        if self.lacks_confirmation:  # margins tell how clearly entities follow one view
            return confidence
        has_margin = np.flatnonzero(np.isfinite(margin))
        assessed = self.margin[np.isfinite(self.margin)]
        ranks = rank_margins(np.round(margin[has_margin], DIGITS), np.round(assessed, DIGITS))
        confidence[has_margin] = estimate_right(ranks, self.ambiguity)
        return confidence

    @property
    def lacks_confirmation(self) -> bool:
        """Whether the clusters follow a view that no other confirms, or no two of several views confirm each other."""
        return self.leading is not None or (len(self.compared) > 1 and self._n_confirmed < 2)

    @property
    def compared(self) -> list[str]:
        """The views that could be compared with a view that is no copy of them."""
        return self.views["view"][np.isfinite(self.views["support"])].tolist()

    @property
    def confirmed(self) -> list[str]:
        """The views that another view confirms."""
        return [name for name, is_confirmed in self._get_column("confirmed").items() if is_confirmed]

    @property
    def unconfirmed(self) -> list[str]:
        """The views that no other view confirms, among those that could be compared."""
        confirmed = self._get_column("confirmed")
        return [name for name in self.compared if not confirmed[name]]

    @property
    def leading(self) -> str | None:
        """An unconfirmed view that predicts the clusters better than every confirmed view: the clusters follow it."""
        unconfirmed, shares = self.unconfirmed, self._finite_shares
        judged = [name for name in self.compared if name in shares]
        if not set(unconfirmed) & set(judged) or set(judged) <= set(unconfirmed):
            return None
        best = max(judged, key=lambda name: (shares[name], name not in unconfirmed))
        return best if best in unconfirmed else None

    @property
    def dissenting(self) -> list[str]:
        """Views that are confirmed by a view which, like them, does not predict the clusters: they hold other ones."""
        shares = self._finite_shares
        dissenting = []
        for view, other in self._get_column("confirmed_by").items():
            pair_shares = [shares[name] for name in (view, other) if name in shares]
            if other and pair_shares and max(pair_shares) < LEAST_SUPPORT:
                dissenting.append(view)
        return dissenting

    @property
    def _finite_shares(self) -> dict[str, float]:
        """The share of the clusters that each view predicts, without views for which it is unknown."""
        return {view: share for view, share in self._get_column("share").items() if np.isfinite(share)}

    def _get_column(self, name: str) -> dict[str, Any]:
        """Return a column of the table of views, by view."""
        return dict(zip(self.views["view"].tolist(), self.views[name].tolist(), strict=True))

    @property
    def verdict(self) -> Verdict:
        """'stable', 'mixed' or 'do not rely'."""
        if self.doubt > UNRELIABLE_DOUBT or self.leading is not None:
            return "do not rely"
        repeatable = self.disagreement <= STABLE_DISAGREEMENT and self.doubt <= STABLE_DOUBT
        confirmed = self._n_confirmed >= 2 and not self.dissenting
        is_biased = self.n_missing_clusters > 0 or len(self.averaged) > 0
        return "stable" if repeatable and confirmed and not is_biased else "mixed"

    @property
    def reason(self) -> str:
        """One sentence that says why the verdict is what it is."""
        return self.explain(
            f"{1 - self.disagreement:.0%} of the entities keep their cluster when the data is resampled"
        )

    def explain(self, repeated: str, entities: str = "entities", clusters: str = "clusters") -> str:
        """Return one sentence that says why the verdict is what it is.

        Parameters
        ----------
        repeated : str
            A clause that says how repeatable the result is.
        entities, clusters : str
            What the sentence calls them.

        Returns
        -------
        str
        """
        if self.leading is not None:
            return f"the {clusters} follow view {self.leading!r}, which no other view confirms; {repeated}."
        if self.verdict == "stable" or self.doubt > UNRELIABLE_DOUBT:
            return f"{repeated}."
        if self.n_missing_clusters:
            verb = "has" if self.n_missing_clusters == 1 else "have"
            return f"{repeated}, but {self.n_missing_clusters} of the requested {clusters} {verb} no {entities}."
        if self.views.n_rows < 2:
            return f"{repeated}, but there is no second view to confirm the {clusters}."
        if not self.compared:
            return f"{repeated}, but there are no two views that could confirm each other."
        if len(self.unconfirmed) == len(self.compared):
            return f"{repeated}, but no view confirms another."
        if self.dissenting:
            return (
                f"{repeated}, but {list_views(self.dissenting)} confirm each other and do not predict these {clusters}."
            )
        if self.averaged and self.disagreement <= STABLE_DISAGREEMENT:
            return (
                f"{repeated}, which is too optimistic: rows of {list_views(self.averaged)} are averages over several "
                f"{entities}."
            )
        if self.disagreement <= STABLE_DISAGREEMENT:
            return f"{repeated}, but many {entities} lie between {clusters}."
        return f"{repeated}."

    @property
    def headline(self) -> str:
        """The verdict and its reason in one sentence."""
        return f"{self.verdict.capitalize()}: {self.reason}"

    @property
    def worth(self) -> str:
        """One sentence that says how often this verdict was right on the reference sets."""
        if self.leading is not None:
            return f"Where clusters followed a view that no other confirms, {FOLLOWED}."
        return f"With this verdict {RECORDS[self.verdict]}."

    @property
    def estimate(self) -> str:
        """One sentence with the estimated impurity and its range, or why there is no estimate."""
        if self.impurity is None or self.impurity_range is None:
            reason = "no two views confirm each other" if self.views.n_rows > 1 else "there is no second view"
            if self.leading is not None:
                reason = f"the clusters follow view {self.leading!r}, which no other view confirms"
            elif self.averaged and self._n_confirmed >= 2:
                reason = (
                    f"rows of {list_views(self.averaged)} are averages over several entities, so that these figures "
                    "are too good"
                )
            lacking = "the impurity, and no confidence," if self.lacks_confirmation else "the impurity,"
            return f"There is no estimate of {lacking} because {reason}."
        low, high = self.impurity_range
        return (
            f"Estimated impurity: {self.impurity:.0%} of the entities are in a cluster that consists mostly of "
            f"entities of another kind ({low:.0%} to {high:.0%} in eight of ten results on reference sets)."
        )

    @property
    def advice(self) -> list[str]:
        """Sentences about views that no other view confirms, and about copies."""
        sentences = []
        unconfirmed, n_compared = self.unconfirmed, len(self.compared)
        if n_compared == 2 and unconfirmed:
            sentences.append(
                f"Views {unconfirmed[0]!r} and {unconfirmed[1]!r} do not confirm each other, and nothing here tells "
                "which of them is right: cluster each alone, compare, and decide by what you know about them."
            )
        elif n_compared > 2 and len(unconfirmed) == n_compared:
            sentences.append("No view confirms another, and nothing here tells which of them is right.")
        elif unconfirmed:
            pronoun = "it" if len(unconfirmed) == 1 else "them"
            sentences.append(f"No other view confirms {list_views(unconfirmed)}: compare the result without {pronoun}.")
        if self.dissenting and self.leading is None:
            sentences.append(
                f"The data hold two groupings, of which {list_views(self.dissenting)} show the other. Nothing here "
                "tells which is right. Cluster them apart, and decide by what you know about them."
            )
        for first, second in self.copies:
            sentences.append(
                f"Views {first!r} and {second!r} are nearly copies of each other: that they agree proves nothing."
            )
        for first, second in self.alike:
            sentences.append(f"Views {first!r} and {second!r} are very alike: that they agree proves little.")
        sentences += self._explain_uncompared()
        if self.alternative is not None:
            sentences.append(self.alternative.describe())
            if self.leading is None:
                sentences += self._weigh(self.alternative)
        return sentences

    def _weigh(self, alternative: Alternative) -> list[str]:
        """Return a sentence if the result without some views is no more repeatable.

        Coarse clusters are repeated easily, so that this alone does not tell which of two different results is right.
        """
        gain = self.doubt - alternative.assessment.doubt
        pronoun = "it" if len(alternative.left_out) == 1 else "them"
        if gain >= LEAST_GAIN:
            return []
        if alternative.similarity >= LEAST_SIMILARITY:
            return [f"The result is no more reliable without {pronoun}, which may therefore stay."]
        if gain > -LEAST_GAIN:
            return ["Both results are about as repeatable: compare them."]
        return [f"The result without {pronoun} is less repeatable, which does not mean that it is worse: compare them."]

    def _explain_uncompared(self) -> list[str]:
        """Return sentences that say why views could not be compared with others, except copies and related views."""
        sentences = []
        copies = {name for pair in (*self.copies, *self.related) for name in pair}
        for name, support in self._get_column("support").items():
            if name in self.unjudged:
                sentences.append(f"View {name!r} {UNJUDGED[self.unjudged[name]]}")
            elif np.isnan(support) and self.views.n_rows > 1 and name not in copies:
                sentences.append(
                    f"View {name!r} could not be compared with another view: no other that varies has {LEAST_SHARED} "
                    "of its assessed entities."
                )
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
            "impurity_range": None if self.impurity_range is None else list(self.impurity_range),
            "unconfirmed": self.unconfirmed,
            "advice": self.advice,
            "notes": list(self.notes),
            "views": list_rows(self.views),
            "clusters": list_rows(self.clusters),
            "certainty": {word: int(np.sum(self.certainty == word)) for word, _ in WORDS},
            "entities": self.n_assessed,
            "splits": self.n_splits,
            "alternative": None if self.alternative is None else self.alternative.to_dict(),
        }


@save_as("assessment-alternative")
@dataclass(frozen=True, eq=False)
class Alternative:
    """The result without the views that no other view confirms.

    Attributes
    ----------
    left_out : tuple of str
        The views that were left out.
    model : estimator
        Fitted to the other views; entities that have none of them are not among its `labels_`. Of a pipeline only the
        last step was fitted again.
    rows : ndarray
        The positions of the entities of `model`.
    assessment : Assessment
        Of that model.
    similarity : float
        Normalized mutual information of its labels and the labels with all views.
    labels : ndarray or None
        The clusters of these entities, which are saved even if the model is not.

    Examples
    --------
    >>> import numpy as np
    >>> import consilience as cs
    >>> views, _ = cs.datasets.make_gaussian_views(100, n_clusters=2, separation=12, random_state=0)
    >>> views = cs.Views({**dict(views.items()), "noise": np.random.default_rng(0).normal(size=(100, 4))})
    >>> model = cs.MultiViewKMeans(n_clusters=2, random_state=0).fit(views)
    >>> alternative = cs.assess(model, views, refit=True).alternative
    >>> alternative.left_out, len(alternative.rows), round(alternative.similarity, 2)
    (('noise',), 100, 1.0)
    """

    left_out: tuple[str, ...]
    model: Any
    rows: np.ndarray
    assessment: Assessment
    similarity: float
    labels: np.ndarray | None = None

    def describe(self) -> str:
        """Return one sentence that compares it with the result of all views."""
        other = self.assessment
        impurity = "" if other.impurity is None else f" estimated impurity {other.impurity:.0%},"
        return (
            f"Without {list_views(self.left_out)}: {other.verdict},{impurity} {1 - other.disagreement:.0%} of the "
            "entities keep their cluster when the data is resampled; normalized mutual information with the result of "
            f"all views {self.similarity:.2f}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the figures and sentences for JSON."""
        return {"left_out": list(self.left_out), "similarity": self.similarity, "assessment": self.assessment.to_dict()}


def list_rows(table: Table) -> list[dict[str, Any]]:
    """Return the rows of a table as values of Python; NaN becomes None."""
    rows = [{name: np.asarray(value).item() for name, value in row.items()} for row in table.rows()]
    return [{name: None if value != value else value for name, value in row.items()} for row in rows]


def list_views(names: Sequence[str]) -> str:
    """Write "view" or "views" and the quoted names, with commas and an "and"."""
    if len(names) == 1:
        return f"view {names[0]!r}"
    return f"views {', '.join(map(repr, names[:-1]))} and {names[-1]!r}"


def rank_margins(margin: np.ndarray, assessed: np.ndarray) -> np.ndarray:
    """Return the rank of each margin among the assessed ones divided by their number, from near 0 to 1.

    Ties share a rank.
    """
    ordered = np.sort(assessed)
    n_below, n_up_to = (np.searchsorted(ordered, margin, side=side) for side in ("left", "right"))
    return np.minimum(1.0, (n_below + n_up_to + 1) / (2 * max(1, len(ordered))))


def tabulate_views(
    names: Sequence[str], judged: Mapping[str, np.ndarray], related: Sequence[tuple[str, str]] = ()
) -> Table:
    """Return the table of views from how well each view (row) predicts the clusters of each other (column).

    Copies confirm nothing, and neither do views that were made from the same data, so that a view's support and trust
    come from other views; what confirms a view confirms its copy.
    """
    prediction = judged["prediction"].copy()
    positions = [[names.index(name) for name in pair] for pair in related if set(pair) <= set(names)]
    for first, second in [*judged["copies"].tolist(), *positions]:
        prediction[first, second] = prediction[second, first] = np.nan
    mutual = (prediction + prediction.T) / 2
    for first, second in judged["copies"].tolist():
        mutual[first] = mutual[second] = np.fmax(mutual[first], mutual[second])
    n_views = len(names)
    rows = []
    for v, name in enumerate(names):
        support, best = np.nan, ""
        if not np.isnan(mutual[v]).all():
            best = names[int(np.nanargmax(mutual[v]))]
            support = float(np.nanmax(mutual[v]))
        others = prediction[np.arange(n_views) != v, v]
        predicted = max(0.0, float(np.nanmean(others))) if np.isfinite(others).any() else np.nan
        rows.append(
            {
                "view": name,
                "support": support,
                "confirmed_by": best if support >= LEAST_SUPPORT else "",
                "confirmed": support >= LEAST_SUPPORT,
                "trust": predicted,
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
