"""All methods on all sets, each pair in a child process; what they found goes to a file, line by line.

A pair is *done* when it ran with all seeds, failed, or used up its time; what is done is not run again, unless it was
time that ran out and there is more of it now. A pair that was interrupted goes on with the seeds that it lacks. An
error, a crash or a fit that takes too long is a line like any other, and not the end.
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

from .child import work
from .sets import prepared_file

# children are forked from a server that has the libraries loaded and nothing running
CONTEXT = multiprocessing.get_context(
    "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
)
TO_START = 300.0  # seconds for imports and for the data
Record = dict[str, Any]


@dataclass(frozen=True)
class Limits:
    """When enough is enough."""

    n_seeds: int = 10
    fit: float = 300.0  # seconds for one fit
    pair: float = 600.0  # seconds for the fits of a method on a set, after which no further seed is begun


def run(
    folder: Path,
    sets: Mapping[str, Callable[[], Any]],
    methods: Sequence[str],
    limits: Limits,
    catalogue: str = "benchmarks.modern.methods",
    say: Callable[[str], None] = print,
) -> None:
    """Append what is not yet there to ``records.jsonl`` in the folder."""
    known = import_module(catalogue).METHODS
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "records.jsonl"
    records = read(path)
    packages = dict.fromkeys(package for name in methods for package in known[name].needs)
    CONTEXT.set_forkserver_preload([work.__module__, catalogue, *packages])
    for name in methods:
        for data, load in sets.items():
            left = _seeds_left(records, name, known[name], data, limits)
            if not left:
                continue
            try:
                file = prepared_file(folder, data, load)
            except Exception as error:  # a set that cannot be had is a line, too
                found: Iterable[Record] = [{"failed": f"no data: {error}"}, {"done": "failed"}]
            else:
                found = watched(catalogue, name, file, left, limits)
            with path.open("a") as out:
                for one in found:
                    record = {"method": name, "set": data, **one}
                    out.write(json.dumps(record) + "\n")
                    out.flush()
                    say(shown(record))


def read(path: Path) -> list[Record]:
    """The records of a file; a last line that was cut short is dropped."""
    if not path.exists():
        return []
    text = path.read_text()
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        path.write_text(whole)
    return [json.loads(line) for line in whole.splitlines()]


def _seeds_left(records: Iterable[Record], name: str, method: Any, data: str, limits: Limits) -> list[int]:
    own = [record for record in records if (record["method"], record["set"]) == (name, data)]
    if any(_is_done(record, limits) for record in own):
        return []
    fitted = [record["seed"] for record in own if "seed" in record]
    seeds = range(limits.n_seeds if method.random else 1)
    return [seed for seed in seeds if fitted.count(seed) < len(method.lines)]


def _is_done(record: Record, limits: Limits) -> bool:
    """Whether a record ends its pair: not if time ran out that would be there now."""
    if "done" not in record or record["done"] == "all seeds":
        return False  # seeds are counted
    return record.get("fit", limits.fit) >= limits.fit and record.get("pair", limits.pair) >= limits.pair


def watched(catalogue: str, name: str, file: Path, seeds: Sequence[int], limits: Limits) -> Iterator[Record]:
    """What a child says about its fits, and how it ended."""
    here, there = CONTEXT.Pipe(duplex=False)
    child = CONTEXT.Process(target=work, args=(there, catalogue, name, file, list(seeds)), daemon=True)
    child.start()
    there.close()
    began, patience, what = None, TO_START, "no start"
    try:
        while True:
            if not here.poll(patience):
                yield {"failed": f"{what} within {patience:.0f} s"}
                yield {"done": "failed", "fit": limits.fit}
                return
            try:
                one = here.recv()
            except EOFError:
                child.join()
                yield {"failed": f"crashed, exit status {child.exitcode}"}
                yield {"done": "failed"}
                return
            if one is None:
                yield {"done": "all seeds"}
                return
            began = began or time.monotonic()
            patience, what = limits.fit, "no result"
            if "failed" in one:
                yield one
                yield {"done": "failed"}
                return
            if "line" in one:
                yield one
            if time.monotonic() - began > limits.pair and one.get("last") and one["seed"] != seeds[-1]:
                yield {"done": "no time for more seeds", "pair": limits.pair}
                return
    finally:
        child.kill()
        child.join()
        here.close()


def shown(record: Record) -> str:
    """A record for those who watch."""
    where = f"{record['set']}, {record.get('line', record['method'])}"
    if "nmi" in record:
        return f"{where}, seed {record['seed']}: NMI {record['nmi']:.3f}, {record['cpu']:.1f} s"
    return f"{where}: failed: {record['failed']}" if "failed" in record else f"{where}: done, {record['done']}"
