"""Build the word senses that ship with the package from the files of WordNet.

    python tools/build_word_senses.py /usr/share/wordnet src/consilience/datasets/word_senses.tsv.gz

The folder is that of WordNet 3.0 (Debian: package wordnet-base). The output is reproducible byte for byte.
"""

from __future__ import annotations

import argparse
import gzip
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# lexicographer files of physical things, by their number in WordNet
KINDS = {
    5: "noun.animal",
    6: "noun.artifact",
    8: "noun.body",
    13: "noun.food",
    15: "noun.location",
    18: "noun.person",
    20: "noun.plant",
    27: "noun.substance",
}
MIN_NEIGHBORS = 7  # gives about three thousand synsets
# Pointers for kind of, instance of, member, substance and part of, and domain (topic, region, usage). Inverse pointers
# would give each link twice; antonyms and derivations link words, not synsets.
UPWARD = {"@", "@i", "#m", "#s", "#p", ";c", ";r", ";u"}
SLIPS = {("austronesia.n.01", "polynesia.n.01")}  # WordNet lists each as part of the other; Polynesia is the part


@dataclass(frozen=True)
class Synset:
    """One record of data.noun; pointers are (symbol, offset) of other nouns."""

    offset: str
    file_number: int
    words: list[str]
    pointers: list[tuple[str, str]]
    gloss: str


def read_records(path: Path) -> Iterator[str]:
    """Yield the lines of a WordNet file below its license, which is indented."""
    with path.open(encoding="utf-8") as lines:
        yield from (line for line in lines if not line.startswith("  "))


def parse(record: str) -> Synset:
    """Read a line of data.noun (WordNet's manual, wndb(5WN))."""
    head, _, gloss = record.partition("|")
    offset, file_number, _, n_words, *fields = head.split()
    n = 2 * int(n_words, 16)  # each word is followed by its number in the lexicographer file
    rest = fields[n + 1 :]
    pointers = zip(rest[0::4], rest[1::4], rest[2::4], strict=False)
    return Synset(
        offset=offset,
        file_number=int(file_number),
        words=fields[0:n:2],
        pointers=[(symbol, target) for symbol, target, part_of_speech in pointers if part_of_speech == "n"],
        gloss=remove_examples(gloss),
    )


def remove_examples(gloss: str) -> str:
    """Remove examples: the parts between semicolons that begin with a quotation mark."""
    parts = [part.strip() for part in re.findall(r'(?:"[^"]*"|[^;"])+', gloss)]
    return "; ".join(part for part in parts if part and not part.startswith('"'))


def read_sense_numbers(path: Path) -> dict[tuple[str, str], int]:
    """Return the sense numbers by (lower-case word, offset), from the order in index.noun."""
    numbers = {}
    for line in read_records(path):
        word, _, n_senses, *fields = line.split()
        for number, offset in enumerate(fields[-int(n_senses) :], start=1):
            numbers[word, offset] = number
    return numbers


def is_selected(synset: Synset) -> bool:
    """Select synsets of the eight kinds with enough links to other nouns of any kind."""
    neighbors = {target for _, target in synset.pointers} - {synset.offset}
    return synset.file_number in KINDS and len(neighbors) >= MIN_NEIGHBORS


def make_rows(folder: Path) -> Iterator[tuple[str, ...]]:
    """Yield the rows of the table, sorted by id."""
    numbers = read_sense_numbers(folder / "index.noun")
    chosen = [synset for synset in map(parse, read_records(folder / "data.noun")) if is_selected(synset)]
    ids = {}
    for synset in chosen:
        word = synset.words[0].lower()
        ids[synset.offset] = f"{word}.n.{numbers[word, synset.offset]:02d}"
    yield "id", "kind", "lemmas", "gloss", "links"
    for synset in sorted(chosen, key=lambda synset: ids[synset.offset]):
        synset_id, lemmas = ids[synset.offset], ", ".join(synset.words).replace("_", " ")
        links = {ids[target] for symbol, target in synset.pointers if symbol in UPWARD and target in ids}
        links = {target for target in links if (synset_id, target) not in SLIPS}
        yield synset_id, KINDS[synset.file_number], lemmas, synset.gloss, " ".join(sorted(links))


def write(folder: Path, path: Path) -> None:
    """Write the compressed table without time stamp and file name."""
    text = "".join("\t".join(row) + "\n" for row in make_rows(folder))
    with path.open("wb") as raw, gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as packed:
        packed.write(text.encode())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Write the word senses that ship with the package.")
    parser.add_argument("folder", type=Path, help="folder of WordNet 3.0's files, with data.noun and index.noun")
    parser.add_argument("output", type=Path, help="file to write, word_senses.tsv.gz")
    options = parser.parse_args()
    write(options.folder, options.output)
