"""Ids that are the same but written differently join the same entities."""

from itertools import permutations

import numpy as np
import pytest

from consilience.files import join_contents, match_classes

N = 120
NUMBERS = [f"{i:03}" for i in range(N)]


def write(put, name, ids, column="x"):
    return put(name, f"id,{column}\n" + "".join(f"{entity_id},{i % 7}.5\n" for i, entity_id in enumerate(ids)))


SPELLINGS = {
    "zeros": (NUMBERS, [str(int(text)) for text in NUMBERS]),
    "floats": (NUMBERS, [f"{int(text)}.0" for text in NUMBERS]),
    "case": ([f"ab-{text}" for text in NUMBERS], [f"AB-{text} " for text in NUMBERS]),
    "accents": ([f"caf\u00e9{text}" for text in NUMBERS], [f"cafe\u0301{text}\u200b" for text in NUMBERS]),
}


@pytest.mark.parametrize(("first", "second"), SPELLINGS.values(), ids=SPELLINGS)
def test_ids_in_other_spellings_are_joined(put, read, first, second):
    reading = read(write(put, "a.csv", first), write(put, "b.csv", second[::-1], "y"))
    entities = join_contents(reading.contents)
    assert len(entities) == N
    assert entities.ids.tolist() == first
    assert entities.rows["b"].tolist() == list(range(N))[::-1]
    if "000" in first and "0" in second:
        note = "View 'b' writes 100 of 120 ids differently from another view, such as '99' for '099', '98' for "
        assert note + "'098', '97' for '097': they are taken for the same ids." in reading.notes


@pytest.mark.parametrize("names", [("Patient", "Patient"), ("Patient", "pat_id")])
def test_numbered_rows_of_two_tables_are_joined_by_their_numbers(put, read, names):
    rows = [(f"{i:03}", f"{i % 7}.5") for i in range(1, N + 1)]
    first = put("a.csv", f"{names[0]},x\n" + "".join(f"{number},{x}\n" for number, x in rows))
    second = put("b.csv", f"{names[1]},y\n" + "".join(f"{int(number)},{x}\n" for number, x in rows[::-1]))
    contents = read(first, second).contents
    entities = join_contents(contents)
    x, y = (content.data[0][entities.rows[content.name], 0] for content in contents)
    assert np.array_equal(x, y)
    assert [content.columns for content in contents] == [("x",), ("y",)]


def test_tables_without_ids_are_noted(put, read):
    first, second = (put(f"{name}.csv", f"{name}\n" + "1.5\n2.5\n" * 30) for name in "ab")
    note = f"No column identifies the rows of {first} and {second}: they are matched by position. If"
    assert read(first, second).notes[0].startswith(note)


def test_each_view_is_compared_with_each_other_one(put, read):
    plain = [str(i) for i in range(1, N + 1)]
    ids = {"a": plain, "b": plain[:-1], "c": [f"{i:03}" for i in range(1, N + 1)]}
    paths = {name: write(put, f"{name}.csv", ids[name], name) for name in ids}
    for order in permutations("abc"):
        reading = read(*(paths[name] for name in order))
        entities = join_contents(reading.contents)
        assert len(entities) == N
        assert entities.ids.tolist() == (ids["c"] if order[0] == "c" else plain)
        assert not any("shares" in note for note in reading.notes)


def test_id_that_a_third_view_shares_is_respelled_there_too(put, read):
    texts = [*NUMBERS[:5], *(f"K{i}" for i in range(1000))]  # gains too little by itself
    first, second = write(put, "a.csv", map(str, range(N))), write(put, "b.csv", NUMBERS, "y")
    entities = join_contents(read(first, second, write(put, "c.csv", texts, "z")).contents)
    assert len(entities) == N + 1000


@pytest.mark.parametrize("is_first", [True, False])
def test_two_ids_of_a_view_stay_apart(put, read, is_first):
    codes = ["7", "007", *map(str, range(10, 50))]
    paths = [write(put, "a.csv", codes), write(put, "b.csv", [*(f"{code}.0" for code in codes[2:]), "7"], "y")]
    reading = read(*(paths if is_first else paths[::-1]))
    entities = join_contents(reading.contents)
    assert len(entities) == len(codes)
    assert (entities.rows["b"] < 0).tolist() == [entity_id == "007" for entity_id in entities.ids]
    (note,) = (note for note in reading.notes if "stay apart" in note)
    assert note == "View 'a' has ids that would be the same in another spelling, such as '7', '007': they stay apart."


def test_ids_that_a_view_tells_apart_by_zeros_are_not_joined(put, read):
    codes = [*map(str, range(1, 101)), *(f"{i:03}" for i in range(1, 51))]
    other = [f"{i:03}" for i in range(1, 101)]
    entities = join_contents(read(write(put, "a.csv", codes), write(put, "b.csv", other, "y")).contents)
    assert len(entities) == len({*codes, *other})


def test_equal_ids_are_not_respelled(put, read):
    ids = [*NUMBERS[:119], "A1"]
    other = [*NUMBERS[:119], "a1"]
    reading = read(write(put, "a.csv", ids), write(put, "b.csv", other, "y"))
    assert len(join_contents(reading.contents)) == N + 1
    assert not any("differently" in note for note in reading.notes)


def test_few_shared_ids_are_noted_with_examples(put, read):
    other = write(put, "b.csv", [*NUMBERS[:20], *(f"K{i}" for i in range(100))], "y")
    examples = "ids that it alone has: '020', '021', '022'; of ids that it lacks: 'K0', 'K1', 'K10'."
    note = f"View 'a' shares 20 of its 120 ids with other views. Examples of {examples}"
    assert note in read(write(put, "a.csv", NUMBERS), other).notes


def test_links_and_classes_in_other_spellings_are_joined(put, read):
    table = write(put, "a.csv", NUMBERS)
    links = put("links.csv", "source,target\n" + "".join(f"{i},{(i + 1) % N}\n" for i in range(N)))
    classes = put("classes.csv", "id,class\n" + "".join(f"{i}.0,{'ab'[i % 2]}\n" for i in range(N)))
    reading = read(table, links, labels=str(classes))
    entities = join_contents(reading.contents)
    assert entities.ids.tolist() == NUMBERS
    assert np.array_equal(match_classes(reading.known_classes, entities), ["a", "b"] * (N // 2))
    assert reading.contents[1].data[0].tolist() == NUMBERS
    contents = read(write(put, "b.csv", [*NUMBERS, "7"]), links).contents  # one doubtful id does not part the links
    assert contents[1].data[0].tolist() == [*NUMBERS[:7], "7", *NUMBERS[8:]]
