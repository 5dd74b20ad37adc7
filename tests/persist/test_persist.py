"""Models are restored from files exactly; any other content of a file is refused and never run."""

import contextlib
import functools
import hashlib
import io
import json
import pickle
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import array_api_strict
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays, from_dtype
from sklearn.cluster import KMeans
from sklearn.preprocessing import StandardScaler

import consilience as cs
import fitted_models
from consilience import baselines
from consilience._saving import SAVED_CLASSES, SAVED_REFERENCES
from consilience.persist import check_savable, load, refer_as, save, save_as
from consilience.persist.archive import write_archive
from consilience.persist.decode import DECODERS
from equality import is_identical
from fitted_models import MODES, apply_model, fit_mode, make_views
from waiting import HANG_LIMIT

OTHER_PROCESS = """
import importlib, json, pkgutil, sys
import consilience, consilience.persist
from consilience._saving import SAVED_CLASSES, SAVED_REFERENCES
known = {*SAVED_CLASSES.by_name, *SAVED_REFERENCES.by_name}
folder, support, *optional = sys.argv[1:]
sys.path.insert(0, support)
from pathlib import Path
from fitted_models import apply_model
from consilience.persist import load, save
for path in sorted(Path(folder).glob("*.model")):
    save(apply_model(load(path), load(path.with_suffix(".data"))), path.with_suffix(".results"))
for module in pkgutil.walk_packages(consilience.__path__, "consilience."):
    if module.name != "consilience.__main__":
        try:
            importlib.import_module(module.name)
        except ModuleNotFoundError as error:
            if error.name.partition(".")[0] not in optional:
                raise
declared = {**SAVED_CLASSES.by_name, **SAVED_REFERENCES.by_name}
packages = {declaration.declared.__module__.partition(".")[0] for declaration in declared.values()}
print(json.dumps({"unknown": sorted(set(declared) - known), "packages": sorted(packages)}))
"""
RELAXED = settings(max_examples=30, suppress_health_check=list(HealthCheck))


def save_and_load(value, folder):
    save(value, folder / "again.zip", overwrite=True)
    return load(folder / "again.zip")


@pytest.fixture(scope="module")
def saved_models(tmp_path_factory):
    """Save a model in every mode; apply each to new data in another process, and list the names declared there."""
    folder = tmp_path_factory.mktemp("models")
    models = {}
    for number, mode in enumerate(MODES):
        model, X = models[mode] = fit_mode(mode)
        save(model, folder / f"{number}.model")
        save(X, folder / f"{number}.data")
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
    optional = project["tool"]["importlinter"]["contracts"][0]["forbidden_modules"]
    support = str(Path(fitted_models.__file__).parent)
    command = [sys.executable, "-W", "ignore", "-c", OTHER_PROCESS, str(folder), support, *optional]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=HANG_LIMIT)
    return folder, models, json.loads(done.stdout)


@pytest.mark.xdist_group("saved models")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_model_is_restored_exactly_and_gives_same_results_in_new_process(saved_models, tmp_path, mode):
    folder, models, _ = saved_models
    model, X = models[mode]
    number = list(MODES).index(mode)
    assert is_identical(load(folder / f"{number}.results"), apply_model(model, X))
    before = dict(model.__dict__)
    save(model, tmp_path / "model.zip")
    assert model.__dict__.keys() == before.keys()
    assert all(model.__dict__[name] is value for name, value in before.items())
    loaded = load(tmp_path / "model.zip")
    assert is_identical(loaded, model)
    assert is_identical(loaded.get_params(), model.get_params())
    save(loaded, tmp_path / "again.zip")
    assert (tmp_path / "again.zip").read_bytes() == (tmp_path / "model.zip").read_bytes()


def test_every_estimator_has_a_mode():
    tested = {type(model) for _, model in MODES.values()}
    public = [getattr(package, name) for package in (cs, baselines) for name in package.__all__]
    assert {cls for cls in public if hasattr(cls, "fit")} == tested


def test_random_generator_is_saved_as_none_and_memmap_as_array(tmp_path):
    X = make_views("dense")
    for random in (np.random.default_rng(0), np.random.RandomState(0)):
        model = cs.CoTrainedSpectral(3, n_init=1, random_state=random).fit(X)
        loaded = save_and_load(model, tmp_path)
        assert model.random_state is random
        assert loaded.random_state is None
        assert np.array_equal(loaded.predict(X), model.labels_)
    on_disk = np.memmap(tmp_path / "numbers", np.float32, "w+", shape=(3, 2))
    on_disk[:] = 7
    assert is_identical(save_and_load({"a": on_disk}, tmp_path)["a"], np.full((3, 2), 7, np.float32))


def test_feature_names_and_frames_are_restored(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(np.random.default_rng(0).random((20, 3)), index=list("abcdefghijklmnopqrst"))
    frame.columns = ["a", "b", "ü"]
    model = cs.MultiViewKMeans(2, random_state=0).fit(frame)
    loaded = save_and_load({"model": model, "views": cs.Views({"one": frame})}, tmp_path)
    assert loaded["model"].feature_names_in_.tolist() == ["a", "b", "ü"]
    assert np.array_equal(loaded["model"].predict(frame), model.labels_)
    assert loaded["views"].ids.tolist() == list(frame.index)
    assert not loaded["views"].present.flags.writeable


@pytest.mark.quick
def test_tree_of_all_kinds_of_values_is_restored(tmp_path):
    shared = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    texts = [np.array(["a", "bc"]), np.array([1, "x", None], object)]
    formats = (sp.csr_array, sp.csc_array, sp.coo_array, sp.dia_array, sp.csr_matrix)
    tree = {
        "estimator": fit_mode("k-means")[0],
        "unfitted": cs.CoEM(4, families={"a": cs.families.Multinomial(smoothing=0.5)}, init="k-means++"),
        "settings": {"names": ["a", None], 3: (1, 2.5), (1, "x"): float("nan"), "inf": [np.inf, -np.inf, -0.0]},
        "numbers": [np.float32(0.1), np.int8(-3), np.bool_(True), np.complex64(1j), np.datetime64("2020", "D")],
        "text": np.str_("é"),
        "arrays": [shared, shared, shared[:, ::2], np.zeros((0, 3)), np.array(5), *texts],
        "big": np.arange(3, dtype=">i4"),
        "sparse": [kind(np.eye(3)) for kind in formats],
        "types": [np.dtype("f4"), slice(1, None, 2)],
        "constraints": [cs.Constraints([("ann", "bob")]), cs.Constraints([(0, 1, 0.5)], by="row")],
        "table": cs.Table.from_rows([{"a": 1, "b": "x"}]),
        "views": make_views("missing")[3:9],
    }
    loaded = save_and_load(tree, tmp_path)
    assert is_identical(loaded, tree)
    assert repr(loaded["unfitted"]) == repr(tree["unfitted"])
    save(tree, tmp_path / "equal.zip")
    assert (tmp_path / "equal.zip").read_bytes() == (tmp_path / "again.zip").read_bytes()
    assert loaded["arrays"][0] is loaded["arrays"][1]
    assert loaded["arrays"][0].flags.f_contiguous
    assert loaded["arrays"][0].flags.writeable


plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(["<f4", "<i2", "?", "<U3", "<c8", "<M8[s]"]).flatmap(
        lambda dtype: arrays(dtype, st.tuples(st.integers(0, 3), st.integers(0, 2))) | from_dtype(np.dtype(dtype))
    ),
    lambda values: (
        st.lists(values)
        | st.tuples(values, values)
        | st.dictionaries(st.text() | st.integers() | st.tuples(st.integers(), st.text()), values)
    ),
    max_leaves=12,
)


@pytest.mark.quick
@RELAXED
@given(value=plain)
@example(value=np.str_(""))
@example(value={"tuple": [1], "object": {"class": "x"}})
@example(value=["\ud800", 10**400])
def test_plain_values_are_restored(tmp_path, value):
    assert is_identical(save_and_load(value, tmp_path), value)


def function(x):
    return x


class Undeclared(cs.MultiViewKMeans):
    """A class without a declared name."""


REFUSED = [
    (
        lambda: cs.PerView(StandardScaler()).fit(make_views("dense")),
        "attribute transformer: a StandardScaler of sklearn cannot be saved: .* create it again after loading",
    ),
    (
        lambda: {"transformers_": {"text": StandardScaler()}},
        "attribute transformers_.text: a StandardScaler of sklearn",
    ),
    (lambda: KMeans(3), "^a KMeans of sklearn cannot be saved: files hold objects of consilience"),
    (
        lambda: {"a": [function]},
        r"attribute a\[0\]: the function function .*, because a file holds no code: use a name",
    ),
    (lambda: [functools.partial(function, 1)], r"attribute \[0\]: the function function cannot"),
    (
        lambda: [functools.partial(SAVED_REFERENCES.by_name["join-neighbors"].declared, X=1)],
        r"attribute \[0\]: the function \w+ cannot",
    ),
    (lambda: [cs.CoEM().fit], r"attribute \[0\]: the function CoEM.fit cannot"),
    (lambda: [cs.CoEM], r"attribute \[0\]: the function CoEM cannot"),
    (lambda: Undeclared(2), "^a Undeclared of .* cannot be saved"),
    (
        lambda: cs.MultiViewKMeans(init={"a": array_api_strict.ones((2, 2))}),
        "attribute init.a: an array of array_api_strict cannot be saved: fit on numpy arrays",
    ),
    (lambda: {"a": {1}}, "attribute a: a set of builtins cannot be saved"),
    (lambda: [b"x"], "a bytes of builtins cannot be saved"),
    (lambda: {"random_state": np.random.default_rng()}, "a Generator of numpy cannot be saved"),
    (lambda: {"a": np.ma.ones(3)}, "attribute a: "),
    (lambda: {"a": np.zeros(2, "i4,f8")}, "attribute a: an array of .* cannot be saved: make it numbers or text"),
    (lambda: {"a": np.zeros(2, "i4,f8")[0]}, "attribute a: a void cannot be saved"),
    (lambda: {"a": np.dtype(object)}, "attribute a: the dtype object cannot be saved"),
    (lambda: {"a": sp.lil_array((2, 2))}, "attribute a: a lil_array of float64 cannot be saved: make it a csr"),
]


@pytest.mark.quick
def test_unsavable_values_are_refused_with_their_path(tmp_path):
    for make, message in REFUSED:
        with pytest.raises(TypeError, match=message):
            save(make(), tmp_path / "model.zip")
    cycle, deep = [], []
    cycle.append({"back": cycle})
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(ValueError, match=r"attribute \[0\].back: a list that contains itself .*: remove the cycle"):
        save(cycle, tmp_path / "model.zip")
    with pytest.raises(ValueError, match="nested too deeply: make it flatter"):
        save(deep, tmp_path / "model.zip")
    assert not list(tmp_path.iterdir())


def test_existing_file_is_overwritten_only_on_request_and_a_failed_save_changes_none(tmp_path, monkeypatch):
    path = tmp_path / "model.zip"
    save(1, path)
    with pytest.raises(FileExistsError, match="already exists: choose another name, or pass overwrite=True"):
        save(2, path)
    assert load(path) == 1
    save(2, str(path), overwrite=True)
    assert load(str(path)) == 2

    def raise_full(*_, **__):
        raise OSError("no space left")

    monkeypatch.setattr(np.lib.format, "write_array", raise_full)
    for name in ("model.zip", "new.zip"):
        with pytest.raises(OSError, match="no space left"):
            save(np.ones(3), tmp_path / name, overwrite=True)
    assert load(path) == 2
    assert [file.name for file in tmp_path.iterdir()] == ["model.zip"]


def test_changed_bytes_are_detected(tmp_path):
    path = tmp_path / "model.zip"
    model = cs.MultiViewKMeans(2, n_init=1, random_state=0).fit({"a": [[1.0], [1.5], [9.0]]})
    tree = {"model": model, "nan": float("nan"), "sparse": sp.csr_array(np.eye(2))}
    save(tree, path)
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    positions = {*rng.choice(len(whole), 120, replace=False).tolist(), *range(30), *range(len(whole) - 120, len(whole))}
    refused = 0
    for position in sorted(positions):
        for flip in (1, 0xFF):
            path.write_bytes(whole[:position] + bytes([whole[position] ^ flip]) + whole[position + 1 :])
            try:
                loaded = load(path)
            except (ValueError, OSError):
                refused += 1
            else:
                assert is_identical(loaded, tree), position
    assert refused > 0.7 * len(positions)  # other bytes are dates and similar
    for length in (2, 10, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(ValueError, match=r"model\.zip is damaged or was changed: .*\. Copy it again"):
            load(path)


def test_other_files_are_refused(tmp_path):
    path = tmp_path / "model.zip"
    with pytest.raises(FileNotFoundError, match="No such file"):
        load(path)
    pickled = "looks like a pickle, which runs code when it is loaded, so it was not loaded"
    no_model = r"is not a model file: give a file written by consilience.save"
    contents = dict.fromkeys((pickle.dumps(cs.CoEM(2), protocol) for protocol in (2, 5)), pickled)
    contents |= dict.fromkeys((b"", b"name,score\n", pickle.dumps([1], 0)), no_model)
    for content, message in contents.items():
        path.write_bytes(content)
        with pytest.raises(ValueError, match=message):
            load(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.npy", ONES)
    with pytest.raises(ValueError, match=r"is a zip file without model.json: give a file written by"):
        load(path)


def forge(folder, content, members=(), compression=zipfile.ZIP_STORED, files=None):
    """Write a file with valid digests and forged content."""
    path = folder / "forged.zip"
    text = json.dumps({"format": "consilience model", "version": 2, "consilience": "9.9", "arrays": [], **content})
    digest = hashlib.sha256(text.encode()).hexdigest()
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, data in {**dict(members), "model.json": text, "model.json.sha256": digest, **(files or {})}.items():
            archive.writestr(name, data)
    return path


def write_npy(array, allow_pickle=False):
    file = io.BytesIO()
    np.save(file, array, allow_pickle=allow_pickle)
    return file.getvalue()


def describe_array(data, shape, dtype="<f8", fortran=False):
    return {"dtype": dtype, "shape": shape, "fortran": fortran, "sha256": hashlib.sha256(data).hexdigest()}


def make_object(name, version=1, **attributes):
    return {"tree": {"object": {"class": name, "version": version, "attributes": attributes}}}


def make_tuple(name, *items):
    return {"tree": {"named tuple": {"class": name, "version": 1, "items": list(items)}}}


def make_function(tag, name, **more):
    return {"tree": {tag: {"name": name, "version": 1, **more}}}


ONES = write_npy(np.ones(3))
OBJECTS = write_npy(np.array([print], object), allow_pickle=True)
NO_TEXTS = write_npy(np.zeros(0, "<U1"))
HALF = {"arrays": [describe_array(ONES, [3])], "tree": {"array": 0}}
K_MEANS = dict.fromkeys(cs.MultiViewKMeans().get_params())
NO_VIEWS = {"blocks": {"dict": []}, "columns": {"dict": []}, "present": None, "ids": None, "rows": None}
FORGED = [
    ({"version": 3}, "has format 3, written by consilience 9.9; this is .*, which reads format 2: upgrade consilience"),
    ({"version": 10**400, "tree": 1}, "has format 10{19}, written by consilience 9.9; this is .*: upgrade consilience"),
    ({"version": 0, "tree": 1}, "has format 0, which consilience never wrote: save the model again"),
    ({"version": -1, "tree": 1}, "has format -1, which consilience never wrote"),
    ({"version": 1.0, "tree": 1}, "model.json does not describe a model"),
    ({"version": True, "tree": 1}, "model.json does not describe a model"),
    ({"version": "1", "tree": 1}, "model.json does not describe a model"),
    ({"format": "x"}, "model.json does not describe a model"),
    (make_object("os.system"), "forged.zip, written by .* 9.9, contains 'os.system', which .* does not know: upgrade"),
    (make_function("reference", "eval"), "contains 'eval', which .* does not know"),
    (make_function("partial", "os.system", arguments=["true"]), "contains 'os.system', which .* does not know"),
    (make_function("reference", "co-em"), "contains 'co-em', which .* does not know"),  # a class
    (make_object("co-em", version=2), "version 2 of 'co-em', but .* reads version 1: load it with the version that"),
    (make_object("co-em", version=0), "contains version 0 of 'co-em', but"),
    (make_object([]), "damaged or was changed"),
    (make_function("method", "kernel-against", of=3), "'kernel-against' is not a method of int"),
    ({"tree": {"eval": "1"}}, "'eval' is not a kind of value"),
    ({"tree": {"tuple": [], "dict": []}}, "'tuple' is not a kind of value"),
    ({"tree": {}}, "damaged or was changed"),
    ({}, "damaged or was changed: KeyError 'tree'"),
    (make_object("k-means", **K_MEANS, __class__=1), "MultiViewKMeans has no attribute '__class__'"),
    (make_object("k-means", **K_MEANS, predict=1), "no attribute 'predict' to set"),  # a method
    (make_object("kernel-matrix", shape=[1]), "no attribute 'shape' to set"),  # a property
    (make_object("k-means", **K_MEANS, _parameter_constraints=1), "no attribute '_parameter_constraints' to set"),
    (make_object("k-means", **K_MEANS, **{"a b": 1}), "no attribute 'a b' to set"),
    (make_object("k-means"), "MultiViewKMeans lacks its attribute init"),
    (make_object("affinity-nystroem"), "Nystroem lacks its attribute "),
    (make_object("constraints"), "Constraints lacks its attribute _by"),
    (make_object("constraint-links"), "damaged or was changed"),  # a tuple
    (make_tuple("co-em"), "CoEM does not have 0 items"),
    (make_tuple("constraint-links", 1), "does not have 1 items"),
    (make_object("views", **NO_VIEWS), "views need"),
    ({"tree": {"array": 0}}, "there is no array 0"),
    ({**HALF, "tree": {"array": -1}, "arrays": []}, "there is no array -1"),
    ({"tree": {"dict": [[[], 1]]}}, "damaged or was changed: TypeError unhashable"),
    ({"tree": {"objects": {"shape": [2, 2**40], "items": [1]}}}, "1 items do not fill an array"),
    ({"tree": {"dtype": "O"}}, "'O' is not a dtype of numbers or text"),
    ({"tree": {"dtype": "<i4,<f8"}}, "is not a dtype of numbers or text"),
    ({"tree": {"float": "__import__('os')"}}, "damaged or was changed: KeyError"),
    ({"tree": float("nan")}, "NaN is not valid JSON"),
]


@pytest.mark.quick
def test_forged_trees_are_refused(tmp_path):
    for content, message in FORGED:
        with pytest.raises(ValueError, match=message):
            load(forge(tmp_path, content))


def test_deeply_nested_json_is_refused(tmp_path):
    text = '{"format": "consilience model", "version": 2, "arrays": [], "tree": ' + "[" * 200_000
    digest = hashlib.sha256(text.encode()).hexdigest()
    path = forge(tmp_path, {}, files={"model.json": text, "model.json.sha256": digest})
    with pytest.raises(ValueError, match="damaged or was changed: RecursionError"):
        load(path)


MEMBERS = [
    (describe_array(ONES, [3]), write_npy(np.zeros(3)), "the content of arrays/0.npy does not match its digest"),
    (describe_array(ONES, [2**50]), ONES, "arrays/0.npy has 152 bytes, which does not match"),
    (describe_array(ONES, [2]), ONES, "arrays/0.npy has 152 bytes, which does not match"),
    (describe_array(ONES, [-3]), ONES, r"\[-3\] is not the shape of an array"),
    (describe_array(ONES, [1.5]), ONES, r"\[1.5\] is not the shape of an array"),
    (describe_array(OBJECTS, [1], "|O"), OBJECTS, r"'\|O' is not a dtype of numbers or text"),
    (describe_array(b"x" * 200, [3]), b"x" * 200, "arrays/0.npy has 200 bytes"),
    (describe_array(b"", [0]), b"", "damaged or was changed"),
    (describe_array(NO_TEXTS, [10**9], "<U0"), NO_TEXTS, "cells of <U. take no bytes"),
]


def test_forged_arrays_are_refused(tmp_path):
    tree = {"tree": {"array": 0}}
    valid = forge(tmp_path, {"arrays": [describe_array(ONES, [3])], **tree}, {"arrays/0.npy": ONES})
    assert is_identical(load(valid), np.ones(3))
    for node, data, message in MEMBERS:
        with pytest.raises(ValueError, match=message):
            load(forge(tmp_path, {"arrays": [node], **tree}, {"arrays/0.npy": data}))


def test_compressed_and_unexpected_members_are_refused(tmp_path):
    zeros = write_npy(np.zeros(1_000_000))
    bomb = {"arrays": [describe_array(zeros, [1_000_000])], "tree": {"array": 0}}
    with pytest.raises(ValueError, match="is compressed, which model files never are"):
        load(forge(tmp_path, bomb, {"arrays/0.npy": zeros}, zipfile.ZIP_DEFLATED))
    with pytest.raises(ValueError, match=r"contains '\.\./\.\./evil', which is not part of a model"):
        load(forge(tmp_path, {"tree": 1}, files={"../../evil": "x"}))
    with pytest.raises(ValueError, match=r"damaged or was changed: KeyError .*arrays/0\.npy"):
        load(forge(tmp_path, HALF))
    path = forge(tmp_path, {"tree": 1})
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("model.json", "{}")
    with pytest.raises(ValueError, match=r"contains 'model\.json' 2 times"):
        load(path)
    with pytest.raises(ValueError, match=r"the content of model\.json does not match its digest"):
        load(forge(tmp_path, {"tree": 1}, files={"model.json.sha256": "0" * 64}))


def test_overlapping_members_are_refused(tmp_path):
    path = forge(tmp_path, {"tree": 1}, {"arrays/0.npy": ONES * 50})
    whole = bytearray(path.read_bytes())
    entry = whole.index(b"PK\x01\x02", whole.index(b"PK\x01\x02") + 1)  # of model.json
    whole[entry + 20 : entry + 28] = (len(whole)).to_bytes(4, "little") * 2
    path.write_bytes(whole)
    with pytest.raises(ValueError, match="its members claim to be larger than the file"):
        load(path)


def test_sparse_rows_out_of_bounds_are_refused(tmp_path):
    path = tmp_path / "forged.zip"
    nodes = {name: {"array": i} for i, name in enumerate(("indptr", "indices", "data"))}
    starts = [[0, 1], [0, 1], [0, 9], [-4, 1], [0, 1, 0, 1], [], [0, 2]]
    columns = [[7], [-1], [0], [0], [0], [0], [0, 1]]  # of a matrix with one value and three columns
    for indptr, indices in zip(starts, columns, strict=True):
        parts = [np.array(indptr, np.int64), np.array(indices, np.int64), np.ones(1)]
        write_archive(path, make_object("sparse-rows", **nodes, n_columns=3)["tree"], parts)
        with pytest.raises(ValueError, match="damaged or was changed: sparse rows"):
            load(path)
        shape = [max(len(indptr) - 1, 0), 3]
        matrix = {"kind": "csr_array", "shape": shape, "parts": [{"array": i} for i in (2, 1, 0)]}
        write_archive(path, {"sparse": matrix}, parts)
        with pytest.raises(ValueError, match="damaged or was changed"):
            load(path)
    for parts in ([np.ones(2), np.zeros(1), np.ones(1)], [np.array([0, 1]), np.array([0]), np.array(["x"])]):
        write_archive(path, make_object("sparse-rows", **nodes, n_columns=3)["tree"], parts)
        with pytest.raises(ValueError, match="sparse rows need integer indices and numbers"):
            load(path)
    write_archive(path, make_object("sparse-rows", indptr=1, indices=2, data=3, n_columns=3)["tree"], [])
    with pytest.raises(ValueError, match="sparse rows need three arrays"):
        load(path)


def test_inconsistent_views_are_refused(tmp_path):
    path = tmp_path / "forged.zip"

    def write_views(block, columns, parts, present):
        state = {"blocks": {"dict": [["a", block]]}, "columns": {"dict": [["a", columns]]}, "ids": None, "rows": None}
        write_archive(path, make_object("views", **state, present={"array": present})["tree"], parts)

    for present in (1, 2):
        write_views({"array": 0}, None, [np.ones((3, 2)), np.ones((2, 1), bool), np.ones((3, 2), bool)], present)
        with pytest.raises(ValueError, match="damaged or was changed: views "):
            load(path)
    matrix = sp.csr_array((3, 10**10))
    parts = [matrix.data, matrix.indices, matrix.indptr, np.ones((3, 1), bool), np.array(["x", "y"])]
    sparse = {"kind": "csr_array", "shape": [3, 10**10], "parts": [{"array": i} for i in range(3)]}
    write_views({"sparse": sparse}, {"array": 4}, parts, 3)
    with pytest.raises(ValueError, match="view 'a' needs a name for each of its 10,000,000,000 columns"):
        load(path)


CLASS_NAMES, FUNCTION_NAMES = sorted(SAVED_CLASSES.by_name), sorted(SAVED_REFERENCES.by_name)
trees = st.recursive(
    st.none()
    | st.integers(-2, 3)
    | st.sampled_from([*CLASS_NAMES, *FUNCTION_NAMES, *DECODERS, "<f8", "nan", "csr_array", "_must"]),
    lambda nodes: (
        st.lists(nodes, max_size=4)
        | st.dictionaries(st.sampled_from([*DECODERS, "class", "name", "items", "shape", "kind"]), nodes, max_size=2)
        | st.builds(lambda tag, content: {tag: content}, st.sampled_from(list(DECODERS)), nodes)
        | st.builds(
            lambda name, attributes: make_object(name, **attributes)["tree"],
            st.sampled_from(CLASS_NAMES),
            st.dictionaries(st.sampled_from(["_must", "X", "join", "indptr", "predict", "__dict__"]), nodes),
        )
    ),
    max_leaves=10,
)


@RELAXED
@given(tree=trees)
def test_loading_any_tree_succeeds_or_raises_value_error(tmp_path, tree):
    path = tmp_path / "forged.zip"
    write_archive(path, tree, [np.arange(4), np.eye(2)])
    with contextlib.suppress(ValueError):
        load(path)


DECLARED_NAMES = """
    affinity-auto affinity-chi-squared affinity-cosine affinity-gaussian affinity-histogram-intersection
    affinity-landmarks affinity-linear affinity-nearest-neighbors affinity-nystroem affinity-polynomial
    affinity-precomputed agglomerative agreement-neighbor-rule agreement-ridge-rule agreement-space-model
    agreement-view-model assessment assessment-alternative cca-directions cca-k-means cca-kernel-components
    cca-linear-components cca-spectral check-similarities cluster-means co-em co-regularized-eigenvectors
    co-regularized-embedding co-regularized-spectral co-regularized-view co-trained-embedding co-trained-spectral
    concatenated-views consilience constrained-k-means constrained-view constraint-links constraints convex-mixture
    divergence-bernoulli divergence-cosine divergence-itakura-saito divergence-kernel divergence-kullback-leibler
    divergence-mahalanobis divergence-precomputed divergence-squared-euclidean embedding-rotation encoded-view
    encoder-categories encoder-counts encoder-links encoder-numbers encoder-similarities encoder-text
    encoder-weighting exemplar-reference exemplars family-bernoulli family-categorical family-gaussian
    family-gaussian-full family-gaussian-spherical family-gaussian-tied family-multinomial family-poisson
    family-von-mises-fisher geometry hierarchy join-neighbors joint-embedding k-means kernel-addition kernel-against
    kernel-cca kernel-gaussian kernel-gaussian-local kernel-matrix kernel-means kernel-points kernel-product
    kernel-squared-distances linear-cca low-rank-similarities measure-bernoulli measure-cosine measure-itakura-saito
    measure-kernel measure-kullback-leibler measure-mahalanobis measure-precomputed measure-squared-euclidean
    merged-views metric-diagonal metric-euclidean metric-full minimum-disagreement minimum-disagreement-embeddings
    minimum-disagreement-view missing-view-filler mpck-means nearest-center nearest-landmarks neighbor-graph
    pck-means per-view product-of-similarities refined-means refined-view-means selection similarity-geometry
    similarity-graph single-view sparse-rows spectral-features spectral-projected-view spectral-view
    spherical-k-means sum-of-similarities symmetric-kernel-matrix view-exemplars view-similarities views
"""


@pytest.mark.xdist_group("saved models")
def test_declared_names_do_not_change_and_loading_knows_all_of_them(saved_models):
    """Existing files contain these names. In a new process, because tests in this one declare classes of their own."""
    assert set(DECLARED_NAMES.split()) <= {*CLASS_NAMES, *FUNCTION_NAMES}
    assert saved_models[2] == {"unknown": [], "packages": ["consilience"]}


def test_declared_name_is_unique_and_only_declared_classes_can_be_saved():
    with pytest.raises(ValueError, match=r"'co-em' is already the name of .* in model files: choose another"):
        save_as("co-em")(Undeclared)
    with pytest.raises(ValueError, match=rf"'{FUNCTION_NAMES[0]}' is already the name of consilience"):
        refer_as(FUNCTION_NAMES[0])(function)
    with pytest.raises(TypeError, match=r"a Undeclared of .* cannot be saved: .* or declare a class of your own"):
        check_savable(Undeclared(2))
    check_savable(cs.CoEM(2))
    classes = [declaration.declared for declaration in SAVED_CLASSES.by_name.values()]
    assert all(isinstance(cls, type) and not issubclass(cls, type | BaseException) for cls in classes)


def test_old_version_of_class_is_upgraded(tmp_path):
    @save_as("test-point")
    class Point:
        def __init__(self, x):
            self.x = x

    path = tmp_path / "point.zip"
    save(Point(3), path)

    def upgrade(attributes, version):
        assert version == 1
        return {"left": attributes["x"]}

    save_as("test-point", version=2)(Point)
    with pytest.raises(ValueError, match=r"contains version 1 of 'test-point', but consilience .* reads version 2"):
        load(path)
    save_as("test-point", version=2, upgrade=upgrade)(Point)
    assert vars(load(path)) == {"left": 3}
    del SAVED_CLASSES.by_name["test-point"]


def test_file_of_version_0_1_is_refused():
    with pytest.raises(ValueError, match=r"by consilience 0.1.0, an earlier version .*: fit and save the model"):
        load(Path(__file__).parent / "data" / "model-0.1.zip")


def test_models_saved_before_new_options_still_load():
    """The file was written before `solver`, `gamma`, known classes and estimators as base were added."""
    saved = load(Path(__file__).parent / "data" / "models-0.2-options.zip")
    for name, model in saved["models"].items():
        assert np.array_equal(model.predict(saved["views"]), saved["labels"][name]), name
        model.set_params(**model.get_params()).fit(saved["views"])
        assert np.array_equal(model.predict(saved["views"]), saved["labels"][name]), name


def test_members_are_npy_files_and_shared_arrays_are_stored_once(tmp_path):
    X = np.random.default_rng(0).random((200, 50))
    save([X, X, {"a": X}, cs.Views({"a": X})], tmp_path / "model.npz")
    assert (tmp_path / "model.npz").stat().st_size < 1.2 * X.nbytes
    with np.load(tmp_path / "model.npz", allow_pickle=False) as members:
        assert np.array_equal(members["arrays/0"], X)
