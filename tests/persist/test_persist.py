"""Models come back from files as they were; whatever else a file holds is refused, and never run."""

import functools
import hashlib
import io
import json
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path

import array_api_strict
import numpy as np
import pytest
import scipy.sparse as sp
from consilience.persist.known import CALLED, KNOWN
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays, from_dtype
from sklearn.cluster import KMeans
from sklearn.preprocessing import StandardScaler

import consilience as cs
from consilience import affinities, baselines
from consilience.affinities import search
from consilience.persist import load, save
from consilience.persist.archive import write_archive
from consilience.persist.decode import TURNS
from equal import same
from fitted import MODES, answers, fitted, views_of
from waiting import HANG_LIMIT

ELSEWHERE = """
import sys
sys.path.insert(0, sys.argv[2])
from pathlib import Path
from fitted import answers
from consilience.persist import load, save
for path in sorted(Path(sys.argv[1]).glob("*.model")):
    save(answers(load(path), load(path.with_suffix(".data"))), path.with_suffix(".answers"))
"""
RELAXED = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


def again(value, folder):
    save(value, folder / "again.zip", overwrite=True)
    return load(folder / "again.zip")


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Every mode, saved, and asked about new data by another process."""
    folder = tmp_path_factory.mktemp("models")
    models = {}
    for place, mode in enumerate(MODES):
        model, X = models[mode] = fitted(mode)
        save(model, folder / f"{place}.model")
        save(X, folder / f"{place}.data")
    command = [sys.executable, "-W", "ignore", "-c", ELSEWHERE, str(folder), str(Path(__file__).parent)]
    subprocess.run(command, check=True, timeout=HANG_LIMIT)
    return folder, models


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_model_says_the_same_in_a_new_process(saved, mode):
    folder, models = saved
    model, X = models[mode]
    place = list(MODES).index(mode)
    assert same(load(folder / f"{place}.answers"), answers(model, X))


@pytest.mark.parametrize("mode", MODES)
def test_a_model_comes_back_as_it_was(saved, tmp_path, mode):
    model, _ = saved[1][mode]
    before = dict(model.__dict__)
    save(model, tmp_path / "model.zip")
    assert model.__dict__.keys() == before.keys()
    assert all(model.__dict__[name] is own for name, own in before.items())
    back = load(tmp_path / "model.zip")
    assert same(back, model)
    assert same(back.get_params(), model.get_params())
    save(back, tmp_path / "again.zip")
    assert (tmp_path / "again.zip").read_bytes() == (tmp_path / "model.zip").read_bytes()


def test_every_estimator_is_among_the_modes():
    made = {type(model) for _, model in MODES.values()}
    public = [getattr(package, name) for package in (cs, baselines) for name in package.__all__]
    assert {own for own in public if hasattr(own, "fit")} == made


def test_approximate_neighbours_need_no_index_to_predict(tmp_path, monkeypatch):
    monkeypatch.setitem(search.SEARCHES, True, search.find_nearest_rows)  # pynndescent compiles for half a minute
    X = views_of("dense")
    model = cs.CoTrainedSpectral(3, affinity=affinities.NearestNeighbors(8, approximate=True), random_state=0).fit(X)
    assert np.array_equal(again(model, tmp_path).predict(X), model.predict(X))


def test_an_estimator_that_is_not_fitted(tmp_path):
    model = cs.CoEM(4, families={"a": cs.families.Multinomial(smoothing=0.5)}, init="k-means++")
    assert same(again(model, tmp_path), model)
    assert repr(again(model, tmp_path)) == repr(model)


def test_a_generator_is_not_kept(tmp_path):
    X = views_of("dense")
    for random in (np.random.default_rng(0), np.random.RandomState(0)):
        model = cs.CoTrainedSpectral(3, n_init=2, random_state=random).fit(X)
        back = again(model, tmp_path)
        assert model.random_state is random
        assert back.random_state is None
        assert np.array_equal(back.predict(X), model.labels_)


def test_feature_names_and_frames(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        np.random.default_rng(0).random((20, 3)), columns=["a", "b", "ü"], index=[f"e{i}" for i in range(20)]
    )
    model = cs.MultiViewKMeans(2, random_state=0).fit(frame)
    back = again({"model": model, "views": cs.Views({"one": frame})}, tmp_path)
    assert back["model"].feature_names_in_.tolist() == ["a", "b", "ü"]
    assert np.array_equal(back["model"].predict(frame), model.labels_)
    assert back["views"].ids.tolist() == list(frame.index)
    assert not back["views"].present.flags.writeable


def test_an_array_on_disk(tmp_path):
    on_disk = np.memmap(tmp_path / "numbers", np.float32, "w+", shape=(3, 2))
    on_disk[:] = 7
    assert same(again({"a": on_disk}, tmp_path)["a"], np.full((3, 2), 7, np.float32))


def test_a_tree_of_many_things(tmp_path):
    shared = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    tree = {
        "estimator": fitted("k-means dense")[0],
        "settings": {
            "names": ["a", None],
            3: (1, 2.5),
            (1, "x"): float("nan"),
            "inf": [float("inf"), -float("inf"), -0.0],
        },
        "numbers": [
            np.float32(0.1),
            np.int8(-3),
            np.bool_(True),
            np.complex64(1j),
            np.str_("é"),
            np.datetime64("2020", "D"),
        ],
        "arrays": [
            shared,
            shared,
            shared[:, ::2],
            np.zeros((0, 3)),
            np.array(5),
            np.array(["a", "bc"]),
            np.array([1, "x", None], object),
        ],
        "big": np.arange(3, dtype=">i4"),
        "sparse": [kind(np.eye(3)) for kind in (sp.csr_array, sp.csc_array, sp.coo_array, sp.dia_array, sp.csr_matrix)],
        "types": [np.dtype("f4"), slice(1, None, 2)],
        "constraints": [cs.Constraints([("ann", "bob")]), cs.Constraints([(0, 1, 0.5)], by="row")],
        "table": cs.Table.from_rows([{"a": 1, "b": "x"}]),
        "views": views_of("missing")[3:9],
    }
    back = again(tree, tmp_path)
    assert same(back, tree)
    assert back["arrays"][0] is back["arrays"][1]
    assert back["arrays"][0].flags.f_contiguous
    assert back["arrays"][0].flags.writeable


plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(["<f4", "<i2", "?", "<U3", "<c8", "<M8[s]"]).flatmap(
        lambda dtype: arrays(dtype, st.tuples(st.integers(0, 3), st.integers(0, 2))) | from_dtype(np.dtype(dtype))
    ),
    lambda own: (
        st.lists(own)
        | st.tuples(own, own)
        | st.dictionaries(st.text() | st.integers() | st.tuples(st.integers(), st.text()), own)
    ),
    max_leaves=12,
)


@RELAXED
@given(value=plain)
@example(value=np.str_(""))
@example(value={"tuple": [1], "object": {"class": "x"}})
@example(value=["\ud800", 10**400])
def test_plain_values_come_back(tmp_path, value):
    assert same(again(value, tmp_path), value)


def function(x):
    return x


class Mine(cs.MultiViewKMeans):
    """A class that no file names."""


def circle():
    own = []
    own.append({"back": own})
    return own


def deep():
    own = []
    for _ in range(100_000):
        own = [own]
    return own


REFUSED = {
    "transformer": (
        lambda: cs.PerView(StandardScaler()).fit(views_of("dense")),
        r"attribute transformer: a StandardScaler of sklearn cannot be saved: .* make it again after loading",
    ),
    "in a dict": (
        lambda: {"transformers_": {"text": StandardScaler()}},
        "attribute transformers_.text: a StandardScaler of sklearn cannot be saved",
    ),
    "wrapped": (
        lambda: baselines.ConcatenatedViews(KMeans(3)),
        "attribute estimator: a KMeans of sklearn cannot be saved: files hold consilience's own objects",
    ),
    "itself": (lambda: KMeans(3), "^a KMeans of sklearn cannot be saved"),
    "function": (
        lambda: {"a": [function]},
        r"attribute a\[0\]: the function function cannot be saved, for a file holds no code: use a name",
    ),
    "partial": (lambda: [functools.partial(function, 1)], r"attribute \[0\]: the function function cannot"),
    "known function": (
        lambda: [functools.partial(CALLED["affinities.join"], X=1)],
        r"attribute \[0\]: the function join cannot",
    ),
    "method": (lambda: [cs.CoEM().fit], r"attribute \[0\]: the function CoEM.fit cannot"),
    "class": (lambda: [cs.CoEM], r"attribute \[0\]: the function CoEM cannot"),
    "subclass": (lambda: Mine(2), "^a Mine of .* cannot be saved"),
    "other arrays": (
        lambda: cs.MultiViewKMeans(init={"a": array_api_strict.ones((2, 2))}),
        "attribute init.a: an array of array_api_strict cannot be saved: fit on numpy arrays",
    ),
    "set": (lambda: {"a": {1}}, "attribute a: a set of builtins cannot be saved"),
    "bytes": (lambda: [b"x"], "a bytes of builtins cannot be saved"),
    "generator": (lambda: {"random_state": np.random.default_rng()}, "a Generator of numpy cannot be saved"),
    "masked": (lambda: {"a": np.ma.ones(3)}, "attribute a: "),
    "records": (
        lambda: {"a": np.zeros(2, "i4,f8")},
        "attribute a: an array of .* cannot be saved: make it numbers or text",
    ),
    "record": (lambda: {"a": np.zeros(2, "i4,f8")[0]}, "attribute a: a void cannot be saved"),
    "object type": (lambda: {"a": np.dtype(object)}, "attribute a: the type object cannot be saved"),
    "sparse": (
        lambda: {"a": sp.lil_array((2, 2))},
        "attribute a: a lil_array of float64 cannot be saved: make it a csr",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_saved_is_refused_by_name(tmp_path, case):
    make, message = REFUSED[case]
    with pytest.raises(TypeError, match=message):
        save(make(), tmp_path / "model.zip")
    assert not list(tmp_path.iterdir())


def test_circles_and_depths_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"attribute \[0\].back: a list that holds itself .*: break the circle"):
        save(circle(), tmp_path / "model.zip")
    with pytest.raises(ValueError, match="nested too deeply: make it flatter"):
        save(deep(), tmp_path / "model.zip")
    assert not list(tmp_path.iterdir())


def test_overwriting_is_on_purpose(tmp_path):
    path = tmp_path / "model.zip"
    save(1, path)
    with pytest.raises(FileExistsError, match="is there already: choose another name, or ask to write over it"):
        save(2, path)
    assert load(path) == 1
    save(2, str(path), overwrite=True)
    assert load(str(path)) == 2
    with pytest.raises(IsADirectoryError, match="is a folder: name a file"):
        save(1, tmp_path)
    with pytest.raises(FileNotFoundError, match="is no folder: make it first"):
        save(1, tmp_path / "no" / "model.zip")


def test_a_save_that_fails_midway_leaves_everything_as_it_was(tmp_path, monkeypatch):
    path = tmp_path / "model.zip"
    save("old", path)

    def full(*_, **__):
        raise OSError("no space left")

    monkeypatch.setattr(np.lib.format, "write_array", full)
    for name in ("model.zip", "new.zip"):
        with pytest.raises(OSError, match="no space left"):
            save(np.ones(3), tmp_path / name, overwrite=True)
    assert load(path) == "old"
    assert [own.name for own in tmp_path.iterdir()] == ["model.zip"]


def small():
    model = cs.MultiViewKMeans(2, n_init=1, random_state=0).fit({"a": [[1.0], [1.5], [9.0]]})
    return {"model": model, "nan": float("nan"), "sparse": sp.csr_array(np.eye(2))}


def test_no_changed_byte_goes_unnoticed(tmp_path):
    path = tmp_path / "model.zip"
    save(small(), path)
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    positions = {*rng.choice(len(whole), 400, replace=False).tolist(), *range(30), *range(len(whole) - 120, len(whole))}
    refused = 0
    for position in sorted(positions):
        for flip in (1, 0x80, 0xFF):
            path.write_bytes(whole[:position] + bytes([whole[position] ^ flip]) + whole[position + 1 :])
            try:
                back = load(path)
            except (ValueError, OSError):
                refused += 1
            else:
                assert same(back, small()), position
    assert refused > len(positions)  # the others are dates and the like


def test_a_file_cut_short_is_refused(tmp_path):
    path = tmp_path / "model.zip"
    save(small(), path)
    whole = path.read_bytes()
    for length in (2, 10, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(ValueError, match=r"model\.zip is damaged or was changed: .*\. Copy it again"):
            load(path)


def test_what_is_no_model_is_refused(tmp_path):
    path = tmp_path / "model.zip"
    with pytest.raises(FileNotFoundError, match="No such file"):
        load(path)
    for protocol in (2, 5):
        path.write_bytes(pickle.dumps(small(), protocol))
        with pytest.raises(ValueError, match="looks like a pickle, which runs code when it is loaded, so it is not"):
            load(path)
    for text in (b"", b"name,score\n", pickle.dumps([1], 0)):
        path.write_bytes(text)
        with pytest.raises(ValueError, match=r"is no file of consilience.persist.save: give one"):
            load(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.npy", ONES)
    with pytest.raises(ValueError, match=r"is a zip file without model.json: give one that consilience"):
        load(path)


def forged(folder, content, members=(), compression=zipfile.ZIP_STORED, files=None):
    """A file with sound digests, by somebody who knows the format."""
    path = folder / "forged.zip"
    text = json.dumps({"format": "consilience model", "version": 1, "consilience": "9.9", "arrays": [], **content})
    digest = hashlib.sha256(text.encode()).hexdigest()
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, data in {**dict(members), "model.json": text, "model.json.sha256": digest, **(files or {})}.items():
            archive.writestr(name, data)
    return path


def npy(array, allow_pickle=False):
    file = io.BytesIO()
    np.save(file, array, allow_pickle=allow_pickle)
    return file.getvalue()


def described(data, shape, dtype="<f8", fortran=False):
    return {"dtype": dtype, "shape": shape, "fortran": fortran, "sha256": hashlib.sha256(data).hexdigest()}


def one(name, **attributes):
    return {"tree": {"object": {"class": name, "attributes": attributes}}}


ONES = npy(np.ones(3))
OBJECTS = npy(np.array([print], object), allow_pickle=True)
HALF = {"arrays": [described(ONES, [3])], "tree": {"array": 0}}
K_MEANS = dict.fromkeys(cs.MultiViewKMeans().get_params())
FORGED = {
    "newer": (
        {"version": 2},
        r"has format 2, written by consilience 9.9; this is .*, which reads formats up to 1: upgrade consilience",
    ),
    "much newer": (
        {"version": 10**400, "tree": 1},
        r"has format 10{19}, written by consilience 9.9; this is .*: upgrade consilience",
    ),
    "version 0": ({"version": 0, "tree": 1}, r"has format 0, which consilience never wrote .*: save the model again"),
    "negative version": ({"version": -1, "tree": 1}, r"has format -1, which consilience never wrote"),
    "version that is no whole number": ({"version": 1.0, "tree": 1}, "model.json does not describe a model"),
    "version that is true": ({"version": True, "tree": 1}, "model.json does not describe a model"),
    "version that is a text": ({"version": "1", "tree": 1}, "model.json does not describe a model"),
    "another format": ({"format": "x"}, "model.json does not describe a model"),
    "unknown class": (
        one("os.system"),
        r"forged.zip, which consilience 9.9 has written, holds a 'os.system', which .* not know: .* or upgrade",
    ),
    "unknown function": ({"tree": {"called": "builtins.eval"}}, "calls 'builtins.eval', which .* does not know"),
    "unknown partial": (
        {"tree": {"partial": {"called": "os.system", "arguments": ["true"]}}},
        "calls 'os.system', which .* does not know",
    ),
    "class called": ({"tree": {"called": "cluster.CoEM"}}, "calls 'cluster.CoEM', which .* does not know"),
    "strange method": (
        {"tree": {"method": {"called": "backend.KernelMatrix.against", "of": 3}}},
        "'backend.KernelMatrix.against' is no method of a int",
    ),
    "unknown tag": ({"tree": {"eval": "1"}}, "'eval' is no kind of value"),
    "two tags": ({"tree": {"tuple": [], "dict": []}}, "'tuple' is no kind of value"),
    "no tag": ({"tree": {}}, "damaged or was changed"),
    "no tree": ({}, "damaged or was changed: KeyError 'tree'"),
    "dunder": (one("cluster.MultiViewKMeans", **K_MEANS, __class__=1), "MultiViewKMeans has no attribute '__class__'"),
    "hides a method": (one("cluster.MultiViewKMeans", **K_MEANS, predict=1), "no attribute 'predict' to set"),
    "hides a property": (one("backend.KernelMatrix", shape=[1]), "no attribute 'shape' to set"),
    "hides a class attribute": (
        one("cluster.MultiViewKMeans", **K_MEANS, _parameter_constraints=1),
        "no attribute '_parameter_constraints' to set",
    ),
    "no name": (one("cluster.MultiViewKMeans", **K_MEANS, **{"a b": 1}), "no attribute 'a b' to set"),
    "parameter lacking": (one("cluster.MultiViewKMeans"), "a MultiViewKMeans lacks its init"),
    "field lacking": (one("affinities.Nystroem"), "a Nystroem lacks its "),
    "slot lacking": (one("data.Constraints"), "a Constraints lacks its _by"),
    "tuple as object": (one("data.Links"), "damaged or was changed"),
    "object as tuple": (
        {"tree": {"named tuple": {"class": "cluster.CoEM", "items": []}}},
        "CoEM is not made of 0 items",
    ),
    "short tuple": ({"tree": {"named tuple": {"class": "data.Links", "items": [1]}}}, "a Links is not made of 1 items"),
    "views": (
        one("data.Views", blocks={"dict": []}, columns={"dict": []}, present=None, ids=None, rows=None),
        "views are",
    ),
    "no such array": ({"tree": {"array": 0}}, "there is no array 0"),
    "negative array": ({**HALF, "tree": {"array": -1}, "arrays": []}, "there is no array -1"),
    "list as key": ({"tree": {"dict": [[[], 1]]}}, "damaged or was changed: TypeError unhashable"),
    "objects": ({"tree": {"objects": {"shape": [2, 2**40], "items": [1]}}}, "1 things do not make an array"),
    "type": ({"tree": {"dtype": "O"}}, "'O' is no type of numbers or text"),
    "record type": ({"tree": {"dtype": "<i4,<f8"}}, "is no type of numbers or text"),
    "float": ({"tree": {"float": "__import__('os')"}}, "damaged or was changed: KeyError"),
    "constant": ({"tree": float("nan")}, "NaN is no JSON"),
}


@pytest.mark.parametrize("case", FORGED)
def test_forged_trees_are_refused(tmp_path, case):
    content, message = FORGED[case]
    with pytest.raises(ValueError, match=message):
        load(forged(tmp_path, content))


def test_nested_beyond_measure(tmp_path):
    path = tmp_path / "forged.zip"
    text = '{"format": "consilience model", "version": 1, "arrays": [], "tree": ' + "[" * 200_000
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("model.json", text)
        archive.writestr("model.json.sha256", hashlib.sha256(text.encode()).hexdigest())
    with pytest.raises(ValueError, match="damaged or was changed: RecursionError"):
        load(path)


MEMBERS = {
    "sound": (described(ONES, [3]), ONES, None),
    "changed": (described(ONES, [3]), npy(np.zeros(3)), r"arrays/0.npy is not what was written"),
    "larger than it is": (described(ONES, [2**50]), ONES, "arrays/0.npy holds 152 bytes, which is not what"),
    "smaller than it is": (described(ONES, [2]), ONES, "arrays/0.npy holds 152 bytes, which is not what"),
    "negative": (described(ONES, [-3]), ONES, r"\[-3\] is no shape of an array"),
    "half": (described(ONES, [1.5]), ONES, r"\[1.5\] is no shape of an array"),
    "pickled": (described(OBJECTS, [1], "|O"), OBJECTS, r"'\|O' is no type of numbers or text"),
    "no array": (described(b"x" * 200, [3]), b"x" * 200, "arrays/0.npy holds 200 bytes"),
    "empty": (described(b"", [0]), b"", "damaged or was changed"),
}


@pytest.mark.parametrize("case", MEMBERS)
def test_forged_arrays_are_refused(tmp_path, case):
    node, data, message = MEMBERS[case]
    path = forged(tmp_path, {"arrays": [node], "tree": {"array": 0}}, {"arrays/0.npy": data})
    if message is None:
        assert same(load(path), np.ones(3))
        return
    with pytest.raises(ValueError, match=message):
        load(path)


def test_bombs_and_stowaways_are_refused(tmp_path):
    zeros = npy(np.zeros(1_000_000))
    bomb = {"arrays": [described(zeros, [1_000_000])], "tree": {"array": 0}}
    with pytest.raises(ValueError, match="is compressed, which save never does"):
        load(forged(tmp_path, bomb, {"arrays/0.npy": zeros}, zipfile.ZIP_DEFLATED))
    with pytest.raises(ValueError, match=r"holds '\.\./\.\./evil', which is no part of a model"):
        load(forged(tmp_path, {"tree": 1}, files={"../../evil": "x"}))
    with pytest.raises(ValueError, match=r"damaged or was changed: KeyError .*arrays/0\.npy"):
        load(forged(tmp_path, HALF))
    path = forged(tmp_path, {"tree": 1})
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("model.json", "{}")
    with pytest.raises(ValueError, match=r"holds 'model\.json' 2 times"):
        load(path)
    path = forged(tmp_path, {"tree": 1}, files={"model.json.sha256": "0" * 64})
    with pytest.raises(ValueError, match=r"model\.json is not what was written"):
        load(path)


def test_members_that_overlap_are_refused(tmp_path):
    path = forged(tmp_path, {"tree": 1}, {"arrays/0.npy": ONES * 50})
    whole = bytearray(path.read_bytes())
    entry = whole.index(b"PK\x01\x02", whole.index(b"PK\x01\x02") + 1)  # of model.json
    whole[entry + 20 : entry + 28] = (len(whole)).to_bytes(4, "little") * 2
    path.write_bytes(whole)
    with pytest.raises(ValueError, match="its members claim to be larger than the file"):
        load(path)


ROWS = {
    "columns": ([0, 1], [7], [1.0], 3),
    "negative columns": ([0, 1], [-1], [1.0], 3),
    "ends": ([0, 9], [0], [1.0], 3),
    "starts": ([-4, 1], [0], [1.0], 3),
    "backwards": ([0, 1, 0, 1], [0], [1.0], 3),
    "nothing": ([], [0], [1.0], 3),
    "lengths": ([0, 2], [0, 1], [1.0], 3),
}


@pytest.mark.parametrize("case", ROWS)
def test_sparse_rows_that_point_outside_are_refused(tmp_path, case):
    indptr, indices, data, n_columns = ROWS[case]
    parts = [np.array(indptr, np.int64), np.array(indices, np.int64), np.array(data)]
    nodes = dict(zip(("indptr", "indices", "data"), ({"array": i} for i in range(3)), strict=True))
    path = tmp_path / "forged.zip"
    write_archive(path, one("backend.CSR", **nodes, n_columns=n_columns)["tree"], parts)
    with pytest.raises(ValueError, match="damaged or was changed: sparse rows"):
        load(path)
    shape = [max(len(indptr) - 1, 0), n_columns]
    matrix = {"sparse": {"kind": "csr_array", "shape": shape, "parts": [{"array": i} for i in (2, 1, 0)]}}
    path = tmp_path / "matrix.zip"
    write_archive(path, matrix, parts)
    with pytest.raises(ValueError, match="damaged or was changed"):
        load(path)


def test_sparse_rows_are_numbers(tmp_path):
    path = tmp_path / "forged.zip"
    for parts in ([np.ones(2), np.zeros(1), np.ones(1)], [np.array([0, 1]), np.array([0]), np.array(["x"])]):
        nodes = dict(zip(("indptr", "indices", "data"), ({"array": i} for i in range(3)), strict=True))
        write_archive(path, one("backend.CSR", **nodes, n_columns=3)["tree"], parts)
        with pytest.raises(ValueError, match="sparse rows have numbers at whole numbers"):
            load(path)
    write_archive(path, one("backend.CSR", indptr=1, indices=2, data=3, n_columns=3)["tree"], [])
    with pytest.raises(ValueError, match="sparse rows are three arrays"):
        load(path)


def test_views_that_do_not_fit_together_are_refused(tmp_path):
    path = tmp_path / "forged.zip"
    parts = [np.ones((3, 2)), np.ones((2, 1), bool), np.ones((3, 2), bool)]
    for present in (1, 2):
        state = {
            "blocks": {"dict": [["a", {"array": 0}]]},
            "columns": {"dict": [["a", None]]},
            "ids": None,
            "rows": None,
        }
        write_archive(path, one("data.Views", **state, present={"array": present})["tree"], parts)
        with pytest.raises(ValueError, match="damaged or was changed: views "):
            load(path)


trees = st.recursive(
    st.none() | st.integers(-2, 3) | st.sampled_from([*KNOWN, *CALLED, *TURNS, "<f8", "nan", "csr_array", "_must"]),
    lambda own: (
        st.lists(own, max_size=4)
        | st.dictionaries(st.sampled_from([*TURNS, "class", "called", "items", "shape", "kind"]), own, max_size=2)
        | st.builds(lambda tag, content: {tag: content}, st.sampled_from(list(TURNS)), own)
        | st.builds(
            lambda name, own: {"object": {"class": name, "attributes": own}},
            st.sampled_from(list(KNOWN)),
            st.dictionaries(
                st.sampled_from(["_must", "X", "join", "indptr", "predict", "n_clusters", "__dict__"]), own
            ),
        )
    ),
    max_leaves=10,
)


@RELAXED
@given(tree=trees)
def test_whatever_a_tree_says_loading_does_no_more_than_raise(tmp_path, tree):
    path = tmp_path / "forged.zip"
    write_archive(path, tree, [np.arange(4), np.eye(2)])
    assert isinstance(complaint(path), ValueError | None)


def complaint(path):
    """What loading a file raises, if it does."""
    try:
        load(path)
    except Exception as error:
        return error
    return None


def test_files_name_nothing_but_this_library():
    assert all(own.__module__.startswith("consilience.") for own in [*KNOWN.values(), *CALLED.values()])
    assert all(isinstance(own, type) and not issubclass(own, type | BaseException) for own in KNOWN.values())


NAMES_IN_FILES = """
    affinities.Auto affinities.Bell affinities.ChiSquared affinities.Cosine affinities.ExponentialChi
    affinities.Gaussian affinities.Graph affinities.HistogramIntersection affinities.Intersection
    affinities.Landmarks affinities.Linear affinities.LocalBell affinities.LowRank affinities.NearestNeighbors
    affinities.Nystroem affinities.Polynomial affinities.Power affinities.Precomputed affinities.Product
    affinities.Space affinities.SquaredDistances affinities.given affinities.join affinities.nearest_landmarks
    affinities.unit_rows algorithms.Diagonal algorithms.Exemplars algorithms.First algorithms.Full
    algorithms.Identity algorithms.Means algorithms.Projected algorithms.Refined algorithms.Rotation
    algorithms.Similarities algorithms.ViewExemplars algorithms.ViewMeans algorithms.mean_posterior
    algorithms.weighted_posterior assessment.Alternative assessment.Assessment backend.CSR backend.KernelMatrix
    backend.KernelMatrix.against backend.Points
    baselines.CCASpectral baselines.Canonical baselines.CoRegularizedSpectral baselines.ConcatenatedViews
    baselines.Connected baselines.CrossProduct baselines.Filler baselines.Joint baselines.Kernel
    baselines.KernelAddition baselines.KernelAnalysis baselines.KernelProduct baselines.Linear
    baselines.LinearAnalysis baselines.MergedViews baselines.MinimumDisagreement baselines.Normalised
    baselines.Placed baselines.Separate baselines.SingleView baselines.Sum baselines.Vectors cluster.Centres
    cluster.CoEM cluster.CoTrained cluster.CoTrainedSpectral cluster.ConvexMixture cluster.Fitted cluster.Known
    cluster.MPCKMeans cluster.MultiViewAgglomerative cluster.MultiViewConstrainedKMeans cluster.MultiViewKMeans
    cluster.MultiViewSphericalKMeans cluster.PCKMeans cluster.PerView cluster.Selection cluster.SpectralFeatures
    data.Constraints data.Links data.Views divergences.Angles divergences.Bernoulli divergences.Cosine
    divergences.EuclideanMeasure divergences.Given divergences.InnerProducts divergences.ItakuraSaito
    divergences.Kernel divergences.KullbackLeibler divergences.LogisticLoss divergences.Mahalanobis
    divergences.Precomputed divergences.Ratios divergences.RelativeEntropy divergences.SquaredEuclidean
    divergences.Whitened families.Bernoulli families.Categorical families.Gaussian families.GaussianFull
    families.GaussianSpherical families.GaussianTied families.Multinomial families.Poisson families.VonMisesFisher
"""


def test_names_in_files_stay():
    """Files that are out there have these names: when a class is renamed, `known` keeps the old name."""
    assert set(NAMES_IN_FILES.split()) <= {*KNOWN, *CALLED}


def test_the_same_model_is_the_same_file(tmp_path):
    for name in ("a", "b"):
        save(small(), tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_arrays_that_are_shared_are_stored_once(tmp_path):
    X = np.random.default_rng(0).random((200, 50))
    save([X, X, {"a": X}, cs.Views({"a": X})], tmp_path / "model.zip")
    assert (tmp_path / "model.zip").stat().st_size < 1.2 * X.nbytes


def test_members_are_ordinary_arrays(tmp_path):
    save({"X": np.eye(2)}, tmp_path / "model.npz")
    with np.load(tmp_path / "model.npz", allow_pickle=False) as members:
        assert np.array_equal(members["arrays/0"], np.eye(2))


def test_files_from_before_a_parameter_existed_are_read(tmp_path):
    views, _ = cs.datasets.make_gaussian_views(60, n_clusters=3, separation=8, random_state=0)
    model = cs.MultiViewConstrainedKMeans(3, view_order="given", random_state=0).fit(views)
    save(model, tmp_path / "model.zip")
    with zipfile.ZipFile(tmp_path / "model.zip") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    content = json.loads(members["model.json"])
    del content["tree"]["object"]["attributes"]["view_order"]
    members = {name: data for name, data in members.items() if not name.startswith("model.json")}
    old = load(forged(tmp_path, content, members))
    assert old.view_order == "given"
    assert np.array_equal(old.predict(views), model.predict(views))


@pytest.mark.parametrize(
    "estimator",
    [cs.Consilience(3, random_state=0), cs.baselines.SingleView(cs.MultiViewKMeans(3, random_state=0), "view0")],
)
def test_files_with_a_removed_attribute_are_read(tmp_path, estimator):
    views, _ = cs.datasets.make_gaussian_views(60, n_clusters=3, separation=8, random_state=0)
    model = estimator.fit(views)
    model.error_bound_ = 0.25
    path = tmp_path / "old.zip"
    save(model, path)
    with zipfile.ZipFile(path) as archive:
        assert json.loads(archive.read("model.json"))["tree"]["object"]["attributes"]["error_bound_"] == 0.25
    old = load(path)
    assert not hasattr(old, "error_bound_")
    assert np.array_equal(old.agreement_, model.agreement_)
    assert np.array_equal(old.predict(views), model.predict(views))
