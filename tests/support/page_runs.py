"""Small runs for the tests of the workbench's page."""

import csv

import numpy as np

import consilience as cs

N = 80
CLASSES = np.arange(N) % 4
IDS = [f"thing-{row:02d}" for row in range(N)]
WORDS = ("sweet ripe fruit", "sharp steel blade", "soft cotton shirt", "loud brass horn")
WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 390, "height": 844}


def write_things(path, ids=IDS, texts=WORDS, columns=("a0", "a1", "b0", "b1", "words"), noise=1.0):
    """Write items in three views; the views disagree about some of them, and some lack the second view."""
    rng = np.random.default_rng(0)
    centers = np.array([[0, 0], [5, 0], [0, 5], [5, 5]])
    first, second = (np.round(centers[CLASSES] + noise * rng.normal(size=(N, 2)), 3) for _ in range(2))
    second = second.astype(object)
    second[3:12] = ""
    first[12:16] = first[[13, 14, 15, 12]]
    sentences = [
        " ".join([texts[k], *rng.choice(texts[k].split(), 4), *rng.choice(["old", "new", "big", "small"], 3)])
        for k in CLASSES
    ]
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["id", *columns, "class"])
        rows.writerows(zip(ids, *first.T, *second.T, sentences, CLASSES, strict=True))
    return path


def cluster_things(path, columns=("a0", "a1", "b0", "b1", "words"), assess=True, **options):
    views = {"first": columns[:2], "second": columns[2:4], "words": columns[4:]}
    data = {name: f"{path}:{','.join(names)}" for name, names in views.items()}
    return cs.cluster(data, 4, id_column="id", labels="class", assess=assess, **options)
