"""The sets of a made-up folder of .npz files, and the summary of a comparison."""

import sys

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks.modern import __main__ as program
from benchmarks.modern import collection
from benchmarks.modern.run import read_records
from benchmarks.modern.sets import prepare
from benchmarks.modern.tables import render_summary
from consilience.files import ViewContent

N_LARGE = collection.MAX_ENTITIES + 300
LEFT_OUT = N_LARGE - 2  # a row that is not in the sample


def write_set(path, labels, **views):
    parts = {"labels": np.asarray(labels, dtype=np.int32), "view_names": np.array(list(views))}
    for name, X in views.items():
        if sp.issparse(X):
            csr = {"data": X.data, "indices": X.indices.astype(np.uint16), "indptr": X.indptr, "shape": X.shape}
            parts |= {f"{name}__{part}": np.asarray(value) for part, value in csr.items()}
        else:
            parts[f"{name}__dense"] = X
    np.savez_compressed(path, **parts)


@pytest.fixture(scope="module")
def links():
    """Counts of which the first row is empty, and a column per entity."""
    X = sp.random_array((N_LARGE, N_LARGE), density=0.01, format="csr", rng=np.random.default_rng(0))
    X.data = np.ceil(3 * X.data)
    X.data[X.indptr[0] : X.indptr[1]] = 0
    X.eliminate_zeros()
    return X.astype(np.uint8)


@pytest.fixture(scope="module")
def folder(tmp_path_factory, links):
    path = tmp_path_factory.mktemp("data")
    rng = np.random.default_rng(0)
    small = np.arange(60) % 3
    centres = 6 * rng.normal(size=(3, 4))
    views = {name: (centres[small] + rng.normal(size=(60, 4))).astype(np.float32) for name in ("first", "second")}
    write_set(path / "mfeat.npz", small, **views)
    labels = np.arange(N_LARGE) == LEFT_OUT  # the second class is not in the sample
    write_set(path / "large.npz", labels, links=links, numbers=np.arange(2 * N_LARGE, dtype=np.uint16).reshape(-1, 2))
    write_set(path / "single.npz", small, first=views["first"])
    (path / "notes.txt").write_text("no data")
    return path


def test_files_with_two_views_are_sets_and_small_ones_read_whole(folder, monkeypatch):
    monkeypatch.setenv("CONSILIENCE_DATA", str(folder))
    sets = collection.find_sets()
    assert list(sets) == ["large", "mfeat"]
    views, labels = sets["mfeat"]()
    assert labels.tolist() == (np.arange(60) % 3).tolist()
    assert {name: (X.shape, X.dtype) for name, X in views.items()} == dict.fromkeys(
        ("first", "second"), ((60, 4), np.float64)
    )


def test_large_set_is_sampled_without_replacement(folder, links):
    views, labels = collection.find_sets(folder)["large"]()
    rows = np.sort(np.random.default_rng(0).choice(N_LARGE, collection.MAX_ENTITIES, replace=False))
    assert LEFT_OUT not in rows
    np.testing.assert_array_equal(views["numbers"][:, 0], 2 * rows)
    assert views["links"].shape == (collection.MAX_ENTITIES, N_LARGE)
    assert views["links"].dtype == np.float64
    assert (views["links"] != links[rows]).nnz == 0
    assert prepare(views, labels).n_clusters == 1
    X = links[:50]  # of which the first row is empty
    assert prepare({"inbound": X, "outbound": X}, np.arange(50)).target.tolist() == list(range(1, 50))


@pytest.mark.parametrize("kind", collection.USELESS)
def test_useless_view_is_added_with_a_fixed_seed(folder, kind):
    plain = collection.find_sets(folder)
    cases = collection.add_useless_views(plain)
    assert len(cases) == len(plain) * len(collection.USELESS)
    views, labels = cases[f"mfeat + {kind}"]()
    again, _ = cases[f"mfeat + {kind}"]()
    assert list(views) == ["first", "second", kind]
    assert len(labels) == 60
    np.testing.assert_array_equal(views[kind], again[kind])
    other, _ = cases[f"large + {kind}"]()
    assert not np.array_equal(other[kind][:60], views[kind])


def test_useless_views_are_what_they_are_called():
    rng = np.random.default_rng(0)
    noise = collection.draw_useless("noise", rng, 2_000, 4)
    assert noise.shape == (2_000, 20)
    assert abs(noise.mean()) < 0.02
    assert abs(noise.std() - 1) < 0.02
    years = collection.draw_useless("year", rng, 20_000, 4)
    assert np.unique(years).tolist() == list(range(1950, 2021))
    blobs = collection.draw_useless("blobs", rng, 400, 4)
    assert blobs.shape == (400, 10)
    distances = np.linalg.norm(blobs[:, None] - blobs[None], axis=2)
    assert (distances < 9).sum(axis=1).tolist() == [100] * 400  # four clusters of a hundred, far apart
    with pytest.raises(ValueError, match="no kind of useless view: colour"):
        collection.draw_useless("colour", rng, 4, 2)
    names = [f"{name} + {kind}" for name in [*collection.USELESS_SETS, "cora"] for kind in collection.USELESS]
    chosen = collection.choose_useless_cases([*collection.USELESS_SETS, *names])
    assert len(chosen) == 18  # of six sets
    assert not any(name.startswith("cora") for name in chosen)


def test_other_parts_of_a_set_are_disjoint_or_whole(folder):
    assert list(collection.find_parts(collection.WHOLE, folder)) == ["large, whole"]
    assert not collection.find_parts(collection.REST, folder)  # fewer entities are left than the sample has
    views, labels, links = collection.find_parts(collection.WHOLE, folder)["large, whole"]()
    assert views["numbers"].shape == (N_LARGE, 2)
    assert labels.sum() == 1
    assert links.ids.tolist() == [str(i) for i in range(N_LARGE)]
    sample, rest = (collection.sample_rows(3_000, part) for part in (collection.SAMPLE, collection.REST))
    assert len(rest) == len(sample) == collection.MAX_ENTITIES
    assert not np.intersect1d(sample, rest).size
    assert (np.diff(rest) > 0).all()


@pytest.fixture
def linked(tmp_path):
    """A file with two views of words and links: 0 links to 1, and 2 to 0; the columns of links are the entities."""
    outbound = sp.csr_array(([1, 1], ([0, 2], [1, 0])), shape=(4, 4))
    words = sp.csr_array(np.eye(4, dtype=np.uint8))
    write_set(tmp_path / "linked.npz", [0, 0, 1, 1], words=words, inbound=sp.csr_array(outbound.T), outbound=outbound)
    return tmp_path / "linked.npz"


def test_matrices_of_links_are_read_as_a_list(linked, folder):
    views, labels, links = collection.load_with_links(linked)
    assert list(views) == ["words", "inbound", "outbound"]
    assert links.views == ("inbound", "outbound")
    assert links.ids.tolist() == ["0", "1", "2", "3"]
    assert list(zip(links.sources, links.targets, strict=True)) == [("0", "1"), ("2", "0")]
    assert collection.load_with_links(folder / "mfeat.npz")[2] is None
    prepared = prepare(views, labels, links)
    contents = [ViewContent(name, "", "counts", (X, None), 4, None) for name, X in prepared.counts.items()]
    words, listed = prepared.links.replace_matrices(contents)
    assert (words.name, words.ids.tolist()) == ("words", ["0", "1", "2", "3"])
    assert (listed.kind, listed.n_rows) == ("links", 2)


def test_linked_pages_are_named_by_the_file(tmp_path):
    """Columns of links may be pages that are no entities."""
    inbound = sp.csr_array(np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0]]))
    write_set(tmp_path / "named.npz", [0, 1, 1], words=sp.csr_array(np.eye(3)), inbound=inbound)
    with np.load(tmp_path / "named.npz") as file:
        content = dict(file)
    names = {"sample_ids": ["a", "b", "a"], "inbound__features": ["b", "c", "d"]}
    content |= {key: np.frombuffer("\n".join(values).encode(), dtype=np.uint8) for key, values in names.items()}
    np.savez_compressed(tmp_path / "named.npz", **content)
    links = collection.load_with_links(tmp_path / "named.npz")[2]
    assert links.ids.tolist() == ["a", "b", "a#2"]  # ids that occur again are made different
    assert list(zip(links.sources, links.targets, strict=True)) == [("b", "b"), ("c", "a#2"), ("d", "a")]


def start(monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["modern", *arguments])
    program.main()


def test_program_runs_the_collection(folder, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("CONSILIENCE_DATA", str(folder))
    options = ["--methods", "MultiViewKMeans", "--seeds", "1"]
    start(
        monkeypatch, "--out", str(tmp_path), "--collection", "--useless", "--sets", "mfeat + noise", "mfeat", *options
    )
    records = [record for record in read_records(tmp_path / "records.jsonl") if "nmi" in record]
    assert [record["set"] for record in records] == ["mfeat", "mfeat + noise"]
    assert records[0]["nmi"] > 0.9
    shown = capsys.readouterr().out
    assert f"| MultiViewKMeans | {records[0]['nmi']:.3f} | {records[0]['ari']:.3f} | 1.0 | 1 of 1 |" in shown
    text = shown[shown.index("# All tables") :].strip()
    assert "## Summary with a useless view" in text
    assert (tmp_path / "tables.md").read_text().startswith(text)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--collection", "--sets", "single"], "no such set: single; there are large, mfeat, large + noise"),
        (["--sets", "mfeat"], "no such set: mfeat; there are BBC sport"),
        (["--against", "nothing"], "--against nothing is none of the methods"),
    ],
)
def test_program_refuses_unknown_names(folder, tmp_path, monkeypatch, capsys, arguments, message):
    monkeypatch.setenv("CONSILIENCE_DATA", str(folder))
    with pytest.raises(SystemExit, match="2"):
        start(monkeypatch, "--out", str(tmp_path), *arguments)
    assert message in capsys.readouterr().err


def test_program_needs_a_folder_for_the_collection_alone(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("CONSILIENCE_DATA", raising=False)
    start(monkeypatch, "--out", str(tmp_path), "--tables-only")
    with pytest.raises(SystemExit, match="2"):
        start(monkeypatch, "--out", str(tmp_path), "--collection")
    assert "set the environment variable CONSILIENCE_DATA" in capsys.readouterr().err


def fit(line, data, nmi, seed=0):
    scores = {"nmi": nmi, "ari": nmi / 2, "cpu": 1.0, "mib": 10.0, "n_found": 3}
    return {"method": line, "line": line, "set": data, "seed": seed, **scores}


RECORDS = [
    fit("ours", "a", 0.8),
    fit("ours", "a", 0.6, seed=1),
    fit("ours", "b", 0.2),
    fit("ours", "elsewhere", 1.0),
    fit("other", "a", 0.5),
    fit("other", "b", 0.1),
    fit("partly", "a", 0.9),
    {"method": "partly", "set": "b", "failed": "no result within 5 s"},
    fit("unwanted", "a", 1.0),
]


def test_summary_has_means_ranks_wins_and_scores_per_set():
    lines = render_summary(RECORDS, ["ours", "other", "partly"], ["b", "a", "never run"]).splitlines()
    assert lines[0] == (
        "| method | mean NMI | mean ARI | mean rank | sets | better : worse than ours | "
        "mean NMI of ours on the same sets |"
    )
    assert lines[2:5] == [
        "| ours | 0.450 | 0.225 | 1.5 | 2 of 2 |  | 0.450 |",
        "| partly | 0.900 | 0.450 | 2.0 | 1 of 2 | 1 : 0 | 0.700 |",  # places 1 and 3: a failure comes last
        "| other | 0.300 | 0.150 | 2.5 | 2 of 2 | 0 : 2 | 0.450 |",
    ]
    assert lines[8] == "| method | b | a |"
    text = render_summary(RECORDS, ["ours", "other", "partly"], ["b"], against="other")
    assert "better : worse than other" in text
    assert "| ours | 0.200 | 0.100 | 1.0 | 1 of 1 | 1 : 0 | 0.100 |" in text
    assert "partly" not in text
    assert render_summary(RECORDS, ["ours"], ["never run"]) == "No results.\n"
    assert lines[10:] == ["| ours | .20 | .70 ±.14 |", "| partly |  | .90 |", "| other | .10 | .50 |"]
