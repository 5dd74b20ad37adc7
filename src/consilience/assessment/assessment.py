"""The outcome of an assessment, in figures and in words."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from scipy.stats import rankdata

from ..data import Table
from .reference import (
    LEAST_SHARED,
    LEAST_SUPPORT,
    RECORDS,
    STABLE_DISAGREEMENT,
    STABLE_DOUBT,
    UNRELIABLE_DOUBT,
    WORDS,
    estimate_impurity,
    estimate_right,
)

LEAST_GAIN = 0.02  # of doubt, by which a result must be better to be worth a recommendation
WORD_TYPE = f"<U{max(len(word) for word, _ in WORDS)}"
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
        Share of the fits to halves without the entity that put it into its cluster; NaN if it was not assessed.
    margin : ndarray of shape (n_entities,)
        Margin of each entity's cluster over the best other in the left-out vote, relative to its votes, 0 if another
        cluster has more votes; NaN if it was not assessed.
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
    def certainty(self) -> np.ndarray:
        """How sure the cluster of each entity is, array of str: 'sure', 'likely', 'doubtful', 'a guess'.

        The words follow from the rank of the entity's margin and from the ambiguity. They are empty where an entity was
        not assessed. If the clusters follow a view that no other confirms, no entity is more than doubtful.
        docs/trust.md says how often each word was right on the reference sets.
        """
        words = np.full(len(self.margin), "", dtype=WORD_TYPE)
        assessed = np.flatnonzero(np.isfinite(self.margin))
        words[assessed] = choose_words(rank_margins(self.margin[assessed]), self.ambiguity)
        if self.leading is not None:  # margins tell how clearly entities follow that view
            words[np.isin(words, ("sure", "likely"))] = "doubtful"
        return words

    @property
    def compared(self) -> list[str]:
        """The views that could be compared with a view that is no copy of them."""
        return self.views["view"][np.isfinite(self.views["support"])].tolist()

    @property
    def unconfirmed(self) -> list[str]:
        """The views that no other view confirms; of a view that cannot be compared with others nothing is said."""
        compared = set(self.compared)
        confirmed = dict(zip(self.views["view"].tolist(), self.views["confirmed"].tolist(), strict=True))
        return [str(name) for name, ok in confirmed.items() if name in compared and not ok]

    @property
    def leading(self) -> str | None:
        """An unconfirmed view that predicts the clusters better than every confirmed view: the clusters follow it."""
        unconfirmed = self.unconfirmed
        confirmed = [name for name in self.compared if name not in unconfirmed]
        if not unconfirmed or not confirmed:
            return None
        shares = dict(zip(self.views["view"].tolist(), self.views["share"].tolist(), strict=True))
        best = max([*confirmed, *unconfirmed], key=lambda name: shares[name])
        return best if best in unconfirmed else None

    @property
    def dissenting(self) -> list[str]:
        """Views that are confirmed by a view which, like them, does not predict the clusters: they hold other ones."""
        shares = dict(zip(self.views["view"].tolist(), self.views["share"].tolist(), strict=True))
        pairs = zip(self.views["view"].tolist(), self.views["confirmed_by"].tolist(), strict=True)
        return [view for view, other in pairs if other and max(shares[view], shares[other]) < LEAST_SUPPORT]

    @property
    def verdict(self) -> Verdict:
        """'stable', 'mixed' or 'do not rely'."""
        if self.doubt > UNRELIABLE_DOUBT or self.leading is not None:
            return "do not rely"
        repeatable = self.disagreement <= STABLE_DISAGREEMENT and self.doubt <= STABLE_DOUBT
        confirmed = len(self.compared) - len(self.unconfirmed) >= 2 and not self.dissenting
        return "stable" if repeatable and confirmed else "mixed"

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
        if not self.compared:
            return f"{repeated}, but there are no two views that could confirm each other."
        if len(self.unconfirmed) == len(self.compared):
            return f"{repeated}, but no view confirms another."
        if self.dissenting:
            return (
                f"{repeated}, but {list_views(self.dissenting)} confirm each other and do not predict these clusters."
            )
        if self.disagreement <= STABLE_DISAGREEMENT:
            return f"{repeated}, but many entities lie between clusters."
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
                f"The data hold two groupings, of which {list_views(self.dissenting)} show the other: nothing here "
                "tells which is right: cluster them apart, and decide by what you know about them."
            )
        for first, second in self.copies:
            sentences.append(
                f"Views {first!r} and {second!r} are nearly copies of each other: that they agree proves nothing."
            )
        sentences += self._explain_uncompared()
        if self.alternative is not None:
            sentences.append(self.alternative.describe())
            if self.leading is None and self.alternative.assessment.doubt > self.doubt - LEAST_GAIN:
                pronoun = "it" if len(unconfirmed) == 1 else "them"
                sentences.append(f"The result is no more reliable without {pronoun}, which may therefore stay.")
        return sentences

    def _explain_uncompared(self) -> list[str]:
        """Say why views could not be compared with others, unless they are copies."""
        sentences = []
        copies = {name for pair in self.copies for name in pair}
        for name, support, share in zip(
            self.views["view"].tolist(), self.views["support"].tolist(), self.views["share"].tolist(), strict=True
        ):
            if np.isnan(share):
                sentences.append(
                    f"View {name!r} could not be judged: fewer than {LEAST_SHARED} of the assessed entities have it, "
                    "or it is the same for all of them."
                )
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
            "impurity_range": list(self.impurity_range),
            "unconfirmed": self.unconfirmed,
            "advice": self.advice,
            "notes": list(self.notes),
            "views": self.views,
            "clusters": self.clusters,
            "certainty": {word: int(np.sum(self.certainty == word)) for word, _ in WORDS},
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
        other = self.assessment
        return (
            f"Without {list_views(self.left_out)}: {other.verdict}, estimated impurity {other.impurity:.0%}, fits to "
            f"half of the entities repeat the clusters of {1 - other.disagreement:.0%} of the other half; normalised "
            f"mutual information with the result of all views {self.similarity:.2f}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the figures and sentences for JSON."""
        return {
            "left_out": list(self.left_out),
            "similarity": self.similarity,
            "assessment": self.assessment.to_dict(),
        }


def list_views(names: Sequence[str]) -> str:
    """Write "view" or "views" and the quoted names, with commas and an "and"."""
    if len(names) == 1:
        return f"view {names[0]!r}"
    return f"views {', '.join(map(repr, names[:-1]))} and {names[-1]!r}"


def rank_margins(margin: np.ndarray) -> np.ndarray:
    """Return the rank of each margin divided by their number, from near 0 for the lowest to 1; ties share a rank."""
    return rankdata(margin) / max(1, len(margin))


def choose_words(ranks: np.ndarray, ambiguity: float) -> np.ndarray:
    """Return the word for the certainty of entities with these ranks."""
    probability = estimate_right(ranks, ambiguity)
    words = np.full(len(ranks), WORDS[-1][0], dtype=WORD_TYPE)
    for word, least in reversed(WORDS):
        words[probability >= least] = word
    return words


def tabulate_views(names: Sequence[str], judged: Mapping[str, np.ndarray]) -> Table:
    """Return the table of views from how well each view (row) predicts the clusters of each other (column).

    Copies confirm nothing, so that a view's support and trust come from views that are no copies of it; what confirms
    a view confirms its copy.
    """
    prediction = judged["prediction"].copy()
    for first, second in judged["copies"].tolist():
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
