"""Check that names, docstrings and comments can be skimmed: ``python tools/check_names.py [--list]``.

Each rule counts places that slow a reader down. `LIMITS` states how many places each folder may have; the check fails
if a folder has more. Lower a limit when places were removed; do not raise one. ``--list`` shows every place.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

VAGUE_NAME = "vague names of variables"
PARTICIPLE = "functions named by a participle"
PERSON = "data described as persons"
A_FOR_PER = '"a" in place of "per"'
THE_SAME = 'docstrings that begin with "The same"'
DUPLICATE = "top-level names defined in several files"
RULES = (VAGUE_NAME, PARTICIPLE, PERSON, A_FOR_PER, THE_SAME, DUPLICATE)

# Largest number of places per folder, in the order of RULES; None: no limit. Test files and benchmarks are separate
# programs, in which names may repeat.
LIMITS: dict[str, tuple[int | None, ...]] = {
    "src/consilience": (0, 3, 0, 2, 0, 10),
    "tests": (6, 10, 1, 0, 0, None),
    "benchmarks": (0, 0, 0, 0, 0, 4),
    "reproduction": (0, 0, 0, 0, 0, 2),
    "examples": (0, 0, 0, 0, 0, 0),
    "docs": (0, 0, 0, 0, 0, 1),  # each extension of Sphinx has a function `setup`
    "tools": (0, 0, 0, 0, 0, 0),
}

VAGUE_NAMES = {
    "own", "one", "found", "there", "known", "some", "asked", "held", "said", "such", "given", "came", "here", "away",
}  # fmt: skip
IRREGULAR_PARTICIPLES = {
    "bound", "brought", "built", "chosen", "cut", "done", "drawn", "found", "given", "held", "kept", "known", "laid",
    "left", "made", "seen", "shown", "spoken", "swept", "taken", "told", "written",
}  # fmt: skip
NOT_PARTICIPLES = {"seed", "embed", "feed", "need", "shed", "speed", "bed", "red", "proceed", "exceed", "fed"}
PERSON_PATTERN = re.compile(r"\b(?:whom?ever|(?:no|some|every|any)body)(?:'s)?\b", re.IGNORECASE)
COUNTED = (
    "rows?|numbers?|lines?|labels?|columns?|values?|one|pass|rounds?|chunks?|blocks?|files?|shares?|distribution|family|"
    "cells?|starts?|turns?|variance|matrix|class|reader|registration|budget|memory|threads?"
)
UNITS = (
    "round|view|row|entity|cluster|column|chunk|shard|file|batch|label|line|run|set|method|fit|paper|study|start|kind|"
    "storage"
)
A_FOR_PER_PATTERN = re.compile(rf"\b(?:{COUNTED}) an? (?:{UNITS})\b")

Places = dict[str, list[str]]


def find_places(folder: Path) -> Places:
    """Return the places per rule in all Python files below a folder."""
    places: Places = defaultdict(list)
    definitions: dict[str, set[str]] = defaultdict(set)
    for path in sorted(folder.rglob("*.py")):
        source, file = path.read_text(encoding="utf-8"), path.relative_to(folder).as_posix()
        tree = ast.parse(source)
        for rule, line, text in [*check_tree(tree), *check_lines(source)]:
            places[rule].append(f"{file}:{line} {text}")
        for node in tree.body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("__"):
                definitions[node.name].add(file)
    for name, files in sorted(definitions.items()):
        if len(files) > 1:
            places[DUPLICATE].append(f"{name}: {', '.join(sorted(files))}")
    return places


def check_tree(tree: ast.Module) -> Iterator[tuple[str, int, str]]:
    """Yield rule, line and text of the places that the syntax tree shows."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and is_participle(node.name) and not node.decorator_list:
            yield PARTICIPLE, node.lineno, node.name
    for node in ast.walk(tree):
        match node:
            case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()) if name in VAGUE_NAMES:
                yield VAGUE_NAME, node.lineno, name
            case ast.Module() | ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                docstring = ast.get_docstring(node) or ""
                if docstring.startswith("The same"):
                    yield THE_SAME, getattr(node, "lineno", 1), docstring.splitlines()[0]


def check_lines(source: str) -> Iterator[tuple[str, int, str]]:
    """Yield rule, line and text of the places that the words of a line show."""
    for number, line in enumerate(source.splitlines(), start=1):
        for rule, pattern in ((PERSON, PERSON_PATTERN), (A_FOR_PER, A_FOR_PER_PATTERN)):
            if pattern.search(line):
                yield rule, number, line.strip()


def is_participle(name: str) -> bool:
    """Whether the first word of a name is a past participle."""
    word = name.strip("_").split("_")[0]
    return word in IRREGULAR_PARTICIPLES or (word.endswith("ed") and len(word) > 4 and word not in NOT_PARTICIPLES)


def report(folders: Iterable[str], list_places: bool) -> list[str]:
    """Print counts and limits per folder, and return the rules that are broken."""
    broken = []
    for folder in folders:
        places = find_places(ROOT / folder)
        print(folder)
        for rule, limit in zip(RULES, LIMITS[folder], strict=True):
            count = len(places[rule])
            print(f"  {rule:45s} {count:5d}" + (f"  of at most {limit}" if limit is not None else ""))
            too_many = limit is not None and count > limit
            if too_many:
                broken.append(f"{folder}: {count} {rule}, at most {limit} allowed")
            if list_places or too_many:
                print("".join(f"      {place}\n" for place in places[rule]), end="")
    return broken


def main() -> int:
    """Check the folders and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", default=list(LIMITS), help=f"of {', '.join(LIMITS)} (default: all)")
    parser.add_argument("--list", action="store_true", help="show every place")
    options = parser.parse_args()
    if unknown := [folder for folder in options.folders if folder not in LIMITS]:
        parser.error(f"no limits for {', '.join(unknown)}; there are limits for {', '.join(LIMITS)}")
    broken = report(options.folders, options.list)
    print("\n".join(broken) or "All counts are within their limits.")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
