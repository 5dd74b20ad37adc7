"""S. Bickel and T. Scheffer: Estimation of Mixture Models Using Co-EM. ECML 2005.

Reproduces both figures (mixtures of multinomials on linked documents and on text split at random) and two remarks of
the paper: what happens to views that a document lacks (Section 5), and the order of the steps (Section 4.3). The paper
prints no numbers and its figures are not available, so only its statements are tested.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import softmax

from consilience.baselines import ConcatenatedViews, MergedViews
from consilience.data import Views
from consilience.datasets import make_random_splits, make_text_views, read_word_senses
from consilience.families import Multinomial
from consilience.methods import CoEM
from consilience.metrics import agreement_rate, average_entropy

from .data import CLUTO, find_filled_rows, load_dataset, single_start_options
from .engine import Claim, Evidence, Figure, Panel, Paper, Score, Study
from .engine.evidence import compute_p_value, require_panels
from .engine.published import read_published

N_CLUSTERS = (2, 4, 6, 8, 10, 15, 20)  # of Figure 1, whose axis is not known
N_VIEWS = (1, 2, 3, 4, 5, 6)  # numbers of views that the columns are split into; the axis is not known
ETAS = (0, 0.25, 0.5, 0.75, 0.9, 1)
ANNEALED = (1, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0)
ROUNDS_PER_ETA = 5  # "slowly annealed": the paper does not say how slowly
ROUNDS = (1, 2, 5, 10, 20, 50)  # rounds after which the orders of the steps are compared
LEVEL = 0.01  # significance level
SLIGHT = 0.1  # bits; curves that differ by less work "equally well"

CO_EM, CONCATENATED, MERGED = "co-EM", "concat. views", "merged views"
ENTROPY = "average entropy in bits, less is better"
LEFT_OUT, KEPT = "empty views left out", "kept as empty bags"
ORDERS = {"views in turn": False, "all views at once": True}

LINKED = (
    {"panel": "Citeseer", "data": "citeseer"},
    {"panel": "Cora", "data": "cora"},
    {"panel": "WebKB", "data": "webkb"},
)
STAND_INS = (
    {"panel": "generated text (in place of Citeseer)"},
    {"panel": "word senses (in place of Cora)", "data": "word-senses"},
)
PLAIN = tuple({"panel": name, "data": f"cluto-{name}"} for name in CLUTO)
PLAIN_STAND_INS = (
    {"panel": "words of definitions (in place of a CLUTO set)", "data": "word-senses", "view": "gloss"},
    {"panel": "letters of spellings (in place of a CLUTO set)", "data": "word-senses", "view": "lemma"},
)


def make_co_em(n_clusters: int, run: int, **options: Any) -> CoEM:
    """Mixture of multinomials with one random start; on a single view this is plain EM."""
    start = single_start_options(run, "random-responsibilities")
    return CoEM(n_clusters, **{"eta": 1.0, "families": "multinomial", **start, **options})


def load_linked(data: str | None, run: int) -> tuple[Views, np.ndarray]:
    """Load a text view with ``anchor``, or ``inbound`` and ``outbound`` links; None generates documents."""
    if data is None:
        generated, y = make_text_views(500, n_clusters=5, n_words=(500, 500, 500), missing=0.4, random_state=run)
        names = ("text", "inbound", "outbound")
        return Views(
            {new: generated[old] for new, old in zip(names, generated.names, strict=True)}, present=generated.present
        ), y
    if data == "word-senses":
        return load_linked_senses()
    views, y = load_dataset(data)
    return (views[["text", "anchor"]] if data == "webkb" else views), y


@cache
def load_linked_senses() -> tuple[Views, np.ndarray]:
    """Load definitions and directed links: hypernyms are outbound, hyponyms inbound."""
    data, senses = load_dataset("word-senses"), read_word_senses()
    row = {name: i for i, name in enumerate(senses.ids)}
    source, target = np.array([(row[first], row[second]) for first, second in senses.links]).T
    outbound = sp.csr_array((np.ones(len(source)), (source, target)), shape=(len(row), len(row)))
    blocks = {"text": data.views["gloss"], "inbound": outbound.T.tocsr(), "outbound": outbound}
    present = find_filled_rows(blocks.values())
    has_view = present.any(axis=1)
    return Views(blocks, present=present)[has_view], data.target[has_view]


def prepare_merge(views: Views) -> tuple[Views, dict[str, list[str]]]:
    """Return views that can be added up, and the groups to merge: all words, or inbound and outbound links."""
    if "anchor" in views:
        return share_vocabulary(views), {"words": ["text", "anchor"]}
    return views, {"links": ["inbound", "outbound"]}


def share_vocabulary(views: Views) -> Views:
    """Give all views the same columns, one for each word of any view."""
    view_words = {name: np.asarray(views.feature_names(name)) for name in views.names}
    words = np.unique(np.concatenate(list(view_words.values())))
    blocks = {}
    for name, X in views.items():
        columns = np.searchsorted(words, view_words[name])
        blocks[name] = sp.csr_array((X.data.copy(), columns[X.indices], X.indptr), shape=(len(views), len(words)))
    return Views(blocks, present=views.present)


def score_by_n_clusters(run: int, k: int, data: str | None = None) -> Iterator[Score]:
    """Figure 1: co-EM and the two single-view baselines."""
    views, y = load_linked(data, run)
    together, groups = prepare_merge(views)
    side_by_side = ConcatenatedViews(make_co_em(k, run))
    for row, model, X in (
        (CO_EM, make_co_em(k, run), views),
        (CONCATENATED, side_by_side, views),
        (MERGED, MergedViews(side_by_side, groups, join="sum"), together),
    ):
        yield Score(row, str(k), average_entropy(y, model.fit(X).labels_))


def score_by_n_views(run: int, data: str, view: str = "text", n_views: Sequence[int] = N_VIEWS) -> Iterator[Score]:
    """Figure 2, left: columns split at random; one view is plain EM."""
    views, y = load_dataset(data)
    for n in n_views:
        model = make_co_em(len(np.unique(y)), run).fit(make_random_splits(views[view], n, random_state=run))
        yield Score(CO_EM, str(n), average_entropy(y, model.labels_))


def score_by_eta(run: int, data: str | None = None) -> Iterator[Score]:
    """Figure 2, center: fixed eta, with the same start for all values."""
    views, y = load_linked(data, run)
    for eta in ETAS:
        model = make_co_em(len(np.unique(y)), run, eta=eta).fit(views)
        yield Score(CO_EM, str(eta), average_entropy(y, model.labels_))


def score_annealing(run: int, data: str | None = None) -> Iterator[Score]:
    """Figure 2, right: eta is lowered from 1 to 0; at 1 and at 0 co-EM runs until convergence."""
    views, y = load_linked(data, run)
    k = len(np.unique(y))
    start: dict[str, Any] = {}
    for eta in ANNEALED:
        between = {"max_iter": ROUNDS_PER_ETA} if 0 < eta < 1 else {}
        model = make_co_em(k, run, eta=eta, **start, **between).fit(views)
        start = {"init": model.params_}
        yield Score(CO_EM, str(eta), average_entropy(y, model.labels_))


@dataclass(frozen=True)
class EmptyBagsCount(Multinomial):
    """Multinomial family for which documents without words are present, with the prior as their posterior."""

    def informative_rows(self, X: Any) -> np.ndarray:
        """All rows are informative."""
        return np.ones(X.shape[0], dtype=bool)


def score_empty_views(run: int, data: str | None = None) -> Iterator[Score]:
    """Compare consensus over the present views with consensus over all views, from the same start."""
    views, y = load_linked(data, run)
    k = len(np.unique(y))
    yield Score(LEFT_OUT, "entropy", average_entropy(y, make_co_em(k, run).fit(views).labels_))
    everywhere = Views(views, present=np.ones_like(views.present))
    model = make_co_em(k, run, families=EmptyBagsCount()).fit(everywhere)
    yield Score(KEPT, "entropy", average_entropy(y, model.labels_))


def score_by_order(run: int, data: str | None = None) -> Iterator[Score]:
    """Score agreement, flips and changes per round for both orders of the steps."""
    views, y = load_linked(data, run)
    for order, at_once in ORDERS.items():
        labels = run_literal_rounds(views, draw_random_starts(views, len(np.unique(y)), run), max(ROUNDS), at_once)
        for n, (before, after) in enumerate(pairwise(labels), 1):
            if n in ROUNDS:
                yield Score(f"agreement, {order}", str(n), agreement_rate(after))
                yield Score(f"flipped, {order}", str(n), compute_flip_rate(before, after))
                yield Score(f"changed, {order}", str(n), compute_change_rate(before, after))


def draw_random_starts(views: Views, k: int, run: int) -> dict[str, np.ndarray]:
    """Draw independent responsibilities for each view, as in step 1 of Table 1."""
    rng = np.random.default_rng(run)
    return {name: np.eye(k)[rng.integers(k, size=len(views))] for name in views.names}


def run_literal_rounds(
    views: Views, start: Mapping[str, np.ndarray], n_rounds: int, at_once: bool
) -> Iterator[dict[str, np.ndarray]]:
    """Yield the view labels of Table 1 at η = 1 with global priors, at the start and after each round (-1: missing).

    In turn, a view uses the posteriors that earlier views computed in the same round. All at once, every view uses the
    posteriors from before the round: a global E-step, then all M-steps.
    """
    family = Multinomial()
    present = dict(zip(views.names, views.present.T[:, :, None], strict=True))

    def densities(name: str, blended: np.ndarray) -> np.ndarray:
        """Log-densities of a view after an M-step on the blended posteriors (Eq 22)."""
        params = family.maximize(family.statistics(views[name], blended * present[name]))
        return family.log_prob(views[name], params)

    def posteriors() -> dict[str, np.ndarray]:
        """Posteriors of all views (Eq 14); zeros for missing views."""
        return {
            name: softmax(log_densities + np.log(prior), axis=1) * present[name]
            for name, log_densities in log_prob.items()
        }

    prior = compute_global_prior({name: responsibilities * present[name] for name, responsibilities in start.items()})
    log_prob = {name: densities(name, responsibilities) for name, responsibilities in start.items()}
    newest = posteriors()
    yield compute_labels(newest)
    for _ in range(n_rounds):
        before = newest
        for name in views.names:
            used = before if at_once else newest
            log_prob[name], prior = densities(name, blend_posteriors(used, name)), compute_global_prior(used)
            newest = posteriors()
        yield compute_labels(newest)


def compute_global_prior(posteriors: Mapping[str, np.ndarray]) -> np.ndarray:
    """Mean of the posteriors of all views (Eq 17)."""
    totals = np.sum([view_posteriors.sum(axis=0) for view_posteriors in posteriors.values()], axis=0)
    return totals / totals.sum()


def blend_posteriors(posteriors: Mapping[str, np.ndarray], name: str) -> np.ndarray:
    """Mean posterior of the other views of an entity, or of the view itself if there is no other (Eq 13, η = 1)."""
    others = np.sum([view_posteriors for other, view_posteriors in posteriors.items() if other != name], axis=0)
    total = others.sum(axis=1, keepdims=True)  # the posteriors of a missing view are zeros
    return np.where(total > 0, others / np.where(total > 0, total, 1), posteriors[name])


def compute_labels(posteriors: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the cluster with the largest posterior per view, -1 for missing views."""
    return {
        name: np.where(view_posteriors.any(axis=1), view_posteriors.argmax(axis=1), -1)
        for name, view_posteriors in posteriors.items()
    }


def compute_flip_rate(before: Mapping[str, np.ndarray], after: Mapping[str, np.ndarray]) -> float:
    """Return the share of the entities with different labels in two views for which the views exchange labels."""
    names = list(before)
    differ, flips = 0, 0
    for a, b in ((a, b) for i, a in enumerate(names) for b in names[:i]):
        dissent = (before[a] != before[b]) & (before[a] >= 0) & (before[b] >= 0)
        differ += int(dissent.sum())
        flips += int((dissent & (after[a] == before[b]) & (after[b] == before[a])).sum())
    return flips / max(1, differ)


def compute_change_rate(before: Mapping[str, np.ndarray], after: Mapping[str, np.ndarray]) -> float:
    """Return the share of the labels of all views that changed."""
    old, new = np.concatenate(list(before.values())), np.concatenate(list(after.values()))
    return float((old != new)[old >= 0].mean())


def check_below_both(panel: Panel) -> Evidence:
    """Check that co-EM is below both baselines at every number of clusters."""
    gaps = np.minimum(panel.means(CONCATENATED), panel.means(MERGED)) - panel.means(CO_EM)
    closest = panel.columns[gaps.argmin()]
    means = ", ".join(f"{row} {panel.mean(row, closest):.2f}" for row in (CO_EM, CONCATENATED, MERGED))
    won = int((gaps > 0).sum())
    return Evidence(won == len(gaps), f"at {won} of {len(gaps)} numbers; closest at {closest} clusters: {means}")


def find_lowest(panel: Panel) -> str:
    """Return the column with the lowest mean entropy of co-EM."""
    return panel.columns[panel.means(CO_EM).argmin()]


def check_best_above(n: int, panel: Panel) -> tuple[bool, str]:
    """Check that the best number of views is above n."""
    best = find_lowest(panel)
    return int(best) > n, f"best at {best}"


def check_more_is_better(fewer: str, more: str, panel: Panel) -> tuple[bool, str]:
    """Check that more views have a lower entropy than fewer (Welch's one-sided t-test)."""
    p = compute_p_value(panel[CO_EM, fewer], panel[CO_EM, more], greater=True)
    return p < LEVEL, f"{panel.mean(CO_EM, fewer):.2f} to {panel.mean(CO_EM, more):.2f}, p = {p:.2g}"


def check_in_many(test: Callable[[Panel], tuple[bool, str]], least: int, panels: Sequence[Panel]) -> Evidence:
    """Check that at least this many of the six data sets pass a test."""
    require_panels(panels, CLUTO)
    results = [test(panel) for panel in panels]
    passed = sum(passes for passes, _ in results)
    words = "; ".join(f"{panel.name} {words}" for panel, (_, words) in zip(panels, results, strict=True))
    return Evidence(passed >= least, f"{passed} of {len(results)} sets: {words}")


def check_eta_one_best(panel: Panel) -> Evidence:
    """Check that the mean entropy is lowest at η = 1."""
    words = ", ".join(f"{panel.mean(CO_EM, eta):.3f} at {eta}" for eta in panel.columns)
    return Evidence(find_lowest(panel) == str(max(ETAS)), words)


def compute_annealing_gain(panel: Panel) -> np.ndarray:
    """Return the bits gained by annealing from 1 to 0 per run."""
    return panel[CO_EM, "1"] - panel[CO_EM, "0"]


def check_equally_good(panel: Panel) -> Evidence:
    """Check that fixed and annealed η differ slightly."""
    gain = compute_annealing_gain(panel)
    words = f"fixed {panel.mean(CO_EM, '1'):.2f}, annealed {panel.mean(CO_EM, '0'):.2f}"
    return Evidence(bool(abs(gain.mean()) <= SLIGHT), f"{words}; better in {(gain > 0).sum()} of {len(gain)} runs")


def check_better_in_most(panels: Sequence[Panel]) -> Evidence:
    """Check that annealing helps on two of three data sets."""
    require_panels(panels, [setting["panel"] for setting in LINKED])
    gains = [float(compute_annealing_gain(panel).mean()) for panel in panels]
    words = "; ".join(f"{panel.name} {gain:+.3f}" for panel, gain in zip(panels, gains, strict=True))
    return Evidence(sum(gain > 0 for gain in gains) == 2, f"bits gained: {words}")


def check_better_left_out(panel: Panel) -> Evidence:
    """Check that the mean entropy is lower without the empty views."""
    without, with_them = panel[LEFT_OUT, "entropy"], panel[KEPT, "entropy"]
    words = f"left out {without.mean():.2f}, kept {with_them.mean():.2f}; left out lower in"
    return Evidence(
        bool(without.mean() < with_them.mean()), f"{words} {(without < with_them).sum()} of {len(without)} runs"
    )


def check_more_at_once(what: str, sign: int, panel: Panel) -> Evidence:
    """Check that "all at once" is above (sign 1) or below (sign -1) "in turn" after each number of rounds."""
    in_turn, at_once = (f"{what}, {order}" for order in ORDERS)
    gaps = sign * (panel.means(at_once) - panel.means(in_turn))
    words = "; ".join(
        f"round {n}: {panel.mean(at_once, n):.3f} at once, {panel.mean(in_turn, n):.3f} in turn"
        for n in panel.columns[-2:]
    )
    return Evidence(bool((gaps > 0).all()), words)


SILENT = (
    "Parameters start at random (Table 1): from random posteriors, which all views share. The paper is silent on when "
    "a run has converged: as by default in the library. Its smoothing of 0 makes a word that a cluster has never seen "
    "impossible: 0.01 is added to each count. "
)
SETS = (
    "42% of the papers of Cora have no inbound link (45% in the paper). WebKB has 4,518 pages (4,502), of which 2,105 "
    "have no anchor text. "
)
OTHER_CORA = {"Cora": "2,708 papers in 7 classes with 3 views; the paper's has 9,947 in 8, and anchor text"}
SAME_SETS = (
    "The paper does not name the sets: it speaks of two cases and one, so they are taken to be the three of Figure 1, "
    "with as many clusters as classes. "
)

PAPER = Paper(
    name="bickel-scheffer-2005",
    title="Bickel & Scheffer 2005",
    citation=(
        "S. Bickel, T. Scheffer: Estimation of Mixture Models Using Co-EM. Machine Learning: ECML 2005, "
        "Lecture Notes in Computer Science 3720, Springer, 2005."
    ),
    idea=(
        "Each view has a mixture model of its own. In turn, each view learns its parameters from what the other views "
        "think of the documents. This maximises the likelihood of all views less a penalty for their disagreement, "
        "which bounds their error if they are independent given the cluster."
    ),
    studies=(
        Study(
            name="figure-1",
            title="Linked documents: co-EM and EM on all views as one, over the number of clusters",
            measure=ENTROPY,
            work=score_by_n_clusters,
            settings=tuple({**setting, "k": k} for setting in LINKED for k in N_CLUSTERS),
            runs=20,
            quick=tuple({**setting, "k": k} for setting in STAND_INS for k in (2, 5, 8)),
            quick_runs=3,
            claims=(Claim("co-EM is below both baselines at any number of clusters", check_below_both, once=True),),
            figure=Figure("number of clusters", "average entropy (bits)"),
            note=SILENT + SETS + "The numbers of clusters are ours.",
            other_data=OTHER_CORA,
        ),
        Study(
            name="figure-2-left",
            title="Plain text whose words are split at random into views",
            measure=ENTROPY,
            work=score_by_n_views,
            settings=PLAIN,
            runs=20,
            quick=tuple({**setting, "n_views": (1, 2, 3)} for setting in PLAIN_STAND_INS),
            quick_runs=4,
            claims=(
                Claim(
                    "in all but one of six sets the best number of views is above one",
                    partial(check_in_many, partial(check_best_above, 1), 5),
                    across=True,
                ),
                Claim(
                    "in four of six sets two views are better than one (significant at .01)",
                    partial(check_in_many, partial(check_more_is_better, "1", "2"), 4),
                    across=True,
                ),
                Claim(
                    "in two of six sets three views are better than two (significant at .01)",
                    partial(check_in_many, partial(check_more_is_better, "2", "3"), 2),
                    across=True,
                ),
                Claim(
                    "in four of six sets the entropy is lowest at more than two views",
                    partial(check_in_many, partial(check_best_above, 2), 4),
                    across=True,
                ),
            ),
            figure=Figure("number of views", "average entropy (bits)"),
            note=SILENT
            + "A claim on so many of six sets holds if at least so many are found. The test is Welch's t-test, "
            "one-sided.",
            other_data="the paper does not name the six sets that it drew from those of CLUTO; these are six of them",
        ),
        Study(
            name="figure-2-center",
            title="The weight η of the consensus, fixed",
            measure=ENTROPY,
            work=score_by_eta,
            settings=LINKED,
            runs=20,
            quick=STAND_INS,
            quick_runs=3,
            claims=(Claim("η = 1 is the best setting", check_eta_one_best, once=True),),
            figure=Figure("η", "average entropy (bits)"),
            note=SILENT + SAME_SETS + SETS + "All values of η have the same start in a run.",
            other_data=OTHER_CORA,
        ),
        Study(
            name="figure-2-right",
            title="The weight η of the consensus, lowered from 1 to 0",
            measure=ENTROPY,
            work=score_annealing,
            settings=LINKED,
            runs=20,
            quick=STAND_INS,
            quick_runs=3,
            claims=(
                Claim("fixing and annealing η work equally well (means within .1 bits)", check_equally_good, once=True),
                Claim("annealing is slightly better in two cases and worse in one", check_better_in_most, across=True),
            ),
            figure=Figure("η", "average entropy (bits)"),
            note=SILENT
            + SAME_SETS
            + SETS
            + f"From what is found at η = 1, η falls by tenths, with {ROUNDS_PER_ETA} rounds at each, until it is 0.",
            other_data=OTHER_CORA,
        ),
        Study(
            name="empty-views",
            title="Views that a document lacks: left out of the blend, or kept as bags without words",
            measure=ENTROPY,
            work=score_empty_views,
            settings=LINKED,
            runs=20,
            quick=STAND_INS,
            quick_runs=4,
            claims=(
                Claim(
                    "including only non-empty views in the blend gives the better clusters",
                    check_better_left_out,
                    ours=True,
                    once=True,
                ),
            ),
            figure=Figure("", "average entropy (bits)", bars=True),
            note=SILENT
            + SETS
            + "The paper leaves empty views out, and does not compare: the claim is what it suggests. An empty bag "
            "that is kept thinks what the prior says. As many clusters as classes.",
            other_data=OTHER_CORA,
        ),
        Study(
            name="order",
            title="Steps of the views in turn, or one E-step for all and then all M-steps",
            measure=(
                "agreement: share of documents on which all views agree; flipped: of those on which two views differ, "
                "the share on which they exchange their labels in the round; changed: share of labels that the round "
                "changes"
            ),
            work=score_by_order,
            settings=LINKED,
            runs=20,
            quick=STAND_INS,
            quick_runs=2,
            claims=(
                Claim(
                    "with all M-steps at once views flip their dissenting opinions, in each round more than in turn",
                    partial(check_more_at_once, "flipped", 1),
                    once=True,
                ),
                Claim(
                    "this slows down the convergence: each round changes more labels than in turn",
                    partial(check_more_at_once, "changed", 1),
                    once=True,
                ),
                Claim(
                    "so that the views agree less than in turn after each round",
                    partial(check_more_at_once, "agreement", -1),
                    ours=True,
                    once=True,
                ),
            ),
            figure=Figure("rounds", "share"),
            note="Each view starts from random labels of its own (Table 1, step 1). " + SAME_SETS + SETS,
            other_data=OTHER_CORA,
        ),
    ),
    published=read_published("bickel-scheffer-2005"),
)
