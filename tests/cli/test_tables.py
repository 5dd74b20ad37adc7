"""Files as arguments: a mixed table is split into views, and new rows are read like those of the fit."""

import json

import numpy as np
import pytest

from stage import assert_refused, get_clusters, read_labels, run_command, run_successfully, write_csv
from workbooks import make_xlsx

N = 60
CLASSES = np.arange(N) % 3
WORDS = ["oak chair table wood legs", "cotton shirt sleeve fabric wear", "steel knife blade kitchen cook"]
HEADER = ["sku", "price", "sold", "new", "story", "shop"]


def make_rows():
    rng = np.random.default_rng(0)
    for i, label in enumerate(CLASSES):
        words = rng.choice(WORDS[label].split(), 9)
        day, month = rng.integers(1, 29), rng.integers(1, 13)
        price = f"{rng.normal(1500 * label + 200, 20):.2f}".replace(".", ",")
        yield [f"S-{i}", f"{price} €", f"{day}/{month}/2020", ["yes", "no"][i % 2], f"the {' '.join(words)}", "Berlin"]


ROWS = list(make_rows())
QUICK = "-k", 3, "--no-assess"


@pytest.fixture(scope="module")
def printed_products(tmp_path_factory):
    """What a run on a mixed table printed, and the folder with its files."""
    folder = tmp_path_factory.mktemp("products")
    write_csv(folder / "products.csv", HEADER, ROWS)
    write_csv(folder / "new.csv", HEADER, [[*row[:2], "3/4/2020", *row[3:]] for row in ROWS[:6]])
    (folder / "products.xlsx").write_bytes(make_xlsx({"Cover": [], "Products": [["Our products"], [], HEADER, *ROWS]}))
    rng = np.random.default_rng(1)
    np.save(folder / "photos.npy", rng.normal(size=(N, 4)) + 6 * np.eye(4)[CLASSES])
    return run_successfully("cluster", folder / "products.csv", *QUICK, "--out", folder / "run"), folder


@pytest.fixture(scope="module")
def products(printed_products):
    return printed_products[1]


def test_table_is_clustered_by_one_command(printed_products):
    ran, folder = printed_products
    assert "note: Rows are identified by the column 'sku' (--id sku)." in ran.err
    assert "products.csv is split into the views 'products', 'story'." in ran.err
    assert "left out 'shop' (the same value in all rows)" in ran.err
    assert "  products: numbers ('price', 'sold', 'new'; price: " in ran.out
    rows = read_labels(folder / "run")
    assert [row["id"] for row in rows] == [f"S-{i}" for i in range(N)]
    clusters = np.array(get_clusters(rows))
    assert all(len(set(clusters[label == CLASSES])) == 1 for label in range(3))


def test_workbook_gives_the_same_clusters(products, tmp_path):
    run_successfully("cluster", products / "products.xlsx", *QUICK, "--out", tmp_path / "run")
    assert get_clusters(read_labels(tmp_path / "run")) == get_clusters(read_labels(products / "run"))
    sheet = f"{products / 'products.xlsx'}#Products:price"
    ran = run_successfully("cluster", "--view", f"p={sheet}", *QUICK, "--out", tmp_path / "sheet")
    assert "  p: numbers (columns of numbers; price: " in ran.out


def test_files_may_stand_among_options(products, tmp_path):
    table, photos = products / "products.csv", products / "photos.npy"
    arguments = table, "-k", 3, photos, "--no-assess", "--out", tmp_path / "run"
    ran = run_successfully("cluster", *arguments, "--view", f"more={photos}")
    assert "View 'photos' has no ids: its 60 rows are matched by position with those of view 'products'." in ran.err
    facts = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert facts["inputs"]["view"] == [str(table), f"more={photos}", str(photos)]
    run_successfully("report", tmp_path / "run", "--force")


def test_new_rows_are_read_as_in_the_fit(products):
    labels = {row["id"]: row["cluster"] for row in read_labels(products / "run")}
    for view in ([products / "new.csv"], ["--view", f"products={products / 'new.csv'}"]):
        ran = run_successfully("predict", products / "run", *view)
        lines = [line.split(",") for line in ran.out.strip().splitlines()[1:]]
        assert [(line[0], line[1]) for line in lines] == [(f"S-{i}", labels[f"S-{i}"]) for i in range(6)]


def test_new_file_may_lack_views(products, tmp_path):
    stories = write_csv(tmp_path / "t.csv", ["sku", "story"], [(row[0], row[4]) for row in ROWS[:3]])
    ran = run_successfully("predict", products / "run", stories)
    assert len(ran.out.strip().splitlines()) == 4
    part = write_csv(tmp_path / "t.csv", ["sku", "price", "sold"], [row[:3] for row in ROWS[:3]])
    assert_refused(run_command("predict", products / "run", part), "has no column 'new'; it has 'sku', 'price', 'sold'")
    other = write_csv(tmp_path / "t.csv", ["a", "b"], [(1, 2)])
    assert_refused(run_command("predict", products / "run", other), "has none of the columns 'price', 'sold', 'new'")
    dollars = write_csv(tmp_path / "t.csv", HEADER, [[row[0], "5 $", *row[2:]] for row in ROWS[:3]])
    assert_refused(run_command("predict", products / "run", dollars), "column 'price' had '€' as its unit in the fit")


def test_compare_takes_files(products, compare_few):
    compare_few("k-means")
    ran = run_successfully("compare", products / "products.csv", "-k", 3, "--refits", 0)
    assert "60 entities, 2 views" in ran.out


def test_similar_column_is_suggested(products, tmp_path):
    path = products / "products.csv"
    for arguments, words in (
        (["--id", "skuu"], "has no column 'skuu' (--id); it has 'sku', 'price'"),
        (["--labels", "prise"], "no file has a column 'prise' (--labels)"),
        (["--view", f"x={path}:pricee"], "has no column 'pricee'; it has 'sku'"),
    ):
        ran = run_command("cluster", path, *arguments, "-k", 3, "--out", tmp_path / "run")
        assert_refused(ran, words, "Did you mean '")


def test_matrix_is_refused_as_links(tmp_path):
    path = write_csv(tmp_path / "links.csv", [f"c{j}" for j in range(20)], np.ones((5, 20)))
    ran = run_command("cluster", path, "--kind", "links=links", "-k", 2, "--out", tmp_path / "run")
    assert_refused(ran, "links are two columns of ids and an optional weight, not 20 columns", "leave out --kind")


def test_command_without_files_shows_an_example():
    for command in (["cluster"], ["compare"], ["predict", "run"]):
        ran = run_command(*command)
        assert ran.code == 2
        assert f"name the files, as in `consilience {command[0]} " in ran.err
