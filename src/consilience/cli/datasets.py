"""``consilience datasets``: what ships, and the same as ordinary files."""

from __future__ import annotations

import argparse
import csv
import shlex
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from ..datasets import load_digits_views, read_word_senses
from ..files import whole_folder
from .say import Say

Files = dict[str, tuple[list[str], Iterable[Any]]]  # header and rows by file name


def _word_senses() -> Files:
    senses = read_word_senses()
    rows = zip(senses.ids, senses.lemmas, senses.glosses, senses.kinds, strict=True)
    return {
        "senses.csv": (["id", "lemmas", "gloss", "kind"], rows),
        "links.csv": (["source", "target"], senses.links),
    }


def _digits() -> Files:
    digits = load_digits_views()
    ids = [f"digit{i:04}" for i in range(len(digits.views))]
    files: Files = {
        f"{name}.csv": (["id", *(f"{name}{i}" for i in range(block.shape[1]))], _numbered(ids, block))
        for name, block in digits.views.items()
    }
    classes = [digits.target_names[one] for one in digits.target]
    return {**files, "classes.csv": (["id", "digit"], zip(ids, classes, strict=True))}


def _numbered(ids: list[str], block: Any) -> Iterable[Any]:
    return ([one, *row] for one, row in zip(ids, block.tolist(), strict=True))


SHIPPED: dict[str, tuple[str, Callable[[], Files], str]] = {
    "word-senses": (
        "3,015 noun senses of WordNet: definitions, words, links; eight kinds",
        _word_senses,
        "--view gloss={0}/senses.csv:gloss --view lemmas={0}/senses.csv:lemmas --view links={0}/links.csv "
        "--labels kind -k 8",
    ),
    "digits": (
        "2,000 handwritten digits, six descriptions of each",
        _digits,
        "--view {0}/fou.csv --view {0}/fac.csv --view {0}/kar.csv --view {0}/pix.csv --view {0}/zer.csv "
        "--view {0}/mor.csv --labels {0}/classes.csv -k 10",
    ),
}


def datasets(options: argparse.Namespace, say: Say) -> None:
    """List them, or write one out."""
    if options.name is None:
        for name, (what, _, _) in SHIPPED.items():
            say.result(f"{name:12} {what}")
        say.result("\nWrite one out as ordinary files: consilience datasets word-senses --out senses")
        return
    _, make, line = SHIPPED[options.name]
    out = Path(options.out or options.name)
    files = make()
    with say.step("writing the files", "wrote the files"), whole_folder(out, tuple(files), options.force) as folder:
        for name, (header, rows) in files.items():
            with (folder / name).open("w", newline="", encoding="utf-8") as file:
                table = csv.writer(file)
                table.writerow(header)
                table.writerows(rows)
    say.result(f"Written to {out}: {', '.join(files)}. Now try")
    say.result(f"  consilience cluster {line.format(shlex.quote(str(out)))} --out {shlex.quote(f'{out}-out')}")
