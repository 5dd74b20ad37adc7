"""``consilience datasets``: what ships and what can be fetched, and the same as ordinary files."""

from __future__ import annotations

import argparse
import csv
import io
import shlex
from collections.abc import Callable, Iterable
from contextlib import nullcontext, redirect_stderr
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..datasets import FETCHERS, Dataset, load_digits_views, read_word_senses, where
from ..datasets.fetch import REMOTE_DATASETS
from ..files import check_output_folder, stage_folder
from .say import Terminal

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
        f"{name}.csv": (["id", *(f"{name}{i}" for i in range(block.shape[1]))], _prepend_ids(ids, block))
        for name, block in digits.views.items()
    }
    classes = [digits.target_names[one] for one in digits.target]
    return {**files, "classes.csv": (["id", "digit"], zip(ids, classes, strict=True))}


def _prepend_ids(ids: list[str], block: Any) -> Iterable[Any]:
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


def run_datasets(options: argparse.Namespace, say: Terminal) -> None:
    """List them, or write one out."""
    if options.name is None:
        _list(say)
    elif options.name in SHIPPED:
        _write_shipped(options, say)
    else:
        _write_fetched(options, say)


def _list(say: Terminal) -> None:
    places = {name: where(name) for name in FETCHERS}  # all of them first: a list does not break off
    for name, (what, _, _) in SHIPPED.items():
        say.result(f"{name:16} {what}")
    say.result("\nand these can be fetched:\n")
    for name in FETCHERS:
        if name not in SHIPPED:
            say.result(f"{name:16} {REMOTE_DATASETS[name].description}\n{'':16} {places[name]}")
    say.result("\nWrite one out as ordinary files: consilience datasets word-senses --out senses")


def _write_shipped(options: argparse.Namespace, say: Terminal) -> None:
    _, make, line = SHIPPED[options.name]
    out = Path(options.out or options.name)
    check_output_folder(out, (), options.force)  # before the data set is read
    files = make()
    with say.step("writing the files", "wrote the files"), stage_folder(out, tuple(files), options.force) as folder:
        for name, (header, rows) in files.items():
            _write_table(folder / name, header, rows)
    _suggest_command(say, out, files, line)


def _write_fetched(options: argparse.Namespace, say: Terminal) -> None:
    """A file a view, which leaves out the entities that lack it; the classes; and what it all is."""
    out = Path(options.out or options.name)
    names = tuple(f"{name}.npz" for name in REMOTE_DATASETS[options.name].facts.columns)
    check_output_folder(out, (*names, "classes.csv", "card.md"), options.force)  # before a long download
    with redirect_stderr(io.StringIO()) if options.quiet else nullcontext():  # of the progress bar
        data = FETCHERS[options.name]()
    files = [f"{name}.npz" for name in data.views.names] + ["classes.csv", "card.md"]
    ids = _name_entities(data)
    with say.step("writing the files", "wrote the files"), stage_folder(out, tuple(files), options.force) as folder:
        for v, name in enumerate(data.views.names):
            _write_view(folder / f"{name}.npz", data, name, np.flatnonzero(data.views.present[:, v]), ids)
        classes = [data.target_names[own] for own in data.target]
        _write_table(folder / "classes.csv", ["id", "class"], zip(ids, classes, strict=True))
        (folder / "card.md").write_text(data.card, encoding="utf-8")
    views = " ".join(f"--view {{0}}/{name}.npz" for name in data.views.names)
    _suggest_command(say, out, files, f"{views} --labels {{0}}/classes.csv -k {len(data.target_names)}")


def _name_entities(data: Dataset) -> np.ndarray:
    n = len(data.views)
    return np.array([f"{data.name}-{i:05}" for i in range(n)]) if data.views.ids is None else data.views.ids


def _write_view(path: Path, data: Dataset, name: str, rows: np.ndarray, ids: np.ndarray) -> None:
    """A sparse matrix as scipy writes it, or one array; the names of rows and columns beside it."""
    block, columns = data.views[name][rows], data.views.feature_names(name)
    held: dict[str, Any] = {"ids": ids[rows]} | ({} if columns is None else {"features": columns})
    if sp.issparse(block):
        held |= {"format": "csr", "shape": block.shape}
        held |= {"data": block.data, "indices": block.indices, "indptr": block.indptr}
    else:
        held["values"] = block
    np.savez_compressed(path, **held)


def _write_table(path: Path, header: list[str], rows: Iterable[Any]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(header)
        table.writerows(rows)


def _suggest_command(say: Terminal, out: Path, files: Iterable[str], line: str) -> None:
    say.left = f"the files are in {out}"
    say.result(f"Written to {out}: {', '.join(files)}. Now try")
    named = f"./{out}" if str(out).startswith("-") else str(out)  # which is no option
    say.result(f"  consilience cluster {line.format(shlex.quote(named))} --out {shlex.quote(f'{named}-out')}")
