"""Contract of all displays."""

import subprocess
import sys
from io import BytesIO

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError

import consilience as cs
from consilience import plot
from consilience.explain import Hierarchy, OriginalColumn
from consilience.plot import (
    AgreementDisplay,
    ConstraintsDisplay,
    ContestedDisplay,
    ContingencyDisplay,
    ConvergenceDisplay,
    CurvesDisplay,
    DendrogramDisplay,
    DescribedDisplay,
    EmbeddingDisplay,
    GroupProfileDisplay,
    HierarchyDisplay,
    JointMapDisplay,
    ProfileDisplay,
    PropagationDisplay,
    RoundsDisplay,
    SelectionDisplay,
    SurvivalDisplay,
    VerdictDisplay,
    ViewWeightsDisplay,
)

HOSTILE = (
    "$x_{",
    "$\\frac{1$",
    "<script>alert(1)</script>",
    "line\nbreak\ttab\0\x1b",
    "very long " * 40,
    "",
    "中文 العربية हिन्दी 🦄",
    "\u202egnp.exe",
    "100 % & a_b ^2 #{} \\$ \\",
)


@pytest.fixture(params=plot.__all__)
def draw(request, views, kmeans, tree, mixture, selection, spectral, constrained, assessment, columns):
    """Draw any of the displays into given axes."""
    return {
        "AgreementDisplay": lambda ax=None: AgreementDisplay.from_estimator(kmeans, ax=ax),
        "ConstraintsDisplay": lambda ax=None: ConstraintsDisplay.from_estimator(constrained, views, ax=ax),
        "ContestedDisplay": lambda ax=None: ContestedDisplay.from_estimator(kmeans, views, ax=ax),
        "ContingencyDisplay": lambda ax=None: ContingencyDisplay.from_estimator(kmeans, kmeans.labels_, ax=ax),
        "ConvergenceDisplay": lambda ax=None: ConvergenceDisplay.from_estimator(mixture, ax=ax),
        "CurvesDisplay": lambda ax=None: CurvesDisplay(
            {"digits": {"co-EM": {"2": [0.5, 0.6], "4": [0.4, 0.3]}}, "letters": {"EM": {"F": [0.5], "NMI": [0.6]}}}
        ).plot(ax),
        "DendrogramDisplay": lambda ax=None: DendrogramDisplay.from_estimator(tree, ax=ax),
        "DescribedDisplay": lambda ax=None: DescribedDisplay.from_labels(
            kmeans.labels_, [columns["age"], columns["stage"], columns["seen"]], ax=ax
        ),
        "EmbeddingDisplay": lambda ax=None: EmbeddingDisplay.from_estimator(kmeans, views, ax=ax),
        "GroupProfileDisplay": lambda ax=None: GroupProfileDisplay.from_labels(
            kmeans.labels_, list(columns.values()), 1, ax=ax
        ),
        "HierarchyDisplay": lambda ax=None: HierarchyDisplay(
            Hierarchy(np.arange(3), np.array([[0, 2], [1, 3]]), np.array([1.0, 2.0])), np.bincount(kmeans.labels_)
        ).plot(ax),
        "JointMapDisplay": lambda ax=None: JointMapDisplay(
            np.random.default_rng(0).normal(size=(120, 2)), kmeans.labels_
        ).plot(ax),
        "ProfileDisplay": lambda ax=None: ProfileDisplay.from_estimator(kmeans, views, ax=ax),
        "PropagationDisplay": lambda ax=None: PropagationDisplay.from_estimator(constrained, views, ax=ax),
        "RoundsDisplay": lambda ax=None: RoundsDisplay.from_estimator(spectral, ax=ax),
        "SelectionDisplay": lambda ax=None: SelectionDisplay.from_selection(selection, ax=ax),
        "SurvivalDisplay": lambda ax=None: SurvivalDisplay.from_labels(kmeans.labels_, columns["months"], ax=ax),
        "VerdictDisplay": lambda ax=None: VerdictDisplay(assessment).plot(ax),
        "ViewWeightsDisplay": lambda ax=None: ViewWeightsDisplay.from_estimator(mixture, ax=ax),
    }[request.param]


def save_figure(display):
    """Save the figure, because matplotlib warns about missing characters only then."""
    display.figure_.savefig(file := BytesIO(), format="png", dpi=40)
    plt.close(display.figure_)
    return file.getbuffer().nbytes


def test_draws_in_new_figures(draw, monkeypatch):
    display = draw()
    first = display.figure_
    assert plt.get_fignums() == [first.number]
    assert save_figure(display) > 1000
    assert display.plot() is display
    assert display.figure_ is not first
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"consilience.plot needs matplotlib: pip install 'consilience\[plot\]'"):
        draw()


def test_draws_in_given_axes_without_pyplot(draw):
    figure = Figure(layout="constrained")
    ax = figure.subplots(1, 2)
    display = draw(ax[1])
    assert display.figure_ is figure
    assert not plt.get_fignums()
    drawn = np.ravel(display.ax_)
    assert not set(drawn) & {ax[0]}
    assert all(axes.get_subplotspec().get_topmost_subplotspec() == ax[1].get_subplotspec() for axes in drawn)
    assert save_figure(display) > 1000
    shape = np.shape(display.ax_)
    axes = Figure().subplots(*(shape if len(shape) == 2 else (1, *(shape or (1,)))), squeeze=False)
    display = draw(axes.ravel() if shape else axes[0, 0])
    assert np.ravel(display.ax_).tolist() == axes.ravel().tolist()


def test_axes_that_do_not_fit_are_refused(views, kmeans):
    with pytest.raises(ValueError, match=r"3 axes are needed \(1 rows of 3\), got 2: give 3, or one"):
        EmbeddingDisplay.from_estimator(kmeans, views, ax=Figure().subplots(1, 2))
    with pytest.raises(ValueError, match="give a list of axes, or one made by subplots"):
        EmbeddingDisplay.from_estimator(kmeans, views, ax=Figure().add_axes((0, 0, 1, 1)))
    for ax, kind in ((3, "int"), ("axes", "str"), ([3], "int")):
        with pytest.raises(TypeError, match=f"ax must be matplotlib axes or a sequence of them, got {kind}"):
            AgreementDisplay.from_estimator(kmeans, ax=ax)


def test_unfitted_models_and_other_entities_than_in_the_fit_are_refused(views, kmeans):
    unfitted, message = cs.MultiViewKMeans(), "MultiViewKMeans instance is not fitted yet"
    for display in (AgreementDisplay, ConvergenceDisplay, ViewWeightsDisplay, DendrogramDisplay, RoundsDisplay):
        with pytest.raises(NotFittedError, match=message):
            display.from_estimator(unfitted)
    with_views = EmbeddingDisplay, JointMapDisplay, ProfileDisplay, ContestedDisplay, ConstraintsDisplay
    for display in (*with_views, PropagationDisplay):
        with pytest.raises(NotFittedError, match=message):
            display.from_estimator(unfitted, views)
        with pytest.raises(ValueError, match="fitted to 120 entities, got 50: give the views that it was fitted to"):
            display.from_estimator(kmeans, views[:50])


def test_message_names_estimators_with_attribute(views, kmeans, tree):
    X = np.arange(8.0).reshape(4, 2)
    single = KMeans(2, n_init=1).fit(X)
    of_all = "all multi-view estimators have it"
    for display, arguments, message in (
        (AgreementDisplay, (single,), f"KMeans has no agreement_: {of_all}"),
        (ContestedDisplay, (single, X), f"KMeans has no view_labels_: {of_all}"),
        (ConvergenceDisplay, (tree,), "Agglomerative has no history_: Consilience, CoEM, MultiViewKMeans, .* have it"),
        (ViewWeightsDisplay, (kmeans,), "MultiViewKMeans has no view_weights_: ConvexMixture has it"),
        (DendrogramDisplay, (kmeans,), "MultiViewKMeans has no merge_views_: MultiViewAgglomerative has it"),
        (RoundsDisplay, (kmeans,), "MultiViewKMeans has no labels_per_round_: CoTrainedSpectral has it"),
        (ConstraintsDisplay, (kmeans, views), "no input_constraints_: PCKMeans, MPCKMeans, COPKMeans"),
        (PropagationDisplay, (kmeans, views), "has no propagated_: MultiViewConstrainedKMeans has it"),
    ):
        with pytest.raises(ValueError, match=message):
            display.from_estimator(*arguments)
    with pytest.raises(ValueError, match="MultiViewKMeans has no embeddings_: CoTrainedSpectral and the spectral"):
        EmbeddingDisplay.from_estimator(kmeans, views, method="spectral")


def test_any_names_are_drawn():
    rng = np.random.default_rng(0)
    views = cs.Views({name: rng.normal(size=(30, 3)) for name in HOSTILE})
    model = cs.MultiViewKMeans(2, n_init=1, random_state=0).fit(views)
    planes = {name: np.eye(3)[:, :2] for name in HOSTILE}
    links, curves = cs.Constraints([(0, 2)]), {name: [0.1, 0.2] for name in HOSTILE}
    panels = {name: {name: {**curves, "1": [0.4]}} for name in HOSTILE}
    ids = [HOSTILE[i % len(HOSTILE)] for i in range(30)]
    weights = {f"weight_{name}": [0.1, 0.2] for name in HOSTILE}
    named = {name or "x": [0.1, 0.2] for name in HOSTILE}
    chain = [[0, 1], *([i + 1, 8 + i] for i in range(1, 9))]
    for display in (
        AgreementDisplay.from_estimator(model),
        EmbeddingDisplay.from_estimator(model, views),
        *(ContestedDisplay.from_estimator(model, views, pair=HOSTILE[i : i + 2]) for i in (0, 4, 7)),
        ConstraintsDisplay.from_estimator(model, views, cs.Constraints([(0, 1)], [(2, 3)])),
        ConstraintsDisplay(planes, [0, 0, 1], dict.fromkeys(HOSTILE, links)).plot(),
        PropagationDisplay(planes, [0, 0, 1], links, cs.Constraints(), HOSTILE[0]).plot(),
        ContestedDisplay(model.view_labels_, np.zeros(30), ids=ids).plot(n_least=30),
        ProfileDisplay.from_estimator(model, views),
        ViewWeightsDisplay(dict.fromkeys(HOSTILE, 0.4)).plot(),
        ConvergenceDisplay({"cost": [2.0, 1.0], **weights}).plot(),
        ConvergenceDisplay({"cost": [2.0, 1.0], **named}).plot(columns=list(named)),
        CurvesDisplay(panels, x=HOSTILE[1], y=HOSTILE[2]).plot(),
        CurvesDisplay({HOSTILE[5]: {HOSTILE[6]: {"1": [0.4], "2": [0.3]}}}, x=HOSTILE[3], y=HOSTILE[4]).plot(),
        DendrogramDisplay(chain, HOSTILE).plot(),
        RoundsDisplay(curves, score_name=HOSTILE[7]).plot(),
        ContingencyDisplay(np.eye(9, dtype=int) + 1, HOSTILE, HOSTILE[::-1]).plot(),
    ):
        assert save_figure(display) > 500


def test_any_names_in_results_are_drawn(assessment):
    n, labels, cells = len(HOSTILE), np.repeat(np.arange(len(HOSTILE)), 8), np.arange(72.0)
    layout = np.random.default_rng(0).normal(size=(72, 2))
    words = np.array(HOSTILE, dtype=object)[labels]
    numbers = [OriginalColumn(name, cells, "number", name, is_description=True) for name in HOSTILE]
    categories = [OriginalColumn(name, words, "category", is_description=True) for name in HOSTILE]
    times = OriginalColumn(HOSTILE[0], cells, "number", HOSTILE[1], True, np.arange(72) % 3 > 0)
    tree = Hierarchy(
        np.arange(n), np.array([[0, 1], *([i + 1, n - 1 + i] for i in range(1, n - 1))]), np.arange(1.0, n)
    )
    for display in (
        JointMapDisplay(layout, labels, HOSTILE).plot(),
        *(JointMapDisplay(layout, labels, HOSTILE, color=column).plot() for column in (*numbers[::5], categories[2])),
        *(VerdictDisplay(assessment, HOSTILE[i : i + 3]).plot() for i in (0, 3, 6)),
        HierarchyDisplay(tree, [8] * n, HOSTILE).plot(),
        SurvivalDisplay.from_labels(labels, times, HOSTILE),
        DescribedDisplay.from_labels(labels, numbers, HOSTILE),
        DescribedDisplay.from_labels(labels, categories, HOSTILE),
        *(GroupProfileDisplay.from_labels(labels, numbers, i, HOSTILE[i]) for i in range(1, n)),
        GroupProfileDisplay.from_labels(labels, categories, 0, HOSTILE[0]),
    ):
        assert save_figure(display) > 500


def test_displays_of_single_view_and_of_views_that_the_model_divides():
    X = np.random.default_rng(0).random((40, 4))
    model = cs.MultiViewKMeans(2, random_state=0).fit(X)
    assert AgreementDisplay.from_estimator(model).image_.get_array().tolist() == [[1.0]]
    assert EmbeddingDisplay.from_estimator(model, X).ax_.shape == (1,)
    assert ProfileDisplay.from_estimator(model, X).ax_.shape == (2, 1)
    with pytest.raises(ValueError, match="there is one view, 'view0': two are needed"):
        ContestedDisplay.from_estimator(model, X)
    model = cs.MultiViewKMeans(2, views={"a": [0, 1], "b": [2, 3]}, random_state=0).fit(X)
    assert list(EmbeddingDisplay.from_estimator(model, X).points_) == ["a", "b"]


def test_nothing_is_imported_before_it_is_used():
    imports = "import sys, consilience as cs, consilience.plot, consilience.cli.figure; cs.cluster"
    code = f"{imports}; print('matplotlib' in sys.modules, 'umap' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_fonts_of_user_are_used(monkeypatch):
    from consilience.plot._figure import escape_name

    with mpl.rc_context({"font.family": ["DejaVu Sans Mono", "DejaVu Sans"]}):
        assert escape_name("żółw Ω") == "żółw Ω"
    assert escape_name("中") == "□"


NOT_A_CURVE = "a curve is a list of scores, one per round from round 0, got "
SAID, TWO = {"a": np.array([0, 1]), "b": np.array([1, 1])}, cs.Views([np.eye(2)])
POINTS = r"the embedding of view 'a' must have shape \(5, 2\), one point per label, got \("


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: AgreementDisplay(np.ones((2, 3)), ["a", "b"]), r"need an agreement of shape \(2, 2\)"),
        (lambda: AgreementDisplay(None, ["a", "b"]), r"need an agreement of shape \(2, 2\)"),
        (lambda: AgreementDisplay("nonsense", ["a", "b"]), "a matrix of shares between 0 and 1: could not conv"),
        (lambda: ViewWeightsDisplay({"b": np.nan}), "the weight of view 'b' is nan: give a finite number, or leave it"),
        (lambda: ViewWeightsDisplay({"b": np.inf}), "the weight of view 'b' is inf: give a finite number, or leave it"),
        (lambda: CurvesDisplay({"p": {"EM": {"2": [np.inf]}}}).plot(), "'EM' in panel 'p' has an infinite value: use"),
        (lambda: CurvesDisplay({"p": {"EM": {"2": []}}}).plot(), "'EM' in panel 'p' has an empty list of values: leav"),
        (lambda: CurvesDisplay({}).plot(), "there is nothing to draw: give at least one panel, each with a meth"),
        (lambda: CurvesDisplay({"p": {}}).save("none"), "there is nothing to draw: give at least one panel"),
        (lambda: CurvesDisplay({"p": {"m": {}}}).plot(), "there is nothing to draw: give at least one panel"),
        (lambda: EmbeddingDisplay({"a": np.zeros((5, 1))}, np.zeros(5, dtype=int)), POINTS),
        (lambda: EmbeddingDisplay({"a": np.zeros((4, 2))}, np.zeros(5, dtype=int)), POINTS),
        (lambda: EmbeddingDisplay({"a": np.zeros(5)}, np.zeros(5, dtype=int)), POINTS),
        (lambda: ConvergenceDisplay({"cost": [2.0, 1.0]}).plot(columns=[]), "no columns to draw: omit columns, or cho"),
        (lambda: ConvergenceDisplay({}).plot(), "the history is empty"),
        (lambda: DendrogramDisplay([], []).plot(), "a dendrogram needs at least two entities"),
        (lambda: DendrogramDisplay([[0, 1]], ["a"]).plot(n_merges=0), "n_merges=0 must be at least 1"),
        (lambda: ProfileDisplay.from_labels(TWO, [0, 1], clusters=[4]), "there is no cluster 4: they are 0 to 1"),
        (lambda: ProfileDisplay.from_labels(TWO, [-1, -1]), "no clusters to draw"),
        (lambda: ContestedDisplay(SAID, np.ones(2)).plot(pair=("a", "d")), "no view 'd'; the views are 'a', 'b'"),
        (lambda: ContestedDisplay(SAID, np.ones(2)).plot(pair=("a", "a")), "pair names 'a' twice: give two views"),
        (lambda: RoundsDisplay({}), NOT_A_CURVE + "no curves"),
        (lambda: RoundsDisplay({"a": []}), NOT_A_CURVE + r"'a' of shape \(0,\)"),
        (lambda: RoundsDisplay({"a": 0.5}), NOT_A_CURVE + r"'a' of shape \(\)"),
        (lambda: ContingencyDisplay.from_labels([], []), "there are no entities to count"),
        (
            lambda: ContingencyDisplay.from_labels([0, 1], [0]),
            r"classes have shape \(2,\), clusters \(1,\): give one of",
        ),
    ],
)
def test_values_that_cannot_be_drawn_are_refused(draw, message):
    with pytest.raises(ValueError, match=message):
        draw()
