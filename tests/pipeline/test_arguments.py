"""What `consilience.cluster` takes as data, and what it says about wrong arguments."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import consilience as cs

rng = np.random.default_rng(0)
NUMBERS = np.repeat([0.0, 8.0], 10)[:, None] + rng.normal(size=(20, 3))
TEXTS = ["red apple"] * 10 + ["steel knife"] * 10
FRAME = pd.DataFrame(NUMBERS, columns=["length", "width", "height"])
CLUSTERS = [0] * 10 + [1] * 10


def cluster(data, **options):
    return cs.cluster(data, 2, method="k-means", assess=False, **options)


@pytest.mark.parametrize(
    ("data", "names"),
    [
        ([NUMBERS, NUMBERS[:, :2]], ("view0", "view1")),
        ((NUMBERS, NUMBERS), ("view0", "view1")),
        ([FRAME, NUMBERS], ("view0", "view1")),
        ([sp.csr_array(NUMBERS), FRAME], ("view0", "view1")),
        ([NUMBERS, TEXTS], ("view0", "view1")),
        ([NUMBERS, pd.Series(TEXTS)], ("view0", "view1")),
        ([("size", NUMBERS), ("words", TEXTS)], ("size", "words")),
        ([NUMBERS], ("view0",)),
        (NUMBERS.tolist(), ("data",)),
        (list(NUMBERS), ("data",)),
        ([tuple(row) for row in NUMBERS.tolist()], ("data",)),
        (NUMBERS[:, 0].tolist(), ("data",)),
        (TEXTS, ("data",)),
        (pd.Series(TEXTS), ("data",)),
        ({"a": NUMBERS.tolist(), "b": TEXTS}, ("a", "b")),
        (np.array(list(zip(NUMBERS[:, 0], TEXTS, strict=True)), dtype=[("x", float), ("t", "U20")]), ("data",)),
    ],
)
def test_list_of_matrices_is_a_list_of_views_and_one_of_rows_a_table(data, names):
    result = cluster(data)
    assert result.views.names == names
    assert result.predict(data).tolist() == result.labels.tolist()
    assert len(result.predict_frame(data)["cluster"]) == len(result.frame["cluster"]) == 20
    assert cs.metrics.adjusted_rand_score(CLUSTERS, result.labels) == 1


def test_list_of_views_is_loaded_and_updated(tmp_path):
    data = [NUMBERS, TEXTS]
    result = cluster(data)
    loaded = cs.load_run(result.save(tmp_path / "run"), data)
    assert loaded.views.names == ("view0", "view1")
    assert loaded.update(data).labels.tolist() == result.labels.tolist()


@pytest.mark.parametrize("take", [cs.cluster, lambda data: cs.Consilience(2).fit({"data": data})])
def test_array_of_three_dimensions_becomes_views_or_flat_rows(take):
    with pytest.raises(ValueError, match=r"shape \(2, 20, 3\): make each part a view, {'a': X\[0\].*X\.reshape\(len"):
        take(np.stack([NUMBERS, NUMBERS]))


@pytest.mark.parametrize(
    "call",
    [
        lambda data: cs.select_n_clusters(data, range(2, 4)),
        lambda data: cs.assess(data, cs.Consilience(2)),
        lambda data: cs.Consilience(data).fit(NUMBERS),
        lambda data: cs.cluster(NUMBERS, data),
        lambda data: cs.cluster(NUMBERS, 2, outliers=data),
        lambda data: cs.cluster(NUMBERS, 2, random_state=data),
        lambda data: cs.cluster(NUMBERS, 2, namer=data),
    ],
)
@pytest.mark.parametrize(
    ("data", "described"),
    [
        (NUMBERS, r"ndarray of shape \(20, 3\)"),
        (FRAME, r"DataFrame of shape \(20, 3\)"),
        (cs.Views({"a": NUMBERS, "b": NUMBERS}), r"Views of shape \(20, 6\)"),
        (TEXTS * 50, r"list of 1,000 items"),
    ],
)
def test_messages_describe_data_by_its_size(call, data, described):
    with pytest.raises((TypeError, ValueError), match=described) as caught:
        call(data)
    assert len(str(caught.value)) < 250
