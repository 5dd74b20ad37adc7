"""``consilience datasets``: list the data sets, and write one as ordinary files."""

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
from ..datasets.fetch.registry import REMOTE_DATASETS
from ..files import check_output_folder, stage_folder
from .terminal import Terminal

Files = dict[str, tuple[list[str], Iterable[Any]]]  # header and rows by file name


def _make_word_senses() -> Files:
    senses = read_word_senses()
    rows = zip(senses.ids, senses.lemmas, senses.glosses, senses.kinds, strict=True)
    return {"senses.csv": (["id", "lemmas", "gloss", "kind"], rows), "links.csv": (["source", "target"], senses.links)}


def _make_digits() -> Files:
    digits = load_digits_views()
    ids = [f"digit{i:04}" for i in range(len(digits.views))]
    files: Files = {
        f"{name}.csv": (
            ["id", *(f"{name}{i}" for i in range(block.shape[1]))],
            ([entity, *row] for entity, row in zip(ids, block.tolist(), strict=True)),
        )
        for name, block in digits.views.items()
    }
    classes = [digits.target_names[target] for target in digits.target]
    return {**files, "classes.csv": (["id", "digit"], zip(ids, classes, strict=True))}


# description, function that makes the files, and the options of `consilience cluster` with {0} for the folder
INCLUDED: dict[str, tuple[str, Callable[[], Files], str]] = {
    "word-senses": (
        "3,015 noun senses of WordNet: definitions, words, links; eight kinds",
        _make_word_senses,
        "{0}/senses.csv {0}/links.csv --labels kind -k 8",
    ),
    "digits": (
        "2,000 handwritten digits, six descriptions of each",
        _make_digits,
        "--view {0}/fou.csv --view {0}/fac.csv --view {0}/kar.csv --view {0}/pix.csv --view {0}/zer.csv "
        "--view {0}/mor.csv --labels {0}/classes.csv -k 10",
    ),
}


def run_datasets(options: argparse.Namespace, terminal: Terminal) -> None:
    """List the data sets, or write one."""
    if options.name is None:
        _list_datasets(terminal)
    elif options.name in INCLUDED:
        _write_included(options, terminal)
    else:
        _write_fetched(options, terminal)


def _list_datasets(terminal: Terminal) -> None:
    places = {name: where(name) for name in FETCHERS}  # before printing, so that an error does not cut the list
    included = [{"name": name, "description": text, "place": "included"} for name, (text, _, _) in INCLUDED.items()]
    remote = [
        {"name": name, "description": REMOTE_DATASETS[name].description, "place": places[name]}
        for name in FETCHERS
        if name not in INCLUDED
    ]
    terminal.print_json([*included, *remote])
    for dataset in included:
        terminal.print_result(f"{dataset['name']:16} {dataset['description']}")
    terminal.print_result("\nThese can be downloaded:\n")
    for dataset in remote:
        terminal.print_result(f"{dataset['name']:16} {dataset['description']}\n{'':16} {dataset['place']}")
    terminal.print_result("\nTo write one as ordinary files: consilience datasets word-senses --out senses")


def _write_included(options: argparse.Namespace, terminal: Terminal) -> None:
    _, make_files, arguments = INCLUDED[options.name]
    out = Path(options.out or options.name)
    check_output_folder(out, (), options.force)  # before the data set is read
    files = make_files()
    with (
        terminal.step("writing the files", "wrote the files"),
        stage_folder(out, tuple(files), options.force) as folder,
    ):
        for name, (header, rows) in files.items():
            _write_table(folder / name, header, rows)
    _suggest_command(terminal, out, files, arguments)


def _write_fetched(options: argparse.Namespace, terminal: Terminal) -> None:
    """Write one file per view without the entities that lack it, the classes, and a description."""
    out = Path(options.out or options.name)
    names = tuple(f"{name}.npz" for name in REMOTE_DATASETS[options.name].facts.columns)
    check_output_folder(out, (*names, "classes.csv", "card.md"), options.force)  # before a long download
    with redirect_stderr(io.StringIO()) if options.quiet else nullcontext():  # hides the progress bar
        data = FETCHERS[options.name]()
    files = [f"{name}.npz" for name in data.views.names] + ["classes.csv", "card.md"]
    ids = (
        np.array([f"{data.name}-{i:05}" for i in range(len(data.views))]) if data.views.ids is None else data.views.ids
    )
    with (
        terminal.step("writing the files", "wrote the files"),
        stage_folder(out, tuple(files), options.force) as folder,
    ):
        for v, name in enumerate(data.views.names):
            _write_view(folder / f"{name}.npz", data, name, np.flatnonzero(data.views.present[:, v]), ids)
        classes = [data.target_names[target] for target in data.target]
        _write_table(folder / "classes.csv", ["id", "class"], zip(ids, classes, strict=True))
        (folder / "card.md").write_text(data.card, encoding="utf-8")
    views = " ".join(f"--view {{0}}/{name}.npz" for name in data.views.names)
    _suggest_command(terminal, out, files, f"{views} --labels {{0}}/classes.csv -k {len(data.target_names)}")


def _write_view(path: Path, data: Dataset, name: str, rows: np.ndarray, ids: np.ndarray) -> None:
    """Write a sparse matrix in scipy's layout, or one array, with the names of rows and columns."""
    block, columns = data.views[name][rows], data.views.feature_names(name)
    arrays: dict[str, Any] = {"ids": ids[rows]} | ({} if columns is None else {"features": columns})
    if sp.issparse(block):
        arrays |= {"format": "csr", "shape": block.shape}
        arrays |= {"data": block.data, "indices": block.indices, "indptr": block.indptr}
    else:
        arrays["values"] = block
    np.savez_compressed(path, **arrays)


def _write_table(path: Path, header: list[str], rows: Iterable[Any]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(header)
        table.writerows(rows)


def _suggest_command(terminal: Terminal, out: Path, files: Iterable[str], arguments: str) -> None:
    terminal.outcome = f"the files are in {out}"
    folder = f"./{out}" if str(out).startswith("-") else str(out)  # must not look like an option
    command = f"consilience cluster {arguments.format(shlex.quote(folder))} --out {shlex.quote(f'{folder}-out')}"
    terminal.print_result(f"Written to {out}: {', '.join(files)}. Now try\n  {command}")
    terminal.print_json({"folder": str(out), "files": list(files), "command": command})
