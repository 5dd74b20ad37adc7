"""A mixed table becomes views by the kinds of its columns."""

import numpy as np
import pytest

from consilience.files import InputFiles, ModelViews, parse_view
from consilience.files.splitting import find_blocks
from stage import write_csv

N = 60
RNG = np.random.default_rng(0)
WORDS = ["apples", "boats", "clouds", "doors", "engines", "forests", "gardens"]
TEXTS = [f"a long story about {WORDS[i % 7]} and about {WORDS[i % 5]} and {WORDS[i % 3]}" for i in range(N)]
COLUMNS = {
    "sku": [f"SKU-{i:03}" for i in range(N)],
    "title": [f"Thing Number{i}" for i in range(N)],
    "brand": ["Acme", "Nord", "Volt"] * (N // 3),
    "price": [f"${1000 + i:,}.50" for i in range(N)],
    "listed": [f"{1 + i % 28:02}.{1 + i % 12:02}.2020" for i in range(N)],
    "stock": ["yes", "no"] * (N // 2),
    "story": TEXTS,
    "url": [f"https://a.example/{i}" for i in range(N)],
    "empty": [""] * N,
    "currency": ["USD"] * N,
    **{f"img_{j}": RNG.normal(size=N).round(3) for j in range(8)},
}


@pytest.fixture
def products(tmp_path):
    def write(name="products.csv", rows=slice(None), **changes):
        columns = {name: values for name, values in (COLUMNS | changes).items() if values is not None}
        cells = zip(*(list(values)[rows] for values in columns.values()), strict=True)
        return write_csv(tmp_path / name, list(columns), cells)

    return write


def test_mixed_table_is_split_by_kinds(products, read):
    reading = read(products())
    views = {content.name: (content.kind, content.columns) for content in reading.contents}
    assert views == {
        "products": ("categories", ("brand", "price", "listed", "stock")),
        "title": ("names", ("title",)),
        "story": ("text", ("story",)),
        "img": ("numbers", tuple(f"img_{j}" for j in range(8))),
    }
    data = reading.contents[0].data
    assert data["price"][:2].tolist() == [1000.5, 1001.5]
    assert data["stock"][:2].tolist() == [1, 0]
    assert data["brand"][:2].tolist() == ["Acme", "Nord"]
    assert reading.id_column == "sku"
    assert reading.contents[0].ids[:2].tolist() == ["SKU-000", "SKU-001"]


def test_notes_say_what_became_of_the_columns(products, read):
    prices = COLUMNS["price"].copy()
    prices[5] = "call us"
    reading = read(path := products(price=prices))
    id_note, split_note, left_out, unread = reading.notes
    assert id_note == "Rows are identified by the column 'sku' (--id sku)."
    assert split_note.startswith(f"{path} is split into the views 'products', 'title', 'story', 'img'.")
    assert "'empty' (empty); 'currency' (the same value in all rows); 'url' (web or mail addresses)." in left_out
    assert unread.endswith("column 'price' holds amounts; 'call us' in row 6 cannot be read, and counts as empty.")
    assert "'stock'; price: '$1,000.50' read as 1000.5; listed: '01.01" in reading.contents[0].reason
    assert reading.contents[3].reason == "'img_0' to 'img_7'"


def test_names_of_tables_and_columns_name_views(products, read, put):
    def name_views(*views):
        return [content.name for content in read(*views).contents]

    assert name_views(f"shop={products()}") == ["shop", "title", "story", "img"]
    assert name_views(products("story.csv")) == ["columns", "title", "story", "img"]
    both = name_views(products("a.csv"), products("b.csv"))
    assert both == ["a", "title", "story", "img", "b", "b-title", "b-story", "b-img"]
    assert name_views(f"{products()}:-img_*,-story") == ["products", "title"]
    path = put("t.csv", "x,y\n" + "".join(f"{i % 3},5\n" for i in range(20)))
    (content,) = read(f"t={path}").contents  # which is one view if it mixes no kinds
    assert content.columns == ("x", "y")
    assert [content.columns for content in read(path).contents] == [("x",)]


def test_kind_of_a_column_can_be_set(products, read):
    path = products(code=["007", "7"] * (N // 2))
    contents = {c.name: c for c in read(path, kinds={"title": "categories", "code": "categories"}).contents}
    assert contents["products"].columns == ("title", "brand", "price", "listed", "stock", "code")
    assert contents["products"].data["code"][:2].tolist() == ["007", "7"]
    with pytest.raises(ValueError, match=r"column 'brand' holds 'Acme', which is not a number"):
        read(path, kinds={"brand": "numbers"})
    with pytest.raises(ValueError, match=r"a column such as 'brand' can be numbers, counts, .*, not links"):
        read(path, kinds={"brand": "links"})
    with pytest.raises(ValueError, match=r"--kind names 'brnd'; the views are .*Did you mean 'brand'\?"):
        read(path, kinds={"brnd": "categories"})


def test_columns_that_carry_nothing_are_left_out(products, read):
    reasons = {
        "numbers of rows, or other ids": range(N),
        "codes that hardly repeat": [f"A{i}" for i in range(N)],
        "numbers mixed with words": [f"{i}" if i % 2 else "abcdefghij"[i % 10] * (1 + i % 13) for i in range(N)],
        "names of image files that are not in the folder of the table": [f"{i}.png" for i in range(N)],
    }
    columns = {f"extra{chr(97 + i)}": cells for i, cells in enumerate(reasons.values())}
    reading = read(products(**columns))
    assert not set(columns) & {name for content in reading.contents for name in content.columns}
    for name, reason in zip(columns, reasons, strict=True):
        assert any(f"'{name}' ({reason})" in note for note in reading.notes), reading.notes


def test_measurements_that_increase_by_one_are_no_numbers_of_rows(products, read):
    days = [str(np.datetime64(i, "D")) for i in range(N)]
    numbers = read(products(share=[f"{i} %" for i in range(N)], cost=[f"${i}" for i in range(N)], day=days)).contents[0]
    for name in ("share", "cost", "day"):
        assert np.diff(numbers.data[name]).tolist() == [1] * (N - 1)


DOUBLED = ["SKU-003" if i == 7 else sku for i, sku in enumerate(COLUMNS["sku"])]


def test_one_doubled_id_makes_no_feature_and_joins_no_tables(products, read, put):
    reading = read(path := products(sku=DOUBLED, url=None))
    unique = read(products("unique.csv", url=None))
    assert [content.columns for content in reading.contents] == [content.columns for content in unique.contents]
    assert all(content.ids is None for content in reading.contents)
    assert f"{path}: the column 'sku' looks like ids, but 'SKU-003' is in several rows. Rows" in reading.notes[0]
    forced = read(path, kinds={"sku": "names"})
    assert ("sku",) in [content.columns for content in forced.contents]
    reading = read(products(sku=DOUBLED))  # beside other ids
    assert reading.contents[0].ids[0] == "https://a.example/0"
    assert any("'sku' (codes that hardly repeat)" in note for note in reading.notes)
    with pytest.raises(ValueError, match=r"a\.csv has the id 'SKU-003' more than once: aggregate or drop the"):
        read(products("a.csv", sku=DOUBLED, url=None), products("b.csv", slice(None, None, -1), url=None))
    reading = read(products("c.csv", sku=DOUBLED, url=None), products("d.csv", sku=DOUBLED, url=None))
    assert reading.contents[0].ids is None
    rows = "".join(f"{1000 + max(i, 1)},{i % 7}.5,{i % 3}.25\n" for i in range(N))
    (content,) = read(put("t.csv", f"customer_no,x,y\n{rows}")).contents
    assert content.columns == ("x", "y")


def repeat(cells, n=200):
    return [cells[i * 7 % len(cells)] for i in range(n)]


GENRES = ["Comedy, Action", "Comedy", "Action, Drama", "Comedy, Horror, Action", "Drama", "Romance, Action, Horror"]
WHOLE = range(20_000, 20_200)


ROLES = {
    "numbers": [
        ("runtime", repeat([f"{i} min" for i in range(80, 130)])),
        ("runtime", repeat(["1 h 30", "1h45m", "2 h", "58 min"])),
        ("weight", repeat(["5 kg", "1.5 kg", "750 g", "12 kg"])),
        ("memory", repeat(["12 GB", "512 MB", "1 TB"])),
        ("size", repeat([f"{i} rooms" for i in range(2, 30)])),
        ("surface", repeat([f"{i} m²" for i in range(20, 60)])),
        ("turnover", repeat([f"{i},50 zł" for i in range(20, 60)])),
        ("depart", [f"{i % 28 + 1} janvier {2000 + i // 28}" for i in range(200)]),
        ("venda", [f"{i % 28 + 1:02}-dez-{2000 + i // 28}" for i in range(200)]),
        ("data", [f"{i % 28 + 1} września {2000 + i // 28} r." for i in range(200)]),
        ("flights", repeat(list(range(100, 140)))),
        ("number of rooms", repeat(list(range(1, 30)))),
        ("mass", repeat(["2e3", "10.4", "7e1", "3e9"])),
        ("opened", [(np.datetime64("1919-12-08") + i).item().strftime("%Y%m%d") for i in range(200)]),
        ("weight", [*(i * 7919 % 100_000 + 1 for i in range(199)), "00"]),
        ("weight", [*(i * 7919 % 100_000 + 1 for i in range(199)), "1e5"]),
        ("minute", repeat([f"{i:02}" for i in range(60)])),
        ("mobile", [i * 37 % 180 for i in range(200)]),
        ("payment", ["n/k"] * 20 + [f"{i} kg" for i in range(180)]),
    ],
    "counts": [
        ("genres", repeat(GENRES)),
        ("genres", repeat([cell.replace(", ", "|") for cell in GENRES])),
        ("genres", repeat([str(cell.split(", ")) for cell in GENRES])),
    ],
    "categories": [
        ("product", [f"{kind}, {color}" for kind in ("Chair", "Table", "Lamp") for color in "abcd"] * 16),
        ("place", repeat(["Lyon, France", "Paris, France", "Bonn, Germany"])),
        ("language", ["English"] * 170 + [f"Lang {'abcdefghijklmno'[i % 15]}{i % 2}" for i in range(30)]),
        ("city", [f"Town {'abcdefghijklmnopqrstuvwxyz'[i % 26]}{i % 3}" for i in range(2000)]),
        ("zip", repeat([f"{i:05}" for i in range(12, 30)])),
        ("paid", repeat(["1", ""])),
        ("zipCode", repeat(list(range(80331, 80350)))),
        ("flight", repeat(list(range(100, 140)))),
        ("batch", repeat(["2e3", "104", "7e1", "3e9"])),
        ("class_name", repeat(["a", "b", "c"])),
        ("grade", repeat(["9 A", "9 B", "10 A"])),
        ("patient", repeat(["34 m", "28 f", "51 m"])),
        ("drive", repeat(["2WD", "4WD", "FWD"])),
        ("screen", repeat(["4K", "8K", "HD"])),
        ("sizes", repeat(["M/F", "M", "F"])),
        ("release", repeat(["1.2.3 LTS", "1.3.1 LTS", "2.0.1 LTS"])),
    ],
    "codes": [
        ("zip", [f"{i * 337 % 90_000:05}" for i in range(200)]),
        ("phone", [f"({i % 90 + 10}) {i * 7919 % 90_000 + 10_000}-{i * 104_729 % 9000 + 1000}" for i in range(200)]),
        ("reference", [f"{2**62 + i}" for i in range(200)]),
        ("flight", [i * 37 % 67 + 200 * (i % 2) for i in range(200)]),
        ("flight_no", [f"AA {i * 37 % 160}" for i in range(200)]),
        ("tail", [f"N{i * 37 % 150}" for i in range(200)]),
    ],
    "rows": [("PLZ", [i * 337 % 90_000 + 1000 for i in range(200)])],
    "classes": [("target", repeat([0, 1, 2]))],
}


@pytest.mark.parametrize("role", ROLES)
def test_role_of_a_column(put, read, role):
    for name, cells in ROLES[role]:
        order = np.random.default_rng(0).permutation(len(cells))
        for rows in (range(len(cells)), order):
            if role == "rows" and rows is order:
                continue
            lines = "\n".join(f'"{cells[i]}",{i % 50}.5' for i in rows)
            assert find_role(read(put("t.csv", f"{name},x\n{lines}\n")), name) == role, (name, cells[:3])


def find_role(reading, name):
    """Return what became of a column: a kind of data, or why it is left out."""
    for content in reading.contents:
        if name in content.columns:
            is_text = content.kind == "categories" and content.data[name].dtype == object
            return "categories" if is_text else "numbers" if content.kind == "categories" else content.kind
    reasons = {"numbers of rows": "rows", "codes that": "codes", "known classes": "classes"}
    note = next(note for note in reading.notes if f"{name!r}" in note)
    return next(role for reason, role in reasons.items() if reason in note)


def test_lists_of_categories_are_a_view_and_known_classes_are_none(products, read):
    reading = read(products(genres=repeat(GENRES, N), target=["0", "1", "2"] * (N // 3)))
    genres = next(content for content in reading.contents if content.name == "genres")
    assert (genres.kind, genres.data[0]) == ("counts", {"Comedy": 1.0, "Action": 1.0})
    assert any("'target' (known classes by its name, with which --labels COLUMN" in note for note in reading.notes)
    forced = read(products(target=["0", "1", "2"] * (N // 3)), kinds={"target": "categories"})
    assert "target" in forced.contents[0].columns


def test_columns_of_short_strings_are_one_view(products, read):
    makers = [f"Mister Maker{i * 7 % 50}" for i in range(N)]
    path = products(maker=makers)
    contents = {content.name: content for content in read(path).contents}
    assert contents["names"].columns == ("title", "maker")
    assert contents["names"].data[1] == "Thing Number1 Mister Maker7"
    apart = read(path, kinds=dict.fromkeys(("title", "maker"), "names"))
    assert {"title", "maker"} <= {content.name for content in apart.contents}


def test_categories_are_compared_without_what_readers_cannot_see(products, read):
    brands = ["Café", "Cafe\u0301 ", "Nord\u00a0", "\u200bNord", "NA", "n/a"] * (N // 6)
    reading = read(path := products(brand=brands))
    assert set(reading.contents[0].data["brand"]) == {"Café", "Nord", None}
    note = f"{path}: 'NA', 'n/a' in 20 cells of column 'brand' counts as empty."
    assert any(line.startswith(note) for line in reading.notes)
    assert set(reading.tables[0].columns["brand"]) == {"Café", "Nord", None}


@pytest.mark.parametrize(
    ("column", "cells", "note"),
    [
        ("weight", [*range(40, 95), *[-999] * 5], "'weight' has -999 in 5 rows, far from its other values. Empty"),
        ("brand", [*["Acme", "Nord"] * 29, "acme", "Nord"], "'brand' has 'Acme', 'acme', which differ by case alone"),
        ("brand", [*["Acme", "Nord"] * 29, "Acme", "Summe"], "the last row is called 'Summe'. Delete it if it holds"),
    ],
)
def test_doubtful_cells_are_noted(products, read, column, cells, note):
    assert any(note in line for line in read(products(**{column: cells})).notes)
    assert not any(note in line for line in read(products()).notes)


def test_words_that_are_values_are_kept(products, put, read):
    for cells, levels in (
        (["AF", "NA", "EU", "AS"], {"AF", "NA", "EU", "AS"}),
        (["AF", "NA", "Europe", "AS"], {"AF", None, "Europe", "AS"}),
        (["+", "-", "?"], {"+", "-", None}),
        (["red", "-", "\u2014"], {"red", None}),
        (["None", "steroids"], {"None", "steroids"}),
    ):
        assert set(read(products(brand=repeat(cells, N))).tables[0].columns["brand"]) == levels
    codes = ["NA", *(f"{a}{b}" for a in "ABCDEF" for b in "XYZ")]  # ids
    reading = read(put("t.csv", "id,x\n" + "".join(f"{code},{i}.5\n" for i, code in enumerate(codes))))
    assert reading.contents[0].ids.tolist() == codes


def test_table_without_usable_column_is_refused_and_one_with_a_single_one_noted(put, read):
    path = put("t.csv", "sku,same\n" + "".join(f"a{i},7\n" for i in range(20)))
    with pytest.raises(ValueError, match=r"t\.csv has no column that can be used: 'same' \(the same value in all"):
        read(path)
    reading = read(put("t.csv", "sku,same,x\n" + "".join(f"a{i},7,{i % 3}\n" for i in range(20))))
    assert any("only the column 'x' can be used. Add columns or files" in note for note in reading.notes)


def test_ambiguous_column_of_a_split_table_is_refused_with_remedy(products, read):
    message = r"column 'price': .* may be 1\.2 or 1200: .*Or leave the column out \(.*products\.csv:-COLUMN\)"
    with pytest.raises(ValueError, match=message):
        read(products(price=["1.200 €", "900 €"] * (N // 2)))
    contents = read(products(price=["1,200", "900"] * (N // 2))).contents  # decimal points of other columns decide
    assert contents[0].data["price"][:2].tolist() == [1200, 900]


def test_many_columns_of_text_or_numbers_are_one_view(put, read):
    header = ",".join(f"answer {chr(97 + j)}" for j in range(12))
    rows = "".join(",".join(f"this is what {i % 9} said of {j} and more" for j in range(12)) + "\n" for i in range(30))
    (content,) = read(put("t.csv", f"{header}\n{rows}")).contents
    assert (content.kind, len(content.columns)) == ("text", 12)
    header = ",".join(f"gene{j}x" for j in range(3000))
    rows = "".join(f"s{i},{','.join([str(i * 7 % 5)] * 3000)}\n" for i in range(12))
    (content,) = read(put("t.csv", f"sample,{header}\n{rows}")).contents
    assert (content.kind, len(content.columns)) == ("numbers", 3000)


def test_numbered_columns_are_blocks():
    numbers = np.zeros(3)
    columns = dict.fromkeys([*(f"img_{i}" for i in range(9)), *(f"e[{i}]" for i in range(5, 13))], numbers)
    columns |= dict.fromkeys([*(f"few{i}" for i in range(7)), *(f"gap{i}" for i in range(0, 20, 2))], numbers)
    blocks = find_blocks(columns | {str(year): numbers for year in range(2000, 2012)}, ())
    assert {prefix: len(names) for prefix, names in blocks.items()} == {"img": 9, "e": 8}
    assert blocks["img"] == [f"img_{i}" for i in range(9)]


def test_new_file_without_columns_of_the_model_is_refused(products, read, put):
    model = ModelViews.from_contents(read(products()).contents)
    with InputFiles() as inputs:
        specs = model.find_views(parse_view(str(put("n.csv", "sku,story\na,b\n"))), inputs)
        assert [spec.name for spec in specs] == ["story"]
        with pytest.raises(ValueError, match=r"n\.csv has none of the columns 'brand', .* of the model; it has 'x'"):
            model.find_views(parse_view(str(put("n.csv", "x\n1\n"))), inputs)
