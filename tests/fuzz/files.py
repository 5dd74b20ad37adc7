"""Damaged files of every format that the command reads."""

from __future__ import annotations

import gzip
import io
import os
import re
import resource
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from consilience.cli import main

from .case import ACCEPTED, REFUSED, Case, quiet, require

N = 24
MOST_MEMORY = 2**30  # bytes by which a small damaged file may raise the peak
IDS = [f"e{i:02d}" for i in range(N)]
GROUP = np.arange(N) % 3


def check(case: Case) -> str:
    """Damage one file and run a command on it; require a result, or one line that refuses it and leaves no trace."""
    name, arguments = case.choose(COMMANDS)
    data = damage(case, name, valid_files()[name])
    folder = case.folder
    for file, content in valid_files().items():
        (folder / file).write_bytes(content)
    (folder / name).write_bytes(data)
    command = [part.format(folder=folder, file=folder / name) for part in arguments.split()]
    case.note(file=name, command=" ".join(command), data=data[:400])
    return run_command(case, command, name)


def run_command(case: Case, command: list[str], name: str) -> str:
    """Run the command in this process and check its exit code, messages, files, children and memory."""
    folder = case.folder
    reset_peak_memory()
    before, children, peak = set(folder.iterdir()), child_processes(), peak_memory()
    scratch = folder / "scratch"
    scratch.mkdir()
    with capture_output(scratch) as streams:
        try:
            code: Any = main(command)
        except SystemExit as end:
            code = end.code
    out, err = streams
    case.note(code=code, stdout=out[-500:], stderr=err[-1500:], params_complaint=last_line(err))
    require(code in (0, 1, 2), f"exit code {code}: {last_line(err)}")
    require("Traceback" not in err + out, f"a traceback: {last_line(err)}")
    require(not any(scratch.iterdir()), f"temporary files are left: {[path.name for path in scratch.iterdir()]}")
    scratch.rmdir()
    left = child_processes() - children
    require(not left, f"child processes are left: {left}")
    grown = (peak_memory() - peak).max()
    require(grown < MOST_MEMORY, f"the peak of memory rose by {grown / 2**20:.0f} MiB: {last_line(err)}")
    new = {path.name for path in set(folder.iterdir()) - before}
    if code == 0:
        require(new <= {"out", "out.json", "out.csv"}, f"files beside the output are left: {new}")
        return ACCEPTED
    require(not new, f"refused, but wrote {new}")
    if code == 1:
        lines = [line for line in err.splitlines() if line.strip()]
        require(len(lines) == 1, f"{len(lines)} lines of refusal: {err[-300:]!r}")
        require(re.match(r"consilience: \S.{8}", lines[0]), f"an empty refusal: {lines[0]!r}")
        stem = name.partition(".")[0]
        named = stem in lines[0] or "--" in lines[0] or "view" in lines[0] or "entit" in lines[0]
        require(named, f"the refusal names neither file nor view: {lines[0]!r}")
    return REFUSED


def last_line(text: str) -> str:
    return (text.strip().splitlines() or [""])[-1][-200:]


def reset_peak_memory() -> None:
    """Set the peak of this process to the memory that it has now, where the system can do so (Linux)."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak_memory() -> np.ndarray:
    """Peaks of the resident memory in bytes: of this process since the last reset, and of its largest child so far.

    The peak of the children cannot be reset, so that a case counts only by how far it exceeds the largest before it.
    """
    unit = 1 if sys.platform == "darwin" else 1024
    scopes = resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN
    peaks = [unit * resource.getrusage(scope).ru_maxrss for scope in scopes]
    with suppress(OSError):
        match = re.search(r"^VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text(), re.MULTILINE)
        if match is not None:
            peaks[0] = 1024 * int(match[1])
    return np.array(peaks)


def child_processes() -> set[str]:
    """Command lines of the child processes, where the system lists them, without helpers of multiprocessing."""
    commands = set()
    for path in Path("/proc/self/task").glob("*/children"):
        for pid in path.read_text().split():
            with suppress(OSError):
                commands.add(Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " "))
    return {command for command in commands if "resource_tracker" not in command and "forkserver" not in command}


@contextmanager
def capture_output(scratch: Path) -> Iterator[list[str]]:
    """Catch what Python and compiled code write to standard output and error; temporary files go to `scratch`."""
    texts: list[str] = []
    kept, tempfile.tempdir = (tempfile.tempdir, os.environ.get("TMPDIR")), str(scratch)
    os.environ["TMPDIR"] = str(scratch)  # of child processes
    with tempfile.TemporaryFile(dir=scratch.parent) as raw_out, tempfile.TemporaryFile(dir=scratch.parent) as raw_err:
        saved = os.dup(1), os.dup(2)
        sys.stdout.flush()
        sys.stderr.flush()
        os.dup2(raw_out.fileno(), 1)
        os.dup2(raw_err.fileno(), 2)
        with (
            open(os.dup(1), "w", encoding="utf-8", errors="backslashreplace") as out,
            open(os.dup(2), "w", encoding="utf-8", errors="backslashreplace") as err,
        ):
            try:
                with redirect_stdout(out), redirect_stderr(err):
                    yield texts
            finally:
                out.flush()
                err.flush()
                for number, stream in enumerate(saved, 1):
                    os.dup2(stream, number)
                    os.close(stream)
                tempfile.tempdir = kept[0]
                os.environ.pop("TMPDIR")
                if kept[1] is not None:
                    os.environ["TMPDIR"] = kept[1]
                for raw in (raw_out, raw_err):
                    raw.seek(0)
                    texts.append(raw.read().decode("utf-8", "backslashreplace"))


# damage ---------------------------------------------------------------------------------------------------------------


def damage(case: Case, name: str, data: bytes) -> bytes:
    """Damage the content of a file in one to three ways; members of a zip archive are damaged inside half the time."""
    if name.endswith((".npz", ".zip")) and case.chance(0.5):
        return damage_member(case, data)
    if name.endswith(".gz") and case.chance(0.5):
        return gzip.compress(damage_bytes(case, gzip.decompress(data), text=True), mtime=0)
    return damage_bytes(case, data, text=name.endswith(TEXT))


def damage_bytes(case: Case, data: bytes, text: bool) -> bytes:
    kinds = (*ANY_DAMAGE, *TEXT_DAMAGE) if text else ANY_DAMAGE
    chosen = [case.choose(kinds) for _ in range(int(case.choose([1, 1, 1, 2, 3])))]
    case.note(damage=[function.__name__ for function in chosen])
    for function in chosen:
        data = function(case, data)
    return data


def damage_member(case: Case, data: bytes) -> bytes:
    """Damage one member of a zip archive, or drop, repeat or rename it; the archive itself stays sound."""
    members = read_zip(data)
    name = case.choose(members)
    change = case.choose(["damage", "damage", "damage", "drop", "rename", "empty"])
    if change == "damage":
        members[name] = damage_bytes(case, members[name], text=name.endswith(".json"))
    elif change == "empty":
        members[name] = b""
    else:
        content = members.pop(name)
        if change == "rename":
            members[case.choose(["../evil", "x", "", "a/b.npy"])] = content
    case.note(member=name, change=change)
    return write_zip(members)


def position(case: Case, data: bytes) -> int:
    """A place in the data, near the start half of the time, because headers matter most."""
    length = max(len(data), 1)
    return int(case.rng.integers(min(length, 200) if case.chance(0.5) else length))


def flip_bit(case: Case, data: bytes) -> bytes:
    at = position(case, data)
    return data[:at] + bytes(b ^ (1 << int(case.rng.integers(8))) for b in data[at : at + 1]) + data[at + 1 :]


def set_byte(case: Case, data: bytes) -> bytes:
    at = position(case, data)
    return data[:at] + bytes([int(case.choose([0, 255, 127, 128, 10, 13, 34, 44, 9]))]) + data[at + 1 :]


def cut_end(case: Case, data: bytes) -> bytes:
    return data[: position(case, data)]


def cut_part(case: Case, data: bytes) -> bytes:
    at = position(case, data)
    return data[:at] + data[at + int(case.rng.integers(1, 64)) :]


def insert_bytes(case: Case, data: bytes) -> bytes:
    at = position(case, data)
    return data[:at] + case.rng.bytes(int(case.rng.integers(1, 32))) + data[at:]


def repeat_part(case: Case, data: bytes) -> bytes:
    at = position(case, data)
    part = data[at : at + int(case.rng.integers(1, 200))]
    return data[:at] + part * int(case.choose([2, 3, 50])) + data[at + len(part) :]


def zero_part(case: Case, data: bytes) -> bytes:
    at, length = position(case, data), int(case.rng.integers(1, 64))
    return data[:at] + bytes(min(length, len(data) - at)) + data[at + length :]


def swap_parts(case: Case, data: bytes) -> bytes:
    first, second = sorted((position(case, data), position(case, data)))
    length = min(int(case.rng.integers(1, 64)), second - first)
    parts = data[:first], data[second : second + length], data[first + length : second], data[first : first + length]
    return b"".join(parts) + data[second + length :]


def append_bytes(case: Case, data: bytes) -> bytes:
    return data + case.choose([b"\x00" * 100, b"\n\n\n", data, case.rng.bytes(50)])


def replace_all(case: Case, data: bytes) -> bytes:
    return case.choose([b"", b"\n", b"\x00", b"PK\x03\x04", b"\x93NUMPY\x01\x00", b"\x89HDF\r\n\x1a\n", b"PAR1", b"{}"])


def change_number(case: Case, data: bytes) -> bytes:
    """Replace one of the numbers near the start, such as a size that the header announces."""
    numbers = list(re.finditer(rb"-?\d+(\.\d+)?", data[:2000]))
    if not numbers:
        return data
    match = case.choose(numbers)
    new = case.choose([b"0", b"-1", b"1", b"7", b"200000000", b"99999999999999999999", b"1e400", b"nan", b"inf", b"x"])
    return data[: match.start()] + new + data[match.end() :]


def recode(case: Case, data: bytes) -> bytes:
    text = data.decode("utf-8", "replace") + "é"
    return text.encode(case.choose(["utf-16", "utf-16-le", "utf-8-sig", "latin-1", "cp500", "utf-32"]), "replace")


def change_line_ends(case: Case, data: bytes) -> bytes:
    parts = re.split(rb"\r?\n", data)
    ends = [case.choose([b"\n", b"\r\n", b"\r", b"\n\n", b"\x0b", "\u2028".encode()]) for _ in parts[1:]]
    return b"".join(part + end for part, end in zip(parts, [*ends, b""], strict=True))


def swap_lines(case: Case, data: bytes) -> bytes:
    lines = data.split(b"\n")
    a, b = case.rng.integers(len(lines), size=2)
    lines[a], lines[b] = lines[b], lines[a]
    return b"\n".join(lines)


def repeat_line(case: Case, data: bytes) -> bytes:
    lines = data.split(b"\n")
    at = int(case.rng.integers(len(lines)))
    return b"\n".join([*lines[:at], lines[at], *lines[at:]])


def insert_text(case: Case, data: bytes) -> bytes:
    at = position(case, data)
    texts = ['"', '"""', ",", "\t", ";", "nan", "NULL", "=1+1", "\u202e", "\ufeff", "{", "]", "%", "#", "1:1", "\r"]
    return data[:at] + case.choose(texts).encode() + data[at:]


ANY_DAMAGE = (
    flip_bit,
    set_byte,
    cut_end,
    cut_part,
    insert_bytes,
    repeat_part,
    zero_part,
    swap_parts,
    append_bytes,
    replace_all,
    change_number,
)
TEXT_DAMAGE = (recode, change_line_ends, swap_lines, repeat_line, insert_text, change_number)
TEXT = (".csv", ".tsv", ".jsonl", ".mtx", ".svmlight", ".json")


# sound files ----------------------------------------------------------------------------------------------------------


@cache
def valid_files() -> dict[str, bytes]:
    """Small sound files of every format, by name; the same bytes in every run."""
    with tempfile.TemporaryDirectory() as folder, quiet():
        return make_files(Path(folder))


def make_files(folder: Path) -> dict[str, bytes]:
    import polars as pl

    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(N, 3)) + 6 * GROUP[:, None], 3)
    S = sp.csr_array(np.where(rng.random((N, 5)) < 0.5, rng.poisson(3, (N, 5)) + 1, 0) + np.eye(3, 5)[GROUP] * 9)
    rows = [[name, *row, "xyz"[group]] for name, row, group in zip(IDS, X.tolist(), GROUP, strict=True)]
    files = {
        "table.csv": delimited(["id", "a", "b", "c", "kind"], rows, ","),
        "table.tsv": delimited(["id", "a", "b", "c", "kind"], rows, "\t"),
        "words.csv": delimited(
            ["id", "text"],
            [[e, '"the ' + ["red", "blue", "tall"][g] + ' , one"'] for e, g in zip(IDS, GROUP, strict=True)],
            ",",
        ),
        "labels.csv": delimited(["id", "class"], [[e, "xyz"[g]] for e, g in zip(IDS, GROUP, strict=True)], ","),
        "links.csv": delimited(["source", "target"], [[IDS[i], IDS[(i + 3) % N]] for i in range(N)], ","),
        "pairs.csv": delimited(
            ["first", "second", "type", "weight"], [["e00", "e03", "must", 1], ["e00", "e01", "cannot", 0.5]], ","
        ),
    }
    files["packed.csv.gz"] = gzip.compress(files["table.csv"], mtime=0)
    lines = [
        f'{{"id": "{e}", "a": {x[0]}, "tags": ["t{g}", "u"], "vector": [{x[1]}, {x[2]}]}}\n'
        for e, x, g in zip(IDS, X.tolist(), GROUP, strict=True)
    ]
    files["lines.jsonl"] = "".join(lines).encode()
    files["market.mtx"] = b"%%MatrixMarket matrix coordinate real general\n" + market(S)
    files["light.svmlight"] = "".join(
        f"{g} " + " ".join(f"{j + 1}:{v}" for j, v in enumerate(x)) + "\n"
        for g, x in zip(GROUP, X.tolist(), strict=True)
    ).encode()
    np.save(folder / "array.npy", X)
    sp.save_npz(folder / "sparse.npz", S)
    np.savez(folder / "named.npz", x=X, ids=np.array(IDS))
    pl.DataFrame(rows, schema=["id", "a", "b", "c", "kind"], orient="row").write_parquet(folder / "table.parquet")
    write_annotated(folder, X)
    for name in ("array.npy", "sparse.npz", "named.npz", "table.parquet", "cells.h5ad", "cells.h5mu"):
        content = (folder / name).read_bytes()
        files[name] = write_zip(read_zip(content)) if name.endswith(".npz") else content
    (folder / "table.csv").write_bytes(files["table.csv"])
    arguments = ["cluster", "--view", f"table={folder / 'table.csv'}:a,b,c", "-k", "3", "--no-assess", "--quiet"]
    require(main([*arguments, "--out", str(folder / "run")]) == 0, "the sound table is refused")
    files["model.zip"] = write_zip(read_zip((folder / "run" / "model.zip").read_bytes()))
    return files


def write_annotated(folder: Path, X: np.ndarray) -> None:
    import anndata
    import mudata
    import pandas as pd

    parts = {
        name: anndata.AnnData(values.astype(np.float32), obs=pd.DataFrame({"kind": list("xyz" * (N // 3))}, index=IDS))
        for name, values in (("rna", X), ("protein", X[:, :2] + 1))
    }
    parts["rna"].write(folder / "cells.h5ad")
    mudata.MuData(parts).write(folder / "cells.h5mu")


def delimited(header: list[str], rows: list[list[Any]], mark: str) -> bytes:
    return "".join(mark.join(map(str, row)) + "\n" for row in [header, *rows]).encode()


def market(S: sp.csr_array) -> bytes:
    X = S.tocoo()
    body = "".join(f"{i + 1} {j + 1} {v}\n" for i, j, v in zip(*X.coords, X.data, strict=True))
    return f"{X.shape[0]} {X.shape[1]} {X.nnz}\n{body}".encode()


def read_zip(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write_zip(members: dict[str, bytes]) -> bytes:
    """An archive with a fixed date, so that a seed always makes the same file."""
    buffer = io.BytesIO()
    with quiet(), zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return buffer.getvalue()


def commands() -> list[tuple[str, str]]:
    """The damaged file and the command line that reads it."""
    views = ["table.csv", "table.tsv", "packed.csv.gz", "lines.jsonl", "words.csv", "table.parquet", "array.npy"]
    views += ["sparse.npz", "named.npz", "market.mtx", "light.svmlight", "cells.h5ad"]
    beside = "--view other={folder}/table.csv:a,b"
    tail = "-k 3 --no-assess --out {folder}/out --quiet"
    listed = [(name, f"cluster --view v={{file}} {tail}") for name in views]
    listed += [(name, f"cluster --view v={{file}} --labels kind {tail}") for name in views[:2]]
    return [
        *listed,
        ("cells.h5mu", f"cluster --view {{file}} --labels kind {tail}"),
        ("links.csv", f"cluster --view links={{file}} {beside} --id id {tail}"),
        ("labels.csv", f"cluster {beside} --labels {{file}} {tail}"),
        ("pairs.csv", f"cluster {beside} --constraints {{file}} {tail}"),
        ("table.csv", f"compare --view v={{file}} {beside} --refits 0 -k 3 --out {{folder}}/out.json --quiet"),
        ("model.zip", "predict {file} --view table={folder}/table.csv --out {folder}/out.csv --quiet"),
        ("table.csv", "predict {folder}/model.zip --view table={file} --out {folder}/out.csv --quiet"),
    ]


COMMANDS: list[tuple[str, str]] = commands()
