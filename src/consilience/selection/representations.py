"""Choose among several encodings of the same data without labels."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from numbers import Integral, Real

import numpy as np
import scipy.sparse as sp

from ..arrays import Seed, make_generator, use_threads
from ..assessment.left_out import prepare_apart
from ..data import Table, Views
from ..methods.agreement.estimator import measure_information
from ..methods.agreement.inputs import PreparedView
from ..methods.agreement.refine import Round
from ..methods.common.halves import check_entities_per_cluster, digest_rows
from ..methods.common.validation import RANDOM_STATE, Interval, validate_params
from .predictors import MOST_FEATURES, SharedPredictors
from .select import find_distinct

USUAL_NUMBERS = (4, 8, 16)  # of clusters, over which scores are averaged if the number is not known
FEWEST_PER_CLUSTER = 20  # entities without which one of these numbers is not used
LEAST_ADDED = 0.5  # of what the default's views predict on average, for each view that a candidate adds
LEAST_SHARE = 1e-6  # in the denominator, if the default's views predict nothing
SEEDS_OF_SAMPLE = 10  # entities from which a sample of linked entities grows


@dataclass(frozen=True, eq=False)
class RepresentationChoice:
    """Which of several encodings of the same data is best, judged without labels.

    Attributes
    ----------
    name : str
        The chosen candidate.
    table : Table
        Per candidate: ``score``, the share of the information about its clusters that left-out predictions carry, mean
        over the different views of all candidates; ``kept``, the share that the first candidate's views carry, relative
        to what they carry about its clusters; ``added``, the share that the weakest view carries that the first
        candidate does not have, relative to the mean of the first candidate's views about its clusters, NaN without
        such a view; ``eligible``, whether both are large enough. A candidate that cannot be clustered has NaN
        everywhere.
    sentence : str
        The choice and its reason.
    n_entities : int
        Number of entities that were compared.

    Examples
    --------
    >>> import numpy as np
    >>> import consilience as cs
    >>> words, _ = cs.datasets.make_text_views(200, n_clusters=3, n_words=(100, 100), topic_share=0.2, random_state=0)
    >>> both = cs.Views({**dict(words.items()), "noise": np.random.default_rng(0).normal(size=(200, 20))})
    >>> choice = cs.selection.compare_representations({"words": words, "words+noise": both}, n_clusters=3)
    >>> choice.name, choice.n_entities, choice.table["eligible"].tolist()
    ('words', 200, [True, False])
    """

    name: str
    table: Table
    sentence: str
    n_entities: int

    def __repr__(self) -> str:
        return f"{self.sentence}\n\n{self.table!r}"


@validate_params(
    {
        "candidates": [Mapping],
        "n_clusters": [Interval(Integral, 2, None, closed="left"), None],
        "precomputed": ["array-like", set, frozenset],
        "dependent": ["array-like", set, frozenset],
        "least_kept": [Interval(Real, 0, None, closed="left")],
        "margin": [Interval(Real, 0, None, closed="left")],
        "max_entities": [Interval(Integral, 20, None, closed="left")],
        "random_state": RANDOM_STATE,
        "n_jobs": [Integral, None],
    },
    prefer_skip_nested_validation=True,
)
def compare_representations(
    candidates: Mapping[str, Views],
    *,
    n_clusters: int | None = None,
    precomputed: Collection[str] = (),
    dependent: Collection[str] = (),
    least_kept: float = 0.5,
    margin: float = 0.02,
    max_entities: int = 1_500,
    random_state: Seed = 0,
    n_jobs: int | None = None,
) -> RepresentationChoice:
    """Choose among encodings of the same data, such as a text by its words, by its meaning or by both.

    Each candidate is clustered by a quick version of `Consilience`. All clusterings are then judged by the same
    predictors, those of all different views of all candidates: how much of the information about the clusters do they
    predict for entities that were left out? A candidate is only chosen instead of the first, the default, if its score
    is higher by a margin, if the default's views still predict its clusters, and if each view that it adds predicts
    them at least half as well as the default's views predict the default's. So an encoding that has nothing to do with
    the rest of the data is not chosen, however clear its clusters are, nor an encoding that is noise. docs/encodings.md
    has what this was worth on labeled sets.

    Parameters
    ----------
    candidates : mapping of str to Views
        At least two sets of views of the same entities in the same order. The first is the default. Views with the same
        values count once.
    n_clusters : int, optional
        Number of clusters. None: scores are averaged over 4, 8 and 16 clusters.
    precomputed : collection of str, default=()
        Names of views that are square matrices of similarities.
    dependent : collection of str, default=()
        Names of views whose rows are made of the rows of several entities, such as texts averaged over links. They do
        not count in the score, because no entity can be left out of them.
    least_kept : float, default=0.5
        Share of what the default's views predict of the default's clusters that they must predict of another
        candidate's. The default suits encodings with knowledge from outside, such as word vectors. For encodings made
        of the same data, such as links used in another way, 0.98 is better: they agree with each other too easily.
    margin : float, default=0.02
        By how much, relative to the default's score, the score of another candidate must be higher.
    max_entities : int, default=1500
        If there are more entities, a sample of this size is compared. With sparse similarities it grows along them, so
        that it does not lose most of the links.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the sample, the starts and the permutations.
    n_jobs : int, optional
        Number of threads, on which the result does not depend. None: as many as there are cores.

    Returns
    -------
    RepresentationChoice
        With ``name``, ``table``, ``sentence`` and ``n_entities``.

    Examples
    --------
    >>> import numpy as np
    >>> import consilience as cs
    >>> words, y = cs.datasets.make_text_views(300, n_clusters=4, n_words=(300, 300), topic_share=0.15, random_state=0)
    >>> rng = np.random.default_rng(0)
    >>> meaning = rng.normal(size=(4, 20))[y] + rng.normal(size=(300, 20))
    >>> beside = cs.Views({**dict(words.items()), "meaning": meaning})
    >>> choice = compare_representations({"words": words, "words+meaning": beside}, n_clusters=4)
    >>> choice.name
    'words+meaning'
    >>> useless = cs.Views({**dict(words.items()), "meaning": rng.permutation(meaning)})
    >>> compare_representations({"words": words, "words+useless": useless}, n_clusters=4).name
    'words'
    """
    check_candidate_views(candidates)
    names, rng = list(candidates), make_generator(random_state)
    rows = draw_rows(candidates, precomputed, max_entities, rng)
    numbers, seed = choose_numbers(n_clusters, len(rows)), int(rng.integers(2**31))
    with use_threads(n_jobs):
        sampled = {name: candidates[name][rows] for name in names}
        pool = prepare_different(sampled, precomputed, dependent, numbers[-1])
        if pool.lacks_view(names[0]):
            raise ValueError(
                f"a view of the default candidate {names[0]!r} is constant, or hardly any entity has it: leave the "
                "view out"
            )
        judges = pool.build_predictors(range(len(pool.prepared)), numbers[-1])
        shares = {
            name: measure_shares(pool, judges, name, numbers, seed) for name in names if not pool.lacks_view(name)
        }
    return choose_by_shares(shares, pool.members, pool.judges, least_kept, margin, len(rows))


def check_candidate_views(candidates: Mapping[str, Views]) -> None:
    """Refuse candidates that cannot be compared."""
    if len(candidates) < 2:
        raise ValueError(f"candidates must be at least two sets of views to compare, got {len(candidates)}")
    if wrong := [name for name, views in candidates.items() if type(views) is not Views]:
        kind = type(candidates[wrong[0]]).__name__
        raise TypeError(f"candidate {wrong[0]!r} must be Views, got {kind}: use Views(...)")
    for (first, views), (second, others) in pairwise(candidates.items()):
        ids = [None if block.ids is None else block.ids.tolist() for block in (views, others)]
        if len(views) != len(others) or ids[0] != ids[1]:
            raise ValueError(
                f"candidates {first!r} ({len(views):,} entities) and {second!r} ({len(others):,} entities) must have "
                "the same entities in the same order: select and order them first"
            )


def choose_numbers(n_clusters: int | None, n_entities: int) -> list[int]:
    """Return the numbers of clusters over which scores are averaged: the number itself, or the usual ones."""
    if n_clusters is not None:
        check_entities_per_cluster(n_entities, n_clusters, "a comparison of encodings")
        return [int(n_clusters)]
    usual = [number for number in USUAL_NUMBERS if number * FEWEST_PER_CLUSTER <= n_entities]
    if not usual:
        least = USUAL_NUMBERS[0] * FEWEST_PER_CLUSTER
        raise ValueError(
            f"{n_entities} different entities are too few to compare encodings for an unknown number of clusters, "
            f"which takes at least {least}: give n_clusters"
        )
    return usual


def draw_rows(
    candidates: Mapping[str, Views], precomputed: Collection[str], max_entities: int, rng: np.random.Generator
) -> np.ndarray:
    """Return the entities to compare: all, or a sample; of identical ones the first, as in `select_n_clusters`."""
    views = next(iter(candidates.values()))
    similarities = [views[name] for views in candidates.values() for name in views.names if name in precomputed]
    graphs = [block for block in similarities if sp.issparse(block)]
    rows = np.arange(len(views))
    if len(rows) > max_entities:
        if graphs:
            rows = grow_sample(sp.csr_array(graphs[0]), len(rows), max_entities, rng)
        else:
            rows = np.sort(rng.choice(len(rows), max_entities, replace=False))
    distinct = None if similarities else find_distinct(views[rows])
    return rows if distinct is None else rows[distinct]


def grow_sample(graph: sp.csr_array, n_entities: int, size: int, rng: np.random.Generator) -> np.ndarray:
    """Return entities that are reached from random ones along the edges of a graph, nearest first.

    Entities are the first nodes of the graph, in rows and columns; other nodes only connect them.
    """
    order = iter(rng.permutation(n_entities).tolist())
    is_reached = np.zeros(graph.shape[0], bool)
    reached: list[int] = []
    position = n_sampled = 0
    while n_sampled < size:
        if position == len(reached):  # no edge is left to follow: go on from further random entities
            fresh = [entity for entity in islice(order, SEEDS_OF_SAMPLE) if not is_reached[entity]]
        else:
            neighbors = graph.indices[graph.indptr[reached[position]] : graph.indptr[reached[position] + 1]]
            fresh = np.unique(neighbors[~is_reached[neighbors]]).tolist()
            position += 1
        is_reached[fresh] = True
        reached += fresh
        n_sampled += sum(node < n_entities for node in fresh)
    sample = [node for node in reached if node < n_entities]
    return np.sort(sample[:size])


@dataclass(frozen=True, eq=False)
class ViewPool:
    """The different views of all candidates, each prepared once."""

    prepared: Sequence[PreparedView | None]  # None: the view is constant, or hardly an entity has it
    members: Mapping[str, Sequence[int]]  # positions of the views of each candidate
    judges: Sequence[int]  # positions of the views that count in the score
    n_entities: int

    def lacks_view(self, candidate: str) -> bool:
        """Return whether a view of a candidate could not be prepared."""
        return any(self.prepared[position] is None for position in self.members[candidate])

    def build_predictors(self, positions: Iterable[int], most_clusters: int) -> SharedPredictors:
        """Build the predictors of some views; those that could not be prepared are left out."""
        views = [view for view in (self.prepared[position] for position in positions) if view is not None]
        return SharedPredictors.from_prepared(views, self.n_entities, {}, most_clusters)


def prepare_different(
    candidates: Mapping[str, Views], precomputed: Collection[str], dependent: Collection[str], most_clusters: int
) -> ViewPool:
    """Prepare each different view of the candidates once; views are equal if all values are, whatever their names."""
    positions: dict[tuple[bool, tuple[bytes, ...]], int] = {}
    prepared: list[PreparedView | None] = []
    members: dict[str, list[int]] = {}
    judges: list[int] = []
    for candidate, views in candidates.items():
        members[candidate] = []
        is_given = {name: name in precomputed for name in views.names}
        for name in views.names:
            key = is_given[name], tuple(digest_rows(views, name))
            if key not in positions:
                positions[key] = len(prepared)
                (view,) = prepare_apart(views[[name]], is_given, min(most_clusters, MOST_FEATURES // 2))
                # Different views of two candidates may have the same name: the pool numbers them.
                prepared.append(None if view is None else replace(view, name=str(positions[key])))
                if view is not None and name not in dependent:
                    judges.append(positions[key])
            members[candidate].append(positions[key])
    return ViewPool(prepared, members, judges, len(next(iter(candidates.values()))))


def measure_shares(
    pool: ViewPool, judges: SharedPredictors, candidate: str, numbers: Sequence[int], seed: int
) -> np.ndarray:
    """Return the share of the information about a candidate's clusters that each view of the pool predicts, (views,).

    It is the mean over the numbers of clusters; NaN for views that could not be prepared. All candidates have the same
    seed, so that equal ones have equal shares.
    """
    predictors = pool.build_predictors(pool.members[candidate], numbers[-1])
    starts, permutations = (np.random.default_rng([seed, part]) for part in range(2))
    shares = np.full((len(numbers), len(pool.prepared)), np.nan)
    labels = None
    for row, number in zip(shares, numbers, strict=True):
        labels = predictors.cluster(number, starts, labels).labels
        ensemble = judges.build_ensemble(number)
        state = Round(labels, ensemble.vote(labels), 0.0, 0.0, 0.0)
        information = measure_information(ensemble, state, permutations)
        row[information["view"].astype(int)] = information["share"]
    return shares.mean(axis=0)


def choose_by_shares(
    shares: Mapping[str, np.ndarray],
    members: Mapping[str, Sequence[int]],
    judges: Sequence[int],
    least_kept: float,
    margin: float,
    n_entities: int,
) -> RepresentationChoice:
    """Choose the candidate with the highest score among those that the default's views and the new views confirm.

    `shares` has the share of the information about the clusters of each usable candidate that each view predicts,
    `members` the views of every candidate by position; `judges` are the views whose mean share is the score. The first
    candidate, the default, is chosen unless another score is higher by a margin.
    """
    default = next(iter(members))
    before = list(members[default])
    reference = max(float(shares[default][before].mean()), LEAST_SHARE)
    score, kept, added = (dict.fromkeys(members, np.nan) for _ in range(3))
    eligible = [default]
    for name, values in shares.items():
        score[name], kept[name] = float(values[list(judges)].mean()), float(values[before].mean()) / reference
        if new := sorted(set(members[name]) - set(before)):
            added[name] = float(values[new].min()) / reference
        if name != default and kept[name] >= least_kept and not added[name] < LEAST_ADDED:
            eligible.append(name)
    clearest = max(shares, key=lambda name: score[name])  # the first of equal ones
    chosen = max(eligible, key=lambda name: score[name])
    threshold = (1 + margin) * score[default]
    if score[chosen] > threshold:
        sentence = (
            f"{chosen!r} is used instead of {default!r}: left-out predictions carry {score[chosen]:.0%} of the "
            f"information about its clusters, against {score[default]:.0%}."
        )
    elif score[clearest] > threshold:
        sentence = f"{default!r} is used: {clearest!r} has clearer clusters, but other views do not confirm them."
    else:
        sentence = f"{default!r} is used: no other encoding has clusters that are predicted clearly better."
    table = Table(
        {
            "candidate": np.array(list(members)),
            "score": np.array(list(score.values())),
            "kept": np.array(list(kept.values())),
            "added": np.array(list(added.values())),
            "eligible": np.array([name in eligible for name in members]),
        }
    )
    return RepresentationChoice(chosen if score[chosen] > threshold else default, table, sentence, n_entities)
