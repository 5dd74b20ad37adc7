"""Run all methods on all data sets, each pair in a child process, and write the results to a file line by line.

A pair is *done* when it ran with all seeds, failed, or exceeded its time. Pairs that are done are not run again, unless
the time was exceeded and the limit is larger now. An interrupted pair continues with the missing seeds. An error, a
crash or a timeout is recorded, and the run continues.
"""

from __future__ import annotations

import json
import multiprocessing
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from .child import run_child
from .sets import get_prepared_file

# children are forked from a server process that has the libraries loaded
CONTEXT = multiprocessing.get_context(
    "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
)
START_SECONDS = 300.0  # seconds for imports and for the data
Record = dict[str, Any]


@dataclass(frozen=True)
class Limits:
    """Limits on seeds and time."""

    n_seeds: int = 10
    fit: float = 300.0  # seconds for one fit
    pair: float = 600.0  # seconds for a method on a data set, after which no further seed starts


def run_comparison(
    folder: Path,
    sets: Mapping[str, Callable[[], Any]],
    methods: Sequence[str],
    limits: Limits,
    catalogue: str = "benchmarks.modern.methods",
    say: Callable[[str], None] = print,
) -> None:
    """Append the missing results to ``records.jsonl`` in the folder."""
    catalog = import_module(catalogue).METHODS
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "records.jsonl"
    records = read_records(path)
    packages = dict.fromkeys(package for name in methods for package in catalog[name].needs)
    CONTEXT.set_forkserver_preload([run_child.__module__, catalogue, *packages])
    for name in methods:
        for data, load in sets.items():
            left = _seeds_left(records, name, catalog[name], data, limits)
            if not left:
                continue
            try:
                file = get_prepared_file(folder, data, load)
            except Exception as error:  # a data set that cannot be loaded is recorded, too
                messages: Iterable[Record] = [{"failed": f"no data: {error}"}, {"done": "failed"}]
            else:
                messages = watch_child(catalogue, name, file, left, limits)
            with path.open("a") as out:
                for message in messages:
                    record = {"method": name, "set": data, **message}
                    out.write(json.dumps(record) + "\n")
                    out.flush()
                    say(format_record(record))


def read_records(path: Path) -> list[Record]:
    """Read the records of a file; an incomplete last line is dropped."""
    if not path.exists():
        return []
    text = path.read_text()
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        path.write_text(whole)
    return [json.loads(line) for line in whole.splitlines()]


def _seeds_left(records: Iterable[Record], name: str, method: Any, data: str, limits: Limits) -> list[int]:
    pair_records = [record for record in records if (record["method"], record["set"]) == (name, data)]
    if any(_is_done(record, limits) for record in pair_records):
        return []
    fitted = [record["seed"] for record in pair_records if "seed" in record]
    seeds = range(limits.n_seeds if method.random else 1)
    return [seed for seed in seeds if fitted.count(seed) < len(method.lines)]


def _is_done(record: Record, limits: Limits) -> bool:
    """Whether a record ends its pair; a timeout does not if the limit is larger now."""
    if "done" not in record or record["done"] == "all seeds":
        return False  # decided by the number of seeds
    return record.get("fit", limits.fit) >= limits.fit and record.get("pair", limits.pair) >= limits.pair


def watch_child(catalogue: str, name: str, file: Path, seeds: Sequence[int], limits: Limits) -> Iterator[Record]:
    """Yield the messages of a child process about its fits, and how it ended."""
    receiver, sender = CONTEXT.Pipe(duplex=False)
    child = CONTEXT.Process(target=run_child, args=(sender, catalogue, name, file, list(seeds)), daemon=True)
    child.start()
    sender.close()
    began, patience, what = None, START_SECONDS, "no start"
    try:
        while True:
            if not receiver.poll(patience):
                yield {"failed": f"{what} within {patience:.0f} s"}
                yield {"done": "failed", "fit": limits.fit}
                return
            try:
                message = receiver.recv()
            except EOFError:
                child.join()
                yield {"failed": f"crashed, exit status {child.exitcode}"}
                yield {"done": "failed"}
                return
            if message is None:
                yield {"done": "all seeds"}
                return
            began = began or time.monotonic()
            patience, what = limits.fit, "no result"
            if "failed" in message:
                yield message
                yield {"done": "failed"}
                return
            if "line" in message:
                yield message
            if time.monotonic() - began > limits.pair and message.get("last") and message["seed"] != seeds[-1]:
                yield {"done": "no time for more seeds", "pair": limits.pair}
                return
    finally:
        child.kill()
        child.join()
        receiver.close()


def format_record(record: Record) -> str:
    """Format a record for the terminal."""
    where = f"{record['set']}, {record.get('line', record['method'])}"
    if "nmi" in record:
        return f"{where}, seed {record['seed']}: NMI {record['nmi']:.3f}, {record['cpu']:.1f} s"
    return f"{where}: failed: {record['failed']}" if "failed" in record else f"{where}: done, {record['done']}"
