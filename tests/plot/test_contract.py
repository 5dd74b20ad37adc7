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
    return file.getbuffer().nbytes


def test_draws_in_new_figure(draw):
    display = draw()
    assert plt.get_fignums() == [display.figure_.number]
    assert save_figure(display) > 1000


def test_plot_returns_display_and_can_be_repeated(draw):
    display = draw()
    first = display.figure_
    assert display.plot() is display
    assert display.figure_ is not first


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


def test_draws_in_array_of_axes(draw):
    shape = np.shape(draw().ax_)
    axes = Figure().subplots(*(shape if len(shape) == 2 else (1, *(shape or (1,)))), squeeze=False)
    display = draw(axes.ravel() if shape else axes[0, 0])
    assert np.ravel(display.ax_).tolist() == axes.ravel().tolist()


def test_too_few_axes_are_refused(views, kmeans):
    with pytest.raises(ValueError, match=r"3 axes are needed \(1 rows of 3\), got 2: give 3, or one"):
        EmbeddingDisplay.from_estimator(kmeans, views, ax=Figure().subplots(1, 2))


def test_axes_without_grid_cannot_be_divided(views, kmeans):
    with pytest.raises(ValueError, match="give a list of axes, or one made by subplots"):
        EmbeddingDisplay.from_estimator(kmeans, views, ax=Figure().add_axes((0, 0, 1, 1)))


@pytest.mark.parametrize(
    "display", [AgreementDisplay, ConvergenceDisplay, ViewWeightsDisplay, DendrogramDisplay, RoundsDisplay]
)
def test_unfitted_model_is_refused(display):
    with pytest.raises(NotFittedError, match="MultiViewKMeans instance is not fitted yet"):
        display.from_estimator(cs.MultiViewKMeans())


WITH_VIEWS = [
    EmbeddingDisplay,
    JointMapDisplay,
    ProfileDisplay,
    ContestedDisplay,
    ConstraintsDisplay,
    PropagationDisplay,
]


@pytest.mark.parametrize("display", WITH_VIEWS)
def test_unfitted_model_with_views_is_refused(display, views):
    with pytest.raises(NotFittedError, match="MultiViewKMeans instance is not fitted yet"):
        display.from_estimator(cs.MultiViewKMeans(), views)


def test_message_names_estimators_with_attribute(views, kmeans, tree):
    single = KMeans(2, n_init=1).fit(np.arange(8.0).reshape(4, 2))
    with pytest.raises(ValueError, match="KMeans has no agreement_: all multi-view estimators have it"):
        AgreementDisplay.from_estimator(single)
    with pytest.raises(ValueError, match="KMeans has no view_labels_: all multi-view estimators have it"):
        ContestedDisplay.from_estimator(single, np.arange(8.0).reshape(4, 2))
    with pytest.raises(
        ValueError, match=r"MultiViewAgglomerative has no history_: Consilience, CoEM, MultiViewKMeans, .* have it"
    ):
        ConvergenceDisplay.from_estimator(tree)
    with pytest.raises(ValueError, match="MultiViewKMeans has no view_weights_: ConvexMixture has it"):
        ViewWeightsDisplay.from_estimator(kmeans)
    with pytest.raises(ValueError, match="MultiViewKMeans has no merge_views_: MultiViewAgglomerative has it"):
        DendrogramDisplay.from_estimator(kmeans)
    with pytest.raises(ValueError, match="MultiViewKMeans has no labels_per_round_: CoTrainedSpectral has it"):
        RoundsDisplay.from_estimator(kmeans)
    with pytest.raises(ValueError, match="MultiViewKMeans has no embeddings_: CoTrainedSpectral and the spectral"):
        EmbeddingDisplay.from_estimator(kmeans, views, method="spectral")
    with pytest.raises(ValueError, match="MultiViewKMeans has no input_constraints_: PCKMeans, MPCKMeans, COPKMeans"):
        ConstraintsDisplay.from_estimator(kmeans, views)
    with pytest.raises(ValueError, match="MultiViewKMeans has no propagated_: MultiViewConstrainedKMeans has it"):
        PropagationDisplay.from_estimator(kmeans, views)


@pytest.mark.parametrize("display", WITH_VIEWS)
def test_other_entities_than_in_fit_are_refused(display, views, kmeans):
    with pytest.raises(ValueError, match="was fitted to 120 entities, got 50: give the views that it was fitted to"):
        display.from_estimator(kmeans, views[:50])


@pytest.mark.parametrize("name", HOSTILE)
def test_any_names_are_drawn(name, views):
    odd = cs.Views({name: views["view0"], "other": views["view1"]})
    odd = odd[odd.present.any(axis=1)]
    model = cs.MultiViewKMeans(3, n_init=1, random_state=0).fit(odd)
    for display in (
        AgreementDisplay.from_estimator(model),
        EmbeddingDisplay.from_estimator(model, odd),
        ContestedDisplay.from_estimator(model, odd),
        ConstraintsDisplay.from_estimator(model, odd, cs.Constraints([(0, 1)], [(2, 3)])),
        ConstraintsDisplay({name: np.eye(3)[:, :2]}, [0, 0, 1], {name: cs.Constraints([(0, 2)])}).plot(),
        PropagationDisplay(
            {name: np.eye(3)[:, :2], "b": np.eye(3)[:, 1:]}, [0, 0, 1], cs.Constraints([(0, 2)]), cs.Constraints(), name
        ).plot(),
        ContestedDisplay(model.view_labels_, np.zeros(len(odd)), ids=[name] * len(odd)).plot(),
        ProfileDisplay.from_estimator(model, odd),
        ViewWeightsDisplay({name: 0.4, "other": 0.6}).plot(),
        ConvergenceDisplay({"cost": [2.0, 1.0], f"weight_{name}": [0.1, 0.2]}).plot(),
        ConvergenceDisplay({"cost": [2.0, 1.0], name or "x": [0.1, 0.2]}).plot(columns=[name or "x"]),
        CurvesDisplay({name: {name: {name: [0.1, 0.2], "1": [0.4]}, "other": {"1": [0.2]}}}, x=name, y=name).plot(),
        CurvesDisplay({name: {name: {name: [0.1, 0.2], "1": [0.4], "2": [0.3]}}}, x=name, y=name).plot(),
        DendrogramDisplay([[0, 1], [2, 3]], [name, "other"]).plot(),
        RoundsDisplay({name: [0.4, 0.5], "other": [0.4]}, score_name=name).plot(),
        ContingencyDisplay([[3, 1], [0, 2]], [name, "other"], [0, 1]).plot(),
    ):
        assert save_figure(display) > 500


@pytest.mark.parametrize("name", HOSTILE)
def test_any_names_in_results_are_drawn(name, assessment):
    labels, names = np.repeat([0, 1], 20), [name, f"{name}!"]
    number = OriginalColumn(name, np.arange(40.0), "number", name, is_description=True)
    category = OriginalColumn(name, np.repeat([name, "b"], 20).astype(object), "category", is_description=True)
    times = OriginalColumn(name, np.arange(40.0), "number", name, True, np.arange(40) % 3 > 0)
    layout = np.random.default_rng(0).normal(size=(40, 2))
    for display in (
        JointMapDisplay(layout, labels, names).plot(),
        JointMapDisplay(layout, labels, names, color=number).plot(),
        JointMapDisplay(layout, labels, names, color=category).plot(),
        VerdictDisplay(assessment, [name, f"{name}!", "c"]).plot(),
        HierarchyDisplay(Hierarchy(np.arange(2), np.array([[0, 1]]), np.ones(1)), [20, 20], names).plot(),
        SurvivalDisplay.from_labels(labels, times, names),
        DescribedDisplay.from_labels(labels, [number], names),
        DescribedDisplay.from_labels(labels, [category], names),
        GroupProfileDisplay.from_labels(labels, [number], 0, name),
        GroupProfileDisplay.from_labels(labels, [category], 0, name),
    ):
        assert save_figure(display) > 500


def test_displays_of_single_view(views):
    X = np.random.default_rng(0).random((40, 3))
    model = cs.MultiViewKMeans(2, random_state=0).fit(X)
    assert AgreementDisplay.from_estimator(model).image_.get_array().tolist() == [[1.0]]
    assert EmbeddingDisplay.from_estimator(model, X).ax_.shape == (1,)
    assert ProfileDisplay.from_estimator(model, X).ax_.shape == (2, 1)
    with pytest.raises(ValueError, match="there is one view, 'view0': two are needed"):
        ContestedDisplay.from_estimator(model, X)


def test_columns_are_divided_into_views_by_model():
    X = np.random.default_rng(0).random((40, 4))
    model = cs.MultiViewKMeans(2, views={"a": [0, 1], "b": [2, 3]}, random_state=0).fit(X)
    assert list(EmbeddingDisplay.from_estimator(model, X).points_) == ["a", "b"]


def test_nothing_is_imported_before_it_is_used():
    code = "import sys, consilience.plot; print('matplotlib' in sys.modules, 'umap' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_message_without_matplotlib_names_installation(draw, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"consilience.plot needs matplotlib: pip install 'consilience\[plot\]'"):
        draw()


def test_fonts_of_user_are_used(monkeypatch):
    from consilience.plot._figure import escape_name

    with mpl.rc_context({"font.family": ["DejaVu Sans Mono", "DejaVu Sans"]}):
        assert escape_name("żółw Ω") == "żółw Ω"
    assert escape_name("中") == "□"


@pytest.mark.parametrize(("ax", "kind"), [(3, "int"), ("axes", "str"), ([3], "int")])
def test_wrong_types_of_axes_are_refused(ax, kind, kmeans):
    with pytest.raises(TypeError, match=f"ax must be matplotlib axes or a sequence of them, got {kind}"):
        AgreementDisplay.from_estimator(kmeans, ax=ax)


@pytest.mark.parametrize("agreement", [np.ones(2), np.ones((2, 3)), np.ones((3, 3)), None])
def test_agreement_of_another_shape_is_refused(agreement):
    with pytest.raises(ValueError, match=r"2 names need an agreement of shape \(2, 2\), got .*: give one row"):
        AgreementDisplay(agreement, ["a", "b"])


def test_agreement_without_numbers_is_refused():
    with pytest.raises(ValueError, match="agreement must be a matrix of shares between 0 and 1: could not convert"):
        AgreementDisplay("nonsense", ["a", "b"])


@pytest.mark.parametrize("weight", [np.nan, np.inf])
def test_weights_that_are_not_finite_are_refused(weight):
    with pytest.raises(ValueError, match=f"the weight of view 'b' is {weight}: give a finite number, or leave it out"):
        ViewWeightsDisplay({"a": 0.5, "b": weight})


def test_curves_with_infinite_values_are_refused():
    with pytest.raises(ValueError, match="'EM' in panel 'digits' has an infinite value: use NaN where a run failed"):
        CurvesDisplay({"digits": {"EM": {"2": [0.5, np.inf]}}}).plot()


@pytest.mark.parametrize("shape", [(5, 1), (4, 2), (5,)])
def test_embedding_of_another_shape_is_refused(shape):
    message = r"the embedding of view 'a' must have shape \(5, 2\), one point per label, got \("
    with pytest.raises(ValueError, match=message):
        EmbeddingDisplay({"a": np.zeros(shape)}, np.zeros(5, dtype=int))


def test_curves_without_values_are_refused():
    with pytest.raises(ValueError, match="'EM' in panel 'digits' has an empty list of values: leave it out"):
        CurvesDisplay({"digits": {"EM": {"2": []}}}).plot()


def test_convergence_without_columns_is_refused(mixture):
    with pytest.raises(ValueError, match="no columns to draw: omit columns, or choose among"):
        ConvergenceDisplay.from_estimator(mixture, columns=[])
