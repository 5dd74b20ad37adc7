"""E. Eaton, M. desJardins, S. Jacob: Multi-view clustering with constraint propagation. CIKM 2010.

Reproduces the four ways to transfer constraints between views (figure 4) and the gain of propagation (figure 5 is
computed from the curves of figure 4, the printed gain has a study of its own), how much is propagated (figure 6) and
how much of it is right (figure 7), the number of iterations (4), the effects of the threshold and of the embedding
(5.4), of the start of the base clusterer and of the order of the views. Each run is a trial with its own random points,
mapping and constraints.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from consilience.data import Constraints, Views, align
from consilience.datasets import make_four_quadrants
from consilience.methods import MultiViewConstrainedKMeans, SpectralFeatures
from consilience.metrics import pairwise_scores

from .data import load_dataset
from .engine import Claim, Evidence, Figure, Panel, Paper, Score, Study, Untestable
from .engine.evidence import compute_p_value, require_panels, require_runs, round_as_printed
from .engine.published import read_published

PROPAGATION, DIRECT, MEMBERSHIP, SINGLE = (
    "Constraint Propagation",
    "Direct Mapping",
    "Cluster Membership",
    "Single View",
)
Base = Literal["pck", "mpck"]
Transfer = Literal["propagate", "direct", "membership", "none"]
METHODS: dict[str, Transfer] = {PROPAGATION: "propagate", DIRECT: "direct", MEMBERSHIP: "membership", SINGLE: "none"}
BASES: dict[str, Base] = {"PCK-Means": "pck", "MPCK-Means": "mpck"}
SHARES = (20, 50, 100)  # percentages of mapped instances
COUNTS = (4, 10, 20, 40, 80)  # constraints per view, half of them must-links
THRESHOLDS = (0.001, 0.01, 0.1, 0.2, 0.35, 0.5, 0.8, 1.0)  # at 1 no constraint is inferred
STARTS = {"largest neighbourhoods": "largest", "farthest first": "farthest"}
LETTERS_DIGITS = "letters+pendigits"  # the two data sets of Letters/Digits
FIRST = {
    LETTERS_DIGITS: ("letters", "digits"),
    "shipped-digits": ("1, 4 and 7", "3, 8 and 9"),
}  # names of the sides for the study of their order
ORDER_COUNTS = (10, 20, 40)  # constraints per view in the study of the order of the views
WORDS = 50  # most frequent words per class
GAIN_TRIALS = 20  # trials per run of the study of the printed gain, which compares mean curves
FEW = 10  # largest number of constraints that counts as few on Letters/Digits
GAIN, PEAK = 21.3, 30.0  # percent, from the text about figure 5
NEAR = 5.0  # percentage points; gains this close count as equal
LEVEL = 0.05  # significance level
ALIKE = 0.05  # F; the order of the views does not matter if means differ by less
LINEAR = 0.95  # smallest R² of an "approximately linear" relation
LEAST_PRECISION = 0.98  # printed as 98-100%
COMPARABLE = 0.02  # precisions this close are comparable: the width of the printed range
FEW_ROUNDS = 10  # largest number of co-EM rounds that counts as very few
MOST_TRIALS = 0.9  # share of the trials that must converge in so few rounds


# The data (section 5.1)


class Sides(NamedTuple):
    """Two collections with their classes, and the pairs of rows that can be mapped."""

    rows: tuple[np.ndarray, np.ndarray]
    classes: tuple[np.ndarray, np.ndarray]
    pairs: np.ndarray  # (n_pairs, 2) in random order, so that the first rows are a random share of the mapping


def make_quadrants(rng: np.random.Generator) -> Sides:
    """Draw 50 points per quadrant, split between the views and mapped to near points of the same quadrant."""
    views, y = make_four_quadrants(mapped=1.0, random_state=rng)
    return Sides((views["a"], views["b"]), (y, y), rng.permutation(np.tile(np.arange(len(y))[:, None], 2)))


def load_letters_and_digits(rng: np.random.Generator) -> Sides:
    """Pair I with 3, J with 8 and L with 9; a tenth of the letters and pen strokes, as in Bilenko et al."""
    letters, digits = map(load_dataset, LETTERS_DIGITS.split("+"))
    codes = [letters.target_names.index(letter) for letter in "IJL"]
    return pair_sides(
        rng,
        draw_rows(rng, letters.views["features"], letters.target, codes, 76),
        draw_rows(rng, digits.views["strokes"], digits.target, (3, 8, 9), 106),
    )


def load_digits_and_digits(rng: np.random.Generator) -> Sides:
    """Pair images of 1 with 3, 4 with 8 and 7 with 9."""
    views, y = load_dataset("shipped-digits")
    return pair_sides(
        rng, draw_rows(rng, views["pix"], y, (1, 4, 7), 76), draw_rows(rng, views["pix"], y, (3, 8, 9), 106)
    )


TEXTS = {  # the text view, and the classes of both sides in the order of the pairs
    "newsgroups": ("body", (("rec.autos", "rec.motorcycles"), ("talk.politics.guns", "talk.politics.mideast"))),
    "word-senses": ("gloss", (("noun.animal", "noun.plant"), ("noun.food", "noun.substance"))),
}


def load_texts(rng: np.random.Generator, name: str) -> Sides:
    """Draw 50 documents per class (about 5% of a newsgroup) with the presence of the most frequent words."""
    data, (view, classes) = load_dataset(name), TEXTS[name]
    words = data.views.feature_names(view)
    assert words is not None, "stop words are identified by their column names"
    counts = sp.csr_array(data.views[view])[:, np.flatnonzero(~np.isin(words, list(ENGLISH_STOP_WORDS)))]
    sides = []
    for side_classes in classes:
        X, y = draw_rows(rng, counts, data.target, [data.target_names.index(name) for name in side_classes], 50)
        sides.append(((X[:, select_frequent_words(X, y, WORDS)] > 0).astype(float), y))
    return pair_sides(rng, *sides)


SOURCES: dict[str, Callable[[np.random.Generator], Sides]] = {
    "": make_quadrants,
    LETTERS_DIGITS: load_letters_and_digits,
    "newsgroups": partial(load_texts, name="newsgroups"),
    "shipped-digits": load_digits_and_digits,
    "word-senses": partial(load_texts, name="word-senses"),
}


def draw_rows(
    rng: np.random.Generator, X: Any, y: np.ndarray, classes: Sequence[int], each: int
) -> tuple[np.ndarray, np.ndarray]:
    """Draw rows of each class; return them with the positions of their classes."""
    rows = np.concatenate([rng.permutation(np.flatnonzero(y == class_code))[:each] for class_code in classes])
    labels, chosen = np.repeat(np.arange(len(classes)), each), X[rows]
    return chosen.toarray() if sp.issparse(chosen) else np.asarray(chosen, float), labels


def select_frequent_words(counts: np.ndarray, y: np.ndarray, n: int) -> np.ndarray:
    """Return the columns of the n most frequent words per class, by the rule of Weka's StringToWordVector.

    Words are counted by their occurrences in a class, ties with the n-th word are kept, and the words of all classes
    are united.
    """
    totals = np.array([counts[y == class_code].sum(axis=0) for class_code in np.unique(y)])
    least = np.maximum(1, np.sort(totals, axis=1)[:, -n])
    return np.flatnonzero((totals >= least[:, None]).any(axis=0))


def pair_sides(rng: np.random.Generator, *sides: tuple[np.ndarray, np.ndarray]) -> Sides:
    """Map rows of paired classes one to one."""
    (a, y_a), (b, y_b) = sides
    pairs = []
    for class_code in np.unique(y_a):
        left, right = (rng.permutation(np.flatnonzero(y == class_code)) for y in (y_a, y_b))
        n = min(len(left), len(right))
        pairs.append(np.column_stack([left[:n], right[:n]]))
    return Sides((a, b), (y_a, y_b), rng.permutation(np.vstack(pairs)))


# A trial (section 5.2)


class Task(NamedTuple):
    """Input of a method, and the true classes of the entities."""

    views: Views
    y: np.ndarray
    constraints: dict[str, Constraints]


def make_sides(data: str, trial: int, embed: bool = True) -> Sides:
    """Make the two collections of a trial; real data are embedded by eigenvectors 2 to 6 of their Laplacian."""
    sides = SOURCES[data](np.random.default_rng([2010, trial]))
    if not (data and embed):
        return sides
    features = [SpectralFeatures(5, random_state=0, n_jobs=1).fit_transform(X) for X in sides.rows]
    return sides._replace(rows=tuple(features))


def make_task(sides: Sides, mapped: int, n_constraints: int, trial: int) -> Task:
    """Align a share of the mapping, and draw constraints of weight 1 per view from the classes."""
    pairs = sides.pairs[: round(mapped / 100 * len(sides.pairs))]
    views = align(dict(zip("ab", sides.rows, strict=True)), mapping={("a", "b"): pairs})
    row_a, row_b = views.rows.T
    y = np.where(row_a >= 0, sides.classes[0][row_a], sides.classes[1][row_b])
    rng = np.random.default_rng([trial, n_constraints])  # independent of the mapped share
    constraints = {}
    for name, side_classes in zip("ab", sides.classes, strict=True):
        sample = Constraints.sample(side_classes, n_constraints, rng)
        constraints[name] = Constraints(sample.must_link, sample.cannot_link, by="row")
    return Task(views, y, constraints)


def cluster_task(
    task: Task, base: Base, trial: int, method: str = PROPAGATION, **options: Any
) -> MultiViewConstrainedKMeans:
    """Fit a method to a task, with the views in the order of the task."""
    model = MultiViewConstrainedKMeans(
        len(np.unique(task.y)),
        base=base,
        transfer=METHODS[method],
        view_order="given",
        random_state=trial,
        n_jobs=1,
        **options,
    )
    return model.fit(task.views, constraints=task.constraints)


def compute_pairwise_f(model: MultiViewConstrainedKMeans, y: np.ndarray) -> float:
    """Return the mean pairwise F over the views."""
    labels = model.view_labels_.values()
    return float(
        np.mean([pairwise_scores(y[view_labels >= 0], view_labels[view_labels >= 0]).f for view_labels in labels])
    )


# Studies


def score_learning_curves(run: int, base: Base, mapped: int, data: str = "") -> Iterator[Score]:
    """Score all methods over the number of constraints."""
    sides = make_sides(data, run)
    for n in COUNTS:
        task = make_task(sides, mapped, n, run)
        for method in METHODS:
            yield Score(method, str(n), compute_pairwise_f(cluster_task(task, base, run, method), task.y))


def score_gains(run: int, trials: int) -> Iterator[Score]:
    """Score the gain of propagation by PCK-Means on Four Quadrants, in percent of the mean curves of some trials."""
    curves = np.zeros((2, len(SHARES), len(COUNTS)))
    for trial in range(run * trials, (run + 1) * trials):
        sides = make_sides("", trial)
        for i, mapped in enumerate(SHARES):
            for j, n in enumerate(COUNTS):
                task = make_task(sides, mapped, n, trial)
                for curve, method in zip(curves, (PROPAGATION, DIRECT), strict=True):
                    curve[i, j] += compute_pairwise_f(cluster_task(task, "pck", trial, method), task.y)
    gains = 100 * (curves[0] / curves[1] - 1)
    for row, gain in zip(
        [*(f"{mapped}% mapped" for mapped in SHARES), "all"], [*gains, gains.mean(axis=0)], strict=True
    ):
        yield from (Score(row, str(n), value) for n, value in zip(COUNTS, gain, strict=True))
        yield Score(row, "average", gain.mean())


def score_amounts(run: int, base: Base, mapped: int, data: str = "") -> Iterator[Score]:
    """Score the number of constraints that both views propagate, averaged over the rounds."""
    sides = make_sides(data, run)
    for n in COUNTS:
        model = cluster_task(make_task(sides, mapped, n, run), base, run)
        yield Score(f"{mapped}% mapped", str(n), float(np.mean(model.history_["propagated"])))


def score_precision(run: int, base: Base, mapped: int, data: str = "") -> Iterator[Score]:
    """Score the weighted precision of the propagated constraints, unless no constraint of a kind is propagated."""
    sides = make_sides(data, run)
    for n in COUNTS:
        task = make_task(sides, mapped, n, run)
        precision = [propagated.precision(task.y) for propagated in cluster_task(task, base, run).propagated_.values()]
        for kind, values in zip(("must-links", "cannot-links"), np.transpose(precision), strict=True):
            if (defined := values[np.isfinite(values)]).size:
                yield Score(f"{kind}, {mapped}% mapped", str(n), defined.mean())


def score_rounds(run: int, base: Base, data: str = "") -> Iterator[Score]:
    """Score the number of rounds with the complete mapping, and whether they are few."""
    sides = make_sides(data, run)
    for n in COUNTS:
        model = cluster_task(make_task(sides, 100, n, run), base, run)
        yield Score("rounds", str(n), model.n_iter_)
        yield Score(f"converged in {FEW_ROUNDS} rounds", str(n), model.converged_ and model.n_iter_ <= FEW_ROUNDS)


def score_embeddings(run: int, data: str) -> Iterator[Score]:
    """Score propagation by PCK-Means on spectral features and on the original features, half of the rows mapped."""
    for row, embed in (("spectral features", True), ("original features", False)):
        sides = make_sides(data, run, embed)
        for n in COUNTS:
            task = make_task(sides, 50, n, run)
            yield Score(row, str(n), compute_pairwise_f(cluster_task(task, "pck", run), task.y))


def score_thresholds(run: int, mapped: int, constraints: int, data: str = "") -> Iterator[Score]:
    """Score propagation by PCK-Means with fixed thresholds and with the cross-validated one."""
    task = make_task(make_sides(data, run), mapped, constraints, run)
    direct = compute_pairwise_f(cluster_task(task, "pck", run, DIRECT), task.y)
    chosen = compute_pairwise_f(cluster_task(task, "pck", run, threshold="auto"), task.y)
    for threshold in THRESHOLDS:
        value = compute_pairwise_f(cluster_task(task, "pck", run, threshold=threshold), task.y)
        yield Score(PROPAGATION, str(threshold), value)
        yield Score(f"{PROPAGATION}, cross-validated", str(threshold), chosen)
        yield Score(DIRECT, str(threshold), direct)


def score_starts(run: int, mapped: int) -> Iterator[Score]:
    """Score propagation and direct mapping by PCK-Means from both starts."""
    sides = make_sides("", run)
    for n in COUNTS:
        task = make_task(sides, mapped, n, run)
        for start, init in STARTS.items():
            for method in (PROPAGATION, DIRECT):
                model = cluster_task(task, "pck", run, method, init=init)
                yield Score(f"{method}, {start}", str(n), compute_pairwise_f(model, task.y))


def score_view_orders(run: int, data: str, mapped: int) -> Iterator[Score]:
    """Score propagation and cluster membership by PCK-Means with either side first."""
    sides = make_sides(data, run)
    for n in ORDER_COUNTS:
        task = make_task(sides, mapped, n, run)
        for first, order in zip(FIRST[data], (["a", "b"], ["b", "a"]), strict=True):
            reordered = task._replace(views=task.views[order])
            for method in (PROPAGATION, MEMBERSHIP):
                model = cluster_task(reordered, "pck", run, method)
                yield Score(f"{method}, {first} first", str(n), compute_pairwise_f(model, task.y))


# Checks of the claims


def format_shares(values: np.ndarray) -> str:
    """Format shares as a short list."""
    return " ".join(f"{value:.3f}".removeprefix("0") for value in values)


def check_above(panel: Panel, other: str, least: int = 0) -> Evidence:
    """Check that the curve of propagation is higher than that of `other` from `least` constraints on.

    It must be higher on average, and at no number of constraints lower by what a figure can show, to two decimals.
    """
    tested = [int(column) >= least for column in panel.columns]
    ours, theirs = panel.means(PROPAGATION)[tested], panel.means(other)[tested]
    not_lower = round_as_printed(ours, 2) >= round_as_printed(theirs, 2)
    words = f"{(ours - theirs).mean():+.3f}, lower at {(~not_lower).sum()} of {len(ours)}"
    return Evidence(bool(not_lower.all() and ours.mean() > theirs.mean()), words)


def check_above_membership(panel: Panel) -> Evidence:
    """Check that propagation is above cluster membership, ignoring few constraints on Letters/Digits."""
    return check_above(panel, MEMBERSHIP, FEW + 1 if "Letters/Digits" in panel.name else 0)


def check_significantly_above(panel: Panel) -> Evidence:
    """Compare the mean learning curves of the trials with both other ways to transfer by one-sided paired t-tests."""
    ours, failures = _average_curve(panel, PROPAGATION), []
    for other in (DIRECT, MEMBERSHIP):
        theirs = _average_curve(panel, other)
        p = compute_p_value(ours, theirs, paired=True, greater=True)
        if not p < LEVEL:
            failures.append(f"{ours.mean() - theirs.mean():+.3f} on {other.lower()} (p = {p:.2g})")
    return Evidence(not failures, ", ".join(failures) or f"p < {LEVEL}")


def _average_curve(panel: Panel, row: str) -> np.ndarray:
    """Return the mean of the learning curve per trial."""
    return np.mean([panel[row, column] for column in panel.columns], axis=0)


def check_gain(panel: Panel) -> Evidence:
    """Check that the gain over direct mapping, averaged over the learning curve, is positive."""
    gains = 100 * (panel.means(PROPAGATION) / panel.means(DIRECT) - 1)
    return Evidence(gains.mean() > 0, f"{gains.mean():+.1f}% on average, {gains.max():+.1f}% at most")


def check_gain_when_complete(panels: list[Panel]) -> Evidence:
    """Check that the gain is positive on all data sets with the complete mapping."""
    complete = [setting["panel"] for setting in make_settings(DATA, SHARES, in_name=True) if setting["mapped"] == 100]
    require_panels(panels, complete)
    checks = {panel.name: check_gain(panel) for panel in panels if panel.name in complete}
    words = "; ".join(f"{name.removesuffix(', 100% mapped')} {check.words}" for name, check in checks.items())
    return Evidence(all(check.holds for check in checks.values()), words)


def check_rises_with_mapping(panels: list[Panel]) -> Evidence:
    """Check that the means of both curves rise with the mapped percentage."""
    require_panels(panels, [setting["panel"] for setting in make_settings(DATA, SHARES, in_name=True)])
    groups: dict[str, list[Panel]] = {}
    for panel in panels:
        groups.setdefault(panel.name.rpartition(", ")[0], []).append(panel)
    words, holds = [], []
    for name, group in groups.items():
        for method in (PROPAGATION, DIRECT):
            means = np.array([panel.means(method).mean() for panel in group])
            holds.append(bool((np.diff(means) > 0).all()))
            words.append(f"{name}, {method.lower()} {format_shares(means)}")
    return Evidence(all(holds), f"{sum(holds)} of {len(holds)} rise: {'; '.join(words)}")


def check_printed_average(panel: Panel) -> Evidence:
    """Check that the printed average gain is within two standard errors of ours."""
    gains = panel["all", "average"]
    require_runs(gains)
    error = gains.std(ddof=1) / np.sqrt(len(gains))
    return Evidence(bool(abs(gains.mean() - GAIN) <= 2 * error), f"{gains.mean():.1f}% ± {error:.1f} against {GAIN}%")


def check_printed_peak(panel: Panel) -> Evidence:
    """Check the printed least size of the largest gain over percentages and numbers of constraints."""
    table = np.array([panel.means(f"{mapped}% mapped") for mapped in SHARES])[:, : len(COUNTS)]
    return Evidence(bool(round_as_printed(table.max(), 0) > PEAK), f"{table.max():.1f}%")


def check_linear(panel: Panel) -> Evidence:
    """Check that the means at each percentage lie near a line."""
    counts = np.array([float(column) for column in panel.columns])
    fits = [float(np.corrcoef(counts, panel.means(row))[0, 1] ** 2) for row in panel.rows]
    return Evidence(min(fits) >= LINEAR, f"R² {format_shares(np.array(fits))}")


def check_more_with_mapping(panel: Panel) -> Evidence:
    """Check that more constraints are propagated at every larger percentage."""
    table = np.array([panel.means(row) for row in panel.rows])
    if len(table) < 2:
        raise Untestable("only one percentage mapped")
    words = ", ".join(f"{count:.0f}" for count in table.mean(axis=1))
    return Evidence(bool((np.diff(table, axis=0) > 0).all()), f"{words} on average")


def check_precise(panel: Panel) -> Evidence:
    """Check that the mean precision of both kinds rounds to 98% or more with the complete mapping."""
    must, cannot = (
        round_as_printed(panel.means(f"{kind}, 100% mapped").mean(), 2) for kind in ("must-links", "cannot-links")
    )
    return Evidence(min(must, cannot) >= LEAST_PRECISION, f"must-links {must:.2f}, cannot-links {cannot:.2f}")


def check_precision_comparable(panel: Panel) -> Evidence:
    """Check that the mean precision with partial mappings is close to that with the complete one."""
    largest = 0.0
    for kind in ("must-links", "cannot-links"):
        *partial_means, complete = (_average_trials(panel, f"{kind}, {mapped}% mapped") for mapped in SHARES)
        largest = max(largest, *(abs(mean - complete) for mean in partial_means))
    return Evidence(bool(round_as_printed(largest, 2) <= COMPARABLE), f"differences up to {largest:.3f}")


def _average_trials(panel: Panel, row: str) -> float:
    """Return the mean over the trials and numbers of constraints that have a value."""
    values = [panel[row, column] for column in panel.columns if (row, column) in panel]
    if not values:
        raise Untestable(f"there is no number for {row!r}")
    return float(np.concatenate(values).mean())


def check_cannot_links_better(panel: Panel) -> Evidence:
    """Check that the mean precision of cannot-links is larger with the complete mapping, or both are perfect."""
    must, cannot = (panel.means(f"{kind}, 100% mapped").mean() for kind in ("must-links", "cannot-links"))
    perfect = round_as_printed(min(must, cannot), 2) == 1
    return Evidence(bool(cannot > must or perfect), "both 1.00" if perfect else f"{cannot - must:+.3f}")


def check_few_rounds(panel: Panel) -> Evidence:
    """Check that most trials converge in few rounds."""
    share = panel.means(f"converged in {FEW_ROUNDS} rounds").mean()
    return Evidence(
        share >= MOST_TRIALS, f"{100 * share:.0f}% of the trials, {panel.means('rounds').mean():.1f} rounds"
    )


def check_embedding_helps(panel: Panel) -> Evidence:
    """Check that the mean over the learning curve is larger on spectral features."""
    embedded, original = (panel.means(f"{kind} features").mean() for kind in ("spectral", "original"))
    return Evidence(embedded > original, f"{embedded:.3f} on spectral features, {original:.3f} on the original ones")


def check_high_threshold(panel: Panel) -> Evidence:
    """Check that the highest threshold equals direct mapping within .01."""
    high, direct = panel.means(PROPAGATION)[-1], panel.means(DIRECT)[-1]
    return Evidence(abs(high - direct) <= 0.01, f"{high:.3f} at {panel.columns[-1]}, direct mapping {direct:.3f}")


def check_low_threshold(panel: Panel) -> Evidence:
    """Check that the lowest threshold is below the best by more than two standard errors."""
    ours = panel.means(PROPAGATION)
    low, best = panel.columns[0], panel.columns[int(ours.argmax())]
    loss = panel[PROPAGATION, best] - panel[PROPAGATION, low]
    require_runs(loss)
    error = loss.std(ddof=1) / np.sqrt(len(loss))
    words = f"{ours[0]:.3f} at {low}, {ours.max():.3f} at {best} (difference {loss.mean():.3f} ± {error:.3f})"
    return Evidence(bool(loss.mean() > 2 * error), words)


def check_validation_helps(panel: Panel) -> Evidence:
    """Check that the cross-validated threshold is within .02 of the best fixed one."""
    best, chosen = panel.means(PROPAGATION).max(), panel.means(f"{PROPAGATION}, cross-validated")[0]
    return Evidence(chosen >= best - 0.02, f"{chosen:.3f}, best fixed threshold {best:.3f}")


def check_start_irrelevant(panels: list[Panel]) -> Evidence:
    """Check that the mean gains from both starts are close."""
    require_panels(panels, [setting["panel"] for setting in PAPER.study("start").settings])
    gains = {}
    for start in STARTS:
        ratios = [panel.means(f"{PROPAGATION}, {start}") / panel.means(f"{DIRECT}, {start}") for panel in panels]
        gains[start] = 100 * (float(np.mean(ratios)) - 1)
    words = ", ".join(f"{gain:+.1f}% from {start}" for start, gain in gains.items())
    return Evidence(max(gains.values()) - min(gains.values()) <= NEAR, words)


def check_order_irrelevant(panel: Panel, method: str) -> Evidence:
    """Check that the mean does not depend on which side comes first."""
    first, second = (row for row in panel.rows if row.startswith(method))
    gap = _average_curve(panel, first) - _average_curve(panel, second)
    words = "; ".join(f"{row.removeprefix(f'{method}, ')} {format_shares(panel.means(row))}" for row in (first, second))
    return Evidence(abs(gap.mean()) <= ALIKE, f"{words}; {gap.mean():+.3f} on average")


# Settings

DATA = {"Four Quadrants": "", "Letters/Digits": LETTERS_DIGITS, "Rec/Talk": "newsgroups"}
STAND_INS = {
    "digits (in place of Letters/Digits)": "shipped-digits",
    "word senses (in place of Rec/Talk)": "word-senses",
}


def make_setting(panel: str, data: str, **others: Any) -> dict[str, Any]:
    """Make a setting; generated data has no data set name."""
    return {"panel": panel, **({"data": data} if data else {}), **others}


def make_settings(
    data: dict[str, str], shares: Sequence[int] = (), in_name: bool = False
) -> tuple[dict[str, Any], ...]:
    """Make settings for all data, both base clusterers and the mapped percentages; with `in_name` one panel each."""
    settings = []
    for name, source in data.items():
        for title, base in BASES.items():
            panel = f"{name}, {title}"
            if not shares:
                settings.append(make_setting(panel, source, base=base))
            for mapped in shares:
                full = f"{panel}, {mapped}% mapped" if in_name else panel
                settings.append(make_setting(full, source, base=base, mapped=mapped))
    return tuple(settings)


PCK = "Four Quadrants, PCK-Means"
SETTINGS_NOTE = (
    "Letters/Digits are random tenths of the letters I, J, L and of the pen strokes of 3, 8, 9 of the UCI repository, "
    "as in Bilenko et al. (228 and 318 rows). Rec/Talk has 50 messages per newsgroup, without headers, and the words "
    f"that Weka's StringToWordVector keeps: the {WORDS} most frequent per class with their ties, about 90 per view. "
    "Where the text is silent: 20, 50 and 100% are mapped, 4 to 80 constraints given in each view, the threshold is "
    "0.5. Letters and digits have five spectral features, as Rec/Talk has (their number is not legible in our copy). "
    "The width of all kernels is the median distance: with the paper's width of 1 no two pen strokes are similar, and "
    "about half of the constraints propagated on Rec/Talk are wrong. PCK-Means starts from the largest neighbourhoods, "
    "MPCK-Means from the farthest, as in their own papers."
)

PAPER = Paper(
    name="eaton-2010",
    title="Eaton, desJardins & Jacob 2010",
    citation=(
        "E. Eaton, M. desJardins, S. Jacob: Multi-view clustering with constraint propagation for learning with an "
        "incomplete mapping between views. CIKM 2010."
    ),
    idea=(
        "Two collections are clustered, and only some rows of one are mapped to rows of the other. For a few pairs in "
        "each collection it is known whether they belong together. A constraint is transferred if both of its ends are "
        "mapped; otherwise it is first propagated to mapped rows near its ends, with a weight that falls with "
        "the distance. So constraints in one collection also help in the other."
    ),
    studies=(
        Study(
            name="figure-4",
            title="Four ways to transfer constraints, with ever more of them (figures 4 and 5)",
            measure="pairwise F, mean of both views; more is better",
            work=score_learning_curves,
            settings=make_settings(DATA, SHARES, in_name=True),
            runs=100,
            quick=(
                *(make_setting(f"{PCK}, {m}% mapped", "", base="pck", mapped=m) for m in SHARES),
                make_setting("Four Quadrants, MPCK-Means, 50% mapped", "", base="mpck", mapped=50),
                *(
                    make_setting(f"{name}, PCK-Means, 50% mapped", source, base="pck", mapped=50, runs=5)
                    for name, source in STAND_INS.items()
                ),
            ),
            quick_runs=6,
            claims=(
                Claim(
                    "Constraint propagation is better than clustering each view alone",
                    partial(check_above, other=SINGLE),
                    once=True,
                ),
                Claim(
                    "Constraint propagation is better than cluster membership in all cases, except with few "
                    f"constraints (here up to {FEW}) on Letters/Digits",
                    check_above_membership,
                    once=True,
                ),
                Claim(
                    "Constraint propagation is significantly better than the other ways to transfer constraints "
                    "(average over the learning curve, at the level of 5%)",
                    check_significantly_above,
                    once=True,
                ),
                Claim(
                    "Constraint propagation improves on direct mapping for each percentage mapped (figure 5: average "
                    "over the learning curve)",
                    check_gain,
                    once=True,
                ),
                Claim(
                    "It retains an advantage over direct mapping even with a complete mapping",
                    check_gain_when_complete,
                    across=True,
                ),
                Claim(
                    "Constraint propagation and direct mapping improve as the mapping becomes more complete (average "
                    "over the learning curve)",
                    check_rises_with_mapping,
                    across=True,
                ),
                Claim(
                    "All this holds on Protein, too",
                    cannot="the 116 proteins of Xing et al. have no public home that is known",
                ),
                Claim(
                    "With poor mappings, or clusters that are not Gaussian, propagation is worse in some cases, and "
                    "direct mapping is best (section 5.4)",
                    cannot="the paper neither describes these data sets nor shows their results",
                ),
            ),
            figure=Figure("constraints per view", "pairwise F"),
            note=(
                f"100 trials, as in the paper. {SETTINGS_NOTE} Figure 5 shows the gains of these curves, which the "
                "verdicts list. A curve is higher than another one if it is higher on average and, to two decimals, at "
                "no number of constraints lower."
            ),
        ),
        Study(
            name="four-quadrants-gain",
            title="What propagation gains on direct mapping: Four Quadrants, PCK-Means (section 5.3)",
            measure="gain in pairwise F, in percent of direct mapping's; more is better",
            work=score_gains,
            settings=(make_setting(PCK, "", trials=GAIN_TRIALS),),
            runs=5,
            quick=(make_setting(PCK, "", trials=2),),
            quick_runs=5,
            claims=(
                Claim(
                    f"The gain is {GAIN}% on average (ours agrees within two standard errors)", check_printed_average
                ),
                Claim(f"Peak gains are above {PEAK:.0f}%", check_printed_peak),
            ),
            figure=Figure("constraints per view", "gain in %", bars=True),
            note=(
                f"The 100 trials of figure 4, {GAIN_TRIALS} to a run, which gives the gain of their mean curve. The "
                "average depends on the numbers of constraints, which are not given in the text: with many of them "
                "there is nothing left to gain."
            ),
        ),
        Study(
            name="figure-6",
            title="How many constraints are propagated",
            measure="constraints that both views hand on, averaged over the rounds",
            work=score_amounts,
            settings=make_settings(DATA, SHARES),
            runs=20,
            quick=make_settings({"Four Quadrants": ""}, SHARES),
            quick_runs=2,
            claims=(
                Claim(
                    "The number of propagated constraints is approximately linear in that of the given ones (a line "
                    f"through the means has R² of {LINEAR} or more at each percentage)",
                    check_linear,
                    once=True,
                ),
                Claim("More are propagated as the mapping becomes more complete", check_more_with_mapping, once=True),
            ),
            figure=Figure("constraints per view", "propagated constraints"),
            note="20 of the trials of figure 4. What follows from the given constraints is propagated, too (step 2).",
        ),
        Study(
            name="figure-7",
            title="How many of the propagated constraints are right",
            measure="share of the weight that agrees with the classes; more is better",
            work=score_precision,
            settings=make_settings(DATA, SHARES),
            runs=20,
            quick=(
                *make_settings({"Four Quadrants": ""}, SHARES),
                *(
                    make_setting(f"{name}, PCK-Means", source, base="pck", mapped=100)
                    for name, source in STAND_INS.items()
                ),
            ),
            quick_runs=2,
            claims=(
                Claim(
                    "Propagated constraints are 98 to 100% precise on each data set, with the complete mapping",
                    check_precise,
                    once=True,
                ),
                Claim(
                    "With partial mappings the precision is comparable (means differ by .02 at most)",
                    check_precision_comparable,
                    once=True,
                ),
                Claim("Cannot-links are slightly more precise than must-links", check_cannot_links_better, once=True),
            ),
            figure=Figure("constraints per view", "precision"),
            note=(
                "20 of the trials of figure 4; what the last round propagates, in the trials that propagate anything. "
                "The paper does not give its thresholds: above 0.5 less would be propagated, and more of it right. "
                "Given constraints between mapped instances, and what follows from them, are among the propagated, as "
                "in algorithm 1: these are right anyway, so that the precision of what is inferred is lower."
            ),
        ),
        Study(
            name="iterations",
            title="How many rounds co-EM takes with the complete mapping (section 4)",
            measure="rounds, at most 30; share of the trials that converge in few of them",
            work=score_rounds,
            settings=make_settings(DATA),
            runs=20,
            quick=make_settings({"Four Quadrants": ""}),
            quick_runs=2,
            claims=(
                Claim(
                    f"co-EM converges in very few iterations (here: {FEW_ROUNDS} rounds in {100 * MOST_TRIALS:.0f}% of "
                    "the trials)",
                    check_few_rounds,
                    once=True,
                ),
            ),
            note="20 of the trials of figure 4. A cost that changes by less than 1e-6 has converged, as in the paper.",
        ),
        Study(
            name="threshold",
            title="What the threshold does (section 5.4)",
            measure="pairwise F, mean of both views; more is better",
            work=score_thresholds,
            settings=tuple(
                make_setting(f"{name}, 50% mapped, {n} constraints", source, mapped=50, constraints=n)
                for (name, source), n in zip(DATA.items(), (10, 20, 20), strict=True)
            ),
            runs=20,
            quick=(make_setting("Four Quadrants, 50% mapped, 10 constraints", "", mapped=50, constraints=10),),
            quick_runs=5,
            claims=(
                Claim(
                    "Too high a threshold, where nothing is inferred, gives what direct mapping gives",
                    check_high_threshold,
                    once=True,
                ),
                Claim(
                    "Too low a threshold does worse (than the best, by more than two standard errors)",
                    check_low_threshold,
                    once=True,
                ),
                Claim(
                    "Cross-validation over the constraints remedies the sensitivity to the threshold (to .02 of the "
                    "best fixed one)",
                    check_validation_helps,
                    once=True,
                ),
            ),
            figure=Figure("threshold", "pairwise F"),
            note=(
                "20 trials; the paper describes this in words only; PCK-Means, as it clusters in figure 4. On Four "
                "Quadrants 20 constraints would leave nothing to choose."
            ),
        ),
        Study(
            name="embedding",
            title="What the low-dimensional embedding does (section 5.4)",
            measure="pairwise F of propagation, mean of both views; more is better",
            work=score_embeddings,
            settings=tuple(make_setting(name, source) for name, source in DATA.items() if source),
            runs=20,
            quick=tuple(make_setting(name, source) for name, source in STAND_INS.items()),
            quick_runs=2,
            claims=(
                Claim(
                    "Constraint propagation works best with a low-dimensional embedding of the data (average over the "
                    "learning curve)",
                    check_embedding_helps,
                    once=True,
                ),
            ),
            figure=Figure("constraints per view", "pairwise F"),
            note="20 trials; the paper says this in words only; PCK-Means, half of the rows mapped.",
        ),
        Study(
            name="start",
            title="What the start of PCK-Means does: Four Quadrants",
            measure="pairwise F, mean of both views; more is better",
            work=score_starts,
            settings=tuple(make_setting(f"{mapped}% mapped", "", mapped=mapped) for mapped in SHARES),
            runs=100,
            quick=(make_setting("50% mapped", "", mapped=50),),
            quick_runs=5,
            claims=(
                Claim(
                    "The gain does not depend on where the base clusterer starts, which the paper leaves to its "
                    f"defaults (from both starts within {NEAR:.0f} points)",
                    check_start_irrelevant,
                    across=True,
                    ours=True,
                ),
            ),
            figure=Figure("constraints per view", "pairwise F"),
            note="Not in the paper: it tells how much of the gain is due to a start that serves direct mapping badly.",
        ),
        Study(
            name="order-of-views",
            title="What the order of the views does: Letters/Digits, PCK-Means",
            measure="pairwise F, mean of both views; more is better",
            work=score_view_orders,
            settings=tuple(
                make_setting(f"Letters/Digits, {mapped}% mapped", LETTERS_DIGITS, mapped=mapped) for mapped in (50, 100)
            ),
            runs=20,
            quick=(make_setting("digits (in place of Letters/Digits), 50% mapped", "shipped-digits", mapped=50),),
            quick_runs=2,
            claims=tuple(
                Claim(
                    f"{method} does not depend on which view goes first (to {ALIKE} on average)",
                    partial(check_order_irrelevant, method=method),
                    once=True,
                    ours=True,
                )
                for method in (MEMBERSHIP, PROPAGATION)
            ),
            figure=Figure("constraints per view", "pairwise F"),
            note=(
                "Not in the paper, which does not say which view is clustered first; in figure 4 it is that of the "
                "letters. 20 of its trials, with the same points, mapping and constraints in either order."
            ),
        ),
    ),
    published=read_published("eaton-2010"),
)
