"""Links as graphs: similarities of linked entities, and views averaged along links."""

import numpy as np
import pytest
import scipy.sparse as sp

import consilience as cs
from consilience.files import encode, fit_and_encode, join_contents
from consilience.files.kinds import ViewContent
from consilience.files.link_encoders import GraphEncoder, SmoothEncoder, average_rows, list_link_candidates

N = 14


def make_links(seed):
    """Directed links among 14 entities and 3 bridges, with repeated links, self-links and two entities without any."""
    rng = np.random.default_rng(seed)
    names = [f"e{i}" for i in range(N - 2)] + ["b0", "b1", "b2", "elsewhere"]
    sources, targets = (np.array(rng.choice(names, 40), dtype=object) for _ in range(2))
    outside = (sources == "elsewhere") | (targets == "elsewhere")
    sources[outside] = "nowhere"  # links between ids that no view has
    targets[outside] = "elsewhere"
    return sources, targets, rng.uniform(0.2, 3, 40)


IDS = np.array([f"e{i}" for i in range(N)], dtype=object)


def sum_weights(links, first, second):
    """Total weight of the links between two ids, in both directions."""
    pairs = zip(*links, strict=True)
    return sum(w for a, b, w in pairs if {a, b} == {first, second} and a != b)


def find_ends(links, ids):
    """Ids that the entities are linked with and that are no entities, and the mean weight of a linked pair."""
    bridges = {name for pair in zip(*links[:2], strict=True) if set(pair) & set(ids) for name in pair} - set(ids)
    pairs = [sum_weights(links, i, j) for i in ids for j in [*ids, *sorted(bridges)]]
    return sorted(bridges), np.mean([weight for weight in pairs if weight > 0])


def build_literal_graph(links, ids):
    """Similarities by loops over pairs of entities."""
    bridges, unit = find_ends(links, ids)
    n = len(ids)
    W = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if i == j:
                continue
            W[i, j] = sum_weights(links, ids[i], ids[j]) / unit
            for bridge in bridges:
                total = sum(sum_weights(links, name, bridge) for name in ids)
                W[i, j] += sum_weights(links, ids[i], bridge) * sum_weights(links, ids[j], bridge) / total / unit
    S = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if W[i].any() and W[j].any():
                S[i, j] = (W[i, j] + (i == j)) / np.sqrt((1 + W[i].sum()) * (1 + W[j].sum()))
    return S


def average(weighted):
    """Mean of the rows that are there and have a weight; None if there is none."""
    weighted = [(weight, row) for weight, row in weighted if weight > 0 and row is not None]
    return sum(weight * row for weight, row in weighted) / sum(weight for weight, _ in weighted) if weighted else None


def smooth_literally(links, ids, rows, hops, unit_length):
    """Means by loops over entities and their neighbors; a missing row is None."""
    bridges, unit = find_ends(links, ids)
    rows = list(rows)
    for _ in range(hops):
        nodes = dict(zip(ids, rows, strict=True))
        for bridge in bridges:
            nodes[bridge] = average([(sum_weights(links, i, bridge), nodes[i]) for i in ids])
        rows = [
            average([(1.0, nodes[i]), *((sum_weights(links, i, j) / unit, nodes[j]) for j in nodes if j != i)])
            for i in ids
        ]
    if unit_length:
        rows = [row if row is None else row / np.linalg.norm(row) for row in rows]
    return rows


def make_rows(seed):
    """Sparse rows of unit length; the fourth is empty."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0.1, 1, (N, 6)) * (rng.random((N, 6)) < 0.5)
    X[:, 0] += 0.1
    X[3] = 0
    return sp.csr_array(X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-300))


def smooth(links, ids, X, hops=1):
    """Fit the encoder and encode the rows that it was fitted to."""
    has_row = np.diff(X.indptr) > 0 if sp.issparse(X) else ~np.isnan(X).all(axis=1)
    data = links, ids, X, has_row
    encoder = SmoothEncoder(hops, "text", None).fit(data)
    return encoder, encoder.transform(data)


@pytest.mark.parametrize("seed", range(2))
def test_graph_is_that_of_loops_over_pairs(seed):
    links = make_links(seed)
    encoder = GraphEncoder().fit((links, IDS))
    similarities = encoder.transform((links, IDS))
    np.testing.assert_allclose(similarities.toarray(), build_literal_graph(links, IDS), atol=1e-12)
    assert abs(similarities - similarities.T).max() < 1e-12
    assert similarities.min() >= 0
    assert not encoder.present(similarities)[-2:].any()


@pytest.mark.parametrize(("seed", "hops"), [(0, 1), (1, 2), (2, 4)])
def test_smoothed_rows_are_means_by_loops(seed, hops):
    links, X = make_links(seed), make_rows(seed)
    rows = [row if row.any() else None for row in X.toarray()]
    expected = smooth_literally(links, IDS, rows, hops, unit_length=True)
    encoder, smoothed = smooth(links, IDS, X, hops)
    for row, literal in zip(smoothed.toarray(), expected, strict=True):
        np.testing.assert_allclose(row, 0 if literal is None else literal, atol=1e-6)
    assert encoder.present(smoothed).tolist() == [row is not None for row in expected]


def test_dense_rows_are_averaged_where_they_exist_and_keep_their_lengths():
    links, X = make_links(1), np.random.default_rng(0).normal(size=(N, 3))
    X[[3, N - 1]] = np.nan
    rows = [None if np.isnan(row).any() else row for row in X]
    expected = smooth_literally(links, IDS, rows, 2, unit_length=False)
    _, smoothed = smooth(links, IDS, X, 2)
    assert expected[3] is not None  # its neighbors have rows
    assert np.isnan(smoothed[N - 1]).all()  # neither a row nor a link
    np.testing.assert_array_equal(smoothed[N - 2], X[N - 2])  # no links
    np.testing.assert_allclose(smoothed[: N - 1], np.array(expected[: N - 1], dtype=float), atol=1e-6)


@pytest.mark.parametrize(("hops", "sparse"), [(1, False), (2, True)])
def test_new_entity_with_links_and_row_of_a_fitted_one_gets_its_row(hops, sparse):
    links, X = make_links(3), make_rows(3)
    X = X if sparse else np.where(X.toarray().any(axis=1, keepdims=True), X.toarray(), np.nan)
    encoder, smoothed = smooth(links, IDS, X, hops)
    twin = np.array(["twin"], dtype=object)
    for i in range(N):
        touches = ((links[0] == IDS[i]) | (links[1] == IDS[i])) & (links[0] != links[1])
        ends = [np.where(part == IDS[i], "twin", part)[touches] for part in links[:2]]
        has_row = np.array([i != 3])
        row = encoder.transform(((*ends, links[2][touches]), twin, X[[i]], has_row))
        expected = smoothed[[i]]
        if sparse:
            row, expected = row.toarray(), expected.toarray()
        np.testing.assert_allclose(row, expected, atol=1e-6)


def test_graph_of_new_entities_is_their_similarity_to_fitted_ones():
    links = make_links(4)
    encoder = GraphEncoder().fit((links, IDS))
    whole = encoder.transform((links, IDS)).toarray()
    np.testing.assert_allclose(encoder.transform((links, IDS[3:5])).toarray(), whole[3:5], atol=1e-12)
    for i in range(N - 2):
        as_new = (*(np.where(part == IDS[i], "new", part) for part in links[:2]), links[2])
        row = encoder.transform((as_new, np.array(["new"], dtype=object))).toarray()[0]
        others = (np.arange(N) != i) & (whole[i] > 0)
        ratio = row[others] / whole[i][others]
        assert ratio[0] > 0.5
        np.testing.assert_allclose(ratio, ratio[0])  # equal but for the degree, to which the fitted one may be added
        shares_bridge = any({"new"} < {a, b} and {a, b} & {"b0", "b1", "b2"} for a, b, _ in zip(*as_new, strict=True))
        assert (row[i] > 0) == shares_bridge
    unknown = (np.array(["x"], dtype=object), np.array(["y"], dtype=object), np.ones(1))
    assert not encoder.transform((unknown, np.array(["x"], dtype=object))).nnz


def test_new_entities_are_averaged_with_each_other():
    fitted = (np.array(["a"], dtype=object), np.array(["b"], dtype=object), np.ones(1))
    ids, X = np.array(["a", "b"], dtype=object), np.array([[1.0, 2.0], [3.0, 5.0]])
    encoder, _ = smooth(fitted, ids, X)
    new = (np.array(["x", "x", "z"], dtype=object), np.array(["y", "a", "z"], dtype=object), np.ones(3))
    new_ids = np.array(["x", "y", "z"], dtype=object)
    rows = encoder.transform((new, new_ids, np.array([[4.0, 8.0], [7.0, 0.0], [9.0, 9.0]]), np.ones(3, bool)))
    np.testing.assert_allclose(rows, [[(4 + 7 + 1) / 3, (8 + 0 + 2) / 3], [5.5, 4.0], [9.0, 9.0]])
    without_rows = encoder.transform((new, new_ids, None, None))
    np.testing.assert_allclose(without_rows[0], X[0])  # the only neighbor that has a row
    assert np.isnan(without_rows[1:]).all()


def test_largest_bridges_are_left_out_first(tune):
    ids = np.array([f"u{i}" for i in range(6)], dtype=object)
    links = (np.append(ids, ids[:2]), np.array(["hub"] * 6 + ["small"] * 2, dtype=object), np.ones(8))
    assert GraphEncoder().fit((links, ids)).transform((links, ids)).nnz == 36
    tune("files.link_encoders", max_pairs=2)  # 12 pairs: the small bridge makes 4, the hub 36
    graph = GraphEncoder().fit((links, ids)).transform((links, ids))
    assert graph.nnz == graph[:2, :2].nnz == 4


def test_sparse_means_keep_their_largest_entries(tune):
    rng = np.random.default_rng(0)
    weights, rows = sp.csr_array(rng.random((7, 5))), sp.csr_array(rng.random((5, 6)))
    whole, _ = average_rows(weights, rows, np.ones(5))
    tune("files.link_encoders", max_entries=2, chunk=3)
    cut = average_rows(weights, rows, np.ones(5))[0].toarray()
    for row, kept in zip(whole.toarray(), cut, strict=True):
        assert np.flatnonzero(kept).tolist() == sorted(np.argsort(-row)[:2].tolist())
        np.testing.assert_allclose(kept[kept > 0], row[kept > 0])


def build_contents(links, texts, numbers=None):
    sources, targets, weights = links
    ids = np.array(list(texts), dtype=object)
    contents = [
        ViewContent("text", "t.csv", "text", np.array(list(texts.values()), dtype=object), len(ids), ids),
        ViewContent("cites", "c.csv", "links", (sources, targets, weights), len(sources), None),
    ]
    if numbers is not None:
        contents.append(ViewContent("size", "s.csv", "numbers", (numbers, None), len(ids), ids))
    return contents


def make_papers(n=60, seed=0):
    """Texts of three topics; papers cite papers of their topic."""
    rng = np.random.default_rng(seed)
    topic = np.arange(n) % 3
    words = [[f"{'abc'[t]}word{i}" for i in range(12)] + [f"common{i}" for i in range(12)] for t in topic]
    texts = {f"p{i}": " ".join(rng.choice(words[i], 12)) for i in range(n)}
    cited = [(i, j) for i in range(n) for j in rng.choice(np.flatnonzero(topic == topic[i]), 3) if i != j]
    links = tuple(np.array([f"p{end}" for end in ends], dtype=object) for ends in zip(*cited, strict=True))
    return topic, texts, (*links, np.ones(len(cited)))


@pytest.mark.parametrize(
    ("encoding", "names"),
    [
        ("rows", ["text", "cites-out", "cites-in", "size"]),
        ("graph", ["text", "cites", "size"]),
        ("smooth", ["text", "size", "text-over-cites", "size-over-cites"]),
        ("graph+smooth1", ["text", "cites", "size", "text-over-cites", "size-over-cites"]),
    ],
)
def test_encodings_of_links_make_views(encoding, names, tmp_path):
    _, texts, links = make_papers()
    contents = build_contents(links, texts, np.random.default_rng(0).normal(size=(len(texts), 2)))
    encoded = fit_and_encode(contents, rare=True, encode={"cites": encoding})
    assert list(encoded.views.names) == names
    kinds = {"text": "text", "size": "numbers", "cites": "similarities", "cites-out": "links", "cites-in": "links"}
    assert encoded.kinds == {name: kinds[name.removesuffix("-over-cites")] for name in names}
    cs.save(encoded.encodings, tmp_path / "encodings.zip")
    again = encode(contents, cs.load(tmp_path / "encodings.zip"), join_contents(contents))
    assert all(abs(encoded.views[name] - again.views[name]).max() == 0 for name in names)
    # New entities without links lack the views of links; without a text they have the words of those they cite.
    new = build_contents((np.array(["q"], dtype=object), np.array(["p1"], dtype=object), np.ones(1)), {"q": None})
    if "smooth" in encoding:
        row = encode(new, encoded.encodings, join_contents(new)).views["text-over-cites"]
        assert row.nnz > 0


def test_mapped_links_are_averaged_over_their_own_ids(put, read):
    papers = put("papers.csv", "id,size,age\na,1,2\nb,3,9\nc,5,4\nd,8,1\n")
    cites = put("cites.csv", "source,target\n1,2\n2,3\n4,9\n")
    mapping = put("map.csv", "papers,cites\na,1\nb,2\nc,3\n")
    reading = read(papers, cites, mappings=[str(mapping)])
    entities = join_contents(reading.contents, reading.mappings)
    mapped = fit_and_encode(reading.contents, rare=True, entities=entities, encode={"cites": "graph+smooth1"}).views
    renamed = put("renamed.csv", "source,target\na,b\nb,c\n")
    contents = read(papers, f"cites={renamed}").contents
    plain = fit_and_encode(contents, rare=True, encode={"cites": "graph+smooth1"}).views
    assert plain.ids.tolist() == ["a", "b", "c", "d"]
    assert [name.split(" / ")[0] for name in mapped.ids] == plain.ids.tolist()
    np.testing.assert_allclose(mapped["papers-over-cites"], plain["papers-over-cites"], atol=1e-6)
    np.testing.assert_allclose(mapped["cites"].toarray(), plain["cites"].toarray(), atol=1e-12)


@pytest.mark.parametrize("encoding", ["graph", "smooth"])
def test_views_of_links_serve_the_default_method(encoding):
    """An entity without words and links is left out."""
    topic, texts, links = make_papers(60)
    encoded = fit_and_encode(build_contents(links, {**texts, "lost": None}), rare=True, encode={"cites": encoding})
    assert len(encoded.views) == 60
    affinity = {name: "precomputed" if kind == "similarities" else "auto" for name, kind in encoded.kinds.items()}
    model = cs.Consilience(3, affinity=affinity, random_state=0).fit(encoded.views)
    assert cs.metrics.adjusted_rand_score(topic, model.labels_) > 0.9
    new_links = (np.array(["q0", "q1"], dtype=object), np.array(["p3", "p4"], dtype=object), np.ones(2))
    new = build_contents(new_links, {"q0": texts["p0"], "q1": texts["p1"]})
    new_views = encode(new, encoded.encodings, join_contents(new)).views
    assert model.predict(new_views).tolist() == model.labels_[:2].tolist()


@pytest.mark.parametrize(
    ("links", "encoding", "message"),
    [
        ([("p0", "p1")], "smooth+smooth1", "view 'cites': --encode names smooth and smooth1: choose one of them"),
        ([("p0", "p0")], "graph", r"'cites' \(c.csv\): no link joins an id of the other views with a different id"),
        ([("p0", "p0")], "smooth", r"'cites' \(c.csv\): no link joins an id of the other views with a different id"),
        ([("p0", "x"), ("p1", "y")], "graph", "no entity is linked with another one, nor with an id that another"),
        ([("x", "y")], "smooth", "no link starts or ends at an id of .* views. Its first is 'x', theirs is 'p0'"),
        ([("p0", "p1")], "spectral", "there is no encoding 'spectral' of links: choose from rows, graph, smooth"),
    ],
)
def test_links_that_cannot_be_encoded_are_refused(links, encoding, message):
    _, texts, _ = make_papers(20)
    ends = tuple(np.array(part, dtype=object) for part in zip(*links, strict=True))
    with pytest.raises(ValueError, match=message):
        fit_and_encode(build_contents((*ends, np.ones(len(links))), texts), rare=True, encode={"cites": encoding})


def test_views_that_cannot_be_smoothed_are_refused():
    _, texts, links = make_papers(20)
    contents = build_contents(links, texts)
    assert list_link_candidates(contents) == ["rows", "graph", "rows+smooth", "smooth"]
    assert list_link_candidates(contents[1:]) == ["rows", "graph"]
    assert fit_and_encode(contents[1:], rare=True, encode={"cites": "graph"}).views["cites"].shape == (20, 20)
    with pytest.raises(ValueError, match="no view is there to be smoothed: encode the links as rows or graph"):
        fit_and_encode(contents[1:], rare=True, encode={"cites": "smooth"})
    contents.append(ViewContent("text-over-cites", "o.csv", "text", contents[0].data, 20, contents[0].ids))
    with pytest.raises(ValueError, match="encoding of view 'cites' makes a view 'text-over-cites': rename the other"):
        fit_and_encode(contents, rare=True, encode={"cites": "smooth"})
