"""Every Display draws without warnings, or refuses; no figure stays open."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from io import BytesIO
from typing import Any

import numpy as np

import consilience as cs
from consilience import plot

from .case import ACCEPTED, Case, call, require

TEXTS = ("a", "$x_{", "<b>", "line\nbreak", "long " * 30, "", "中文 🦄", "\u202egnp", "100 % & \\$", "\0")


def check(case: Case) -> str:
    """Draw one Display in a figure of its own or in given axes, and render it."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.figure import Figure

    before, open_figures = dict(mpl.rcParams), plt.get_fignums()
    name = case.choose(sorted(DRAWN))
    ax = None
    if case.chance(0.3):
        ax = Figure(layout="constrained").subplots()
    elif case.chance(0.05):
        ax = case.choose(["nonsense", 3, Figure().subplots(1, 2)])
    case.note(display=name, ax=ax)
    try:
        display = DRAWN[name](case, ax)
        call(display.figure_.savefig, BytesIO(), format=case.choose(["png", "svg"]), dpi=40)
        if isinstance(ax, plt.Axes):
            require(plt.get_fignums() == open_figures, "a figure was made although axes were given")
    finally:
        plt.close("all")
    require(dict(mpl.rcParams) == before, "the settings of matplotlib changed")
    return ACCEPTED


@cache
def views() -> Any:
    return cs.datasets.make_gaussian_views(40, n_clusters=3, n_features=(4, 3), missing=0.2, random_state=0)[0]


@cache
def models() -> dict[str, Any]:
    """Fitted models that have all that can be drawn."""
    return {
        "k-means": cs.MultiViewKMeans(3, n_init=1, random_state=0).fit(views()),
        "one view": cs.MultiViewKMeans(2, n_init=1, random_state=0).fit(
            np.asarray(views()["view0"])[views().present[:, 0]]
        ),
        "co-EM": cs.CoEM(3, n_init=1, eta=0.25, random_state=0).fit(views()),
        "tree": cs.MultiViewAgglomerative(3, metric="euclidean").fit(views()),
        "mixture": cs.ConvexMixture(3).fit(views()),
        "spectral": cs.CoTrainedSpectral(3, n_init=1, random_state=0).fit(views()),
        "not fitted": cs.MultiViewKMeans(3),
    }


@cache
def selections() -> list[Any]:
    estimator = cs.MultiViewKMeans(n_init=1)
    return [
        cs.select_n_clusters(estimator, views(), candidates, n_splits=1) for candidates in ([2], [1, 2, 3], range(2, 6))
    ]


def draw_model(name: str, needs_views: bool = False) -> Callable[[Case, Any], Any]:
    """Draw a Display of a model, sometimes with a wrong argument."""

    def draw(case: Case, ax: Any) -> Any:
        kind = case.choose(models())
        options: dict[str, Any] = {}
        if name == "ProfileDisplay":
            options = {"n_top": case.choose([1, 3, 50, 0, -1]), "clusters": case.choose([None, [0], [2, 1], [9], []])}
        if name == "ContestedDisplay":
            options = {
                "n_least": case.choose([10, 1, 0, -1, 500]),
                "pair": case.choose([None, ("view0", "view1"), ("a", "b")]),
            }
        if name == "EmbeddingDisplay":
            options = {"max_points": case.choose([20000, 5, 1, 0]), "method": case.choose(["auto", "pca", "nonsense"])}
        if name == "DendrogramDisplay":
            options = {"n_merges": case.choose([30, 1, 0, -1, 1000])}
        if name == "RoundsDisplay":
            options = {"y": case.choose([None, np.arange(len(views())) % 3, [1, 2], "nonsense"])}
        if name == "ConvergenceDisplay":
            options = {"columns": case.choose([None, ["cost"], ["nonsense"], []])}
        case.note(model=kind, options=options)
        data = views() if kind != "one view" else np.asarray(views()["view0"])[views().present[:, 0]]
        arguments = [models()[kind], *([data] if needs_views else [])]
        return call(getattr(plot, name).from_estimator, *arguments, ax=ax, **options)

    return draw


def draw_agreement(case: Case, ax: Any) -> Any:
    n = int(case.choose([1, 2, 3, 12]))
    matrix = case.rng.random((n, n))
    matrix = (matrix + matrix.T) / 2
    if case.chance(0.3):
        matrix[0, -1] = matrix[-1, 0] = case.choose([np.nan, np.inf, 2.0, -1.0])
    if case.chance(0.1):
        matrix = case.choose([matrix[:, :-1], matrix[0], matrix.tolist(), "nonsense", None])
    names = [case.choose(TEXTS) + str(i) for i in range(n - int(case.chance(0.05)))]
    case.note(matrix=matrix, names=names)
    return call(lambda: plot.AgreementDisplay(matrix, names).plot(ax))


def draw_contingency(case: Case, ax: Any) -> Any:
    n = int(case.choose([0, 1, 5, 40]))
    y = (
        np.array(TEXTS, dtype=object)[case.rng.integers(len(TEXTS), size=n)]
        if case.chance(0.5)
        else case.rng.integers(4, size=n)
    )
    labels = case.rng.integers(-1, 4, size=n + int(case.chance(0.1)))
    case.note(y=y, labels=labels)
    return call(plot.ContingencyDisplay.from_labels, y, labels, ax=ax)


def draw_curves(case: Case, ax: Any) -> Any:
    """Draw runs of methods over settings that are numbers or names; some hold NaN or nothing."""

    def runs() -> dict[str, dict[str, list[float]]]:
        points = case.choose([["2", "4", "8"], ["F", "NMI"], ["1"], [], ["1e3", "1e5"]])
        methods = [case.choose(TEXTS) + str(i) for i in range(int(case.choose([1, 2, 5])))]
        return {method: {point: numbers() for point in points} for method in methods}

    def numbers() -> list[float]:
        values = case.rng.random(int(case.choose([1, 2, 5]))) * case.choose([1, 1, 1e-9, 1e9])
        if case.chance(0.05):
            return case.choose([[], [np.nan], [np.inf, 1.0]])
        return values.tolist()

    panels = {case.choose(TEXTS) + str(i): runs() for i in range(int(case.choose([0, 1, 1, 2, 3])))}
    options = {
        "bars": case.chance(0.3),
        "deviations": case.chance(0.3),
        "x": case.choose(TEXTS),
        "y": case.choose(TEXTS),
    }
    case.note(panels=panels, options=options)
    return call(lambda: plot.CurvesDisplay(panels, **options).plot(ax))


def draw_embedding(case: Case, ax: Any) -> Any:
    n = int(case.choose([1, 2, 30]))
    shapes = [(n, 2), (n, 2), (n, 1), (n + 1, 2)] if case.chance(0.2) else [(n, 2)]
    embeddings = {
        case.choose(TEXTS) + str(i): case.rng.normal(size=case.choose(shapes)) for i in range(int(case.choose([1, 2])))
    }
    if case.chance(0.3):
        next(iter(embeddings.values()))[0] = case.choose([np.nan, 1e300, np.inf, 1e9])
    labels = case.rng.integers(-1, int(case.choose([1, 3, 30])), size=n)
    case.note(embeddings=embeddings, labels=labels)
    return call(lambda: plot.EmbeddingDisplay(embeddings, labels).plot(ax))


def draw_history(case: Case, ax: Any) -> Any:
    n = int(case.choose([0, 1, 2, 30]))
    history = {
        case.choose(TEXTS) + str(i): case.rng.normal(size=n) * case.choose([1, 1e-300, 1e300])
        for i in range(int(case.choose([0, 1, 3])))
    }
    if n and history and case.chance(0.3):
        next(iter(history.values()))[0] = case.choose([np.nan, np.inf])
    case.note(history=history)
    return call(lambda: plot.ConvergenceDisplay(history, case.choose([None, True, False])).plot(ax))


def draw_weights(case: Case, ax: Any) -> Any:
    n = int(case.choose([0, 1, 3, 40]))
    weights = {case.choose(TEXTS) + str(i): float(w) for i, w in enumerate(case.rng.random(n))}
    if n and case.chance(0.2):
        weights["odd"] = case.choose([np.nan, -1.0, np.inf, 1e30])
    case.note(weights=weights)
    return call(lambda: plot.ViewWeightsDisplay(weights).plot(ax))


def draw_profile(case: Case, ax: Any) -> Any:
    n = len(views())
    labels = case.rng.integers(-1, 4, size=n - int(case.chance(0.05)))
    case.note(labels=labels)
    return call(plot.ProfileDisplay.from_labels, views(), labels, ax=ax)


DRAWN: dict[str, Callable[[Case, Any], Any]] = {
    "agreement": draw_agreement,
    "agreement of a model": draw_model("AgreementDisplay"),
    "contested": draw_model("ContestedDisplay", needs_views=True),
    "contingency": draw_contingency,
    "convergence": draw_history,
    "convergence of a model": draw_model("ConvergenceDisplay"),
    "curves": draw_curves,
    "dendrogram": draw_model("DendrogramDisplay"),
    "embedding": draw_embedding,
    "embedding of a model": draw_model("EmbeddingDisplay", needs_views=True),
    "profile": draw_profile,
    "profile of a model": draw_model("ProfileDisplay", needs_views=True),
    "rounds of a model": draw_model("RoundsDisplay"),
    "selection": lambda case, ax: call(plot.SelectionDisplay.from_selection, case.choose(selections()), ax=ax),
    "weights": draw_weights,
    "weights of a model": draw_model("ViewWeightsDisplay"),
}
