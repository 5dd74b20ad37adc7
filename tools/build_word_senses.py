"""Write the word senses that ship with the package from WordNet's own files.

    python tools/build_word_senses.py /usr/share/wordnet src/consilience/datasets/word_senses.tsv.gz

The folder is that of WordNet 3.0 (Debian: package wordnet-base). The same files give the same bytes.
"""

from __future__ import annotations

import argparse
import gzip
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# lexicographer files of things one can touch or stand on, by WordNet's number for them
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
LEAST_NEIGHBOURS = 7  # which leaves about three thousand synsets
# kind of, instance of; member, substance and part of; in the domain of a topic, region or usage. The pointers that
# say the inverse would give each link twice; antonyms and derivations hold between words, not between synsets.
UPWARD = {"@", "@i", "#m", "#s", "#p", ";c", ";r", ";u"}
SLIPS = {("austronesia.n.01", "polynesia.n.01")}  # WordNet has each a part of the other; Polynesia is the part


@dataclass(frozen=True)
class Synset:
    """One record of data.noun; pointers are (symbol, offset) of other nouns."""

    offset: str
    file_number: int
    words: list[str]
    pointers: list[tuple[str, str]]
    gloss: str


def records(path: Path) -> Iterator[str]:
    """The lines of a WordNet file below its licence, which is indented."""
    with path.open(encoding="utf-8") as lines:
        yield from (line for line in lines if not line.startswith("  "))


def parse(record: str) -> Synset:
    """Read a line of data.noun (WordNet's manual, wndb(5WN))."""
    head, _, gloss = record.partition("|")
    offset, file_number, _, n_words, *fields = head.split()
    n = 2 * int(n_words, 16)  # each word with its number within the lexicographer file
    rest = fields[n + 1 :]
    pointers = zip(rest[0::4], rest[1::4], rest[2::4], strict=False)
    return Synset(
        offset=offset,
        file_number=int(file_number),
        words=fields[0:n:2],
        pointers=[(symbol, target) for symbol, target, part_of_speech in pointers if part_of_speech == "n"],
        gloss=without_examples(gloss),
    )


def without_examples(gloss: str) -> str:
    """The definition alone: examples are the parts between semicolons that begin with a quotation mark."""
    parts = [part.strip() for part in re.findall(r'(?:"[^"]*"|[^;"])+', gloss)]
    return "; ".join(part for part in parts if part and not part.startswith('"'))


def sense_numbers(path: Path) -> dict[tuple[str, str], int]:
    """Which sense of a word a synset is, by (word in lower case, offset): index.noun lists them in order."""
    numbers = {}
    for line in records(path):
        word, _, n_senses, *fields = line.split()
        for number, offset in enumerate(fields[-int(n_senses) :], start=1):
            numbers[word, offset] = number
    return numbers


def is_chosen(synset: Synset) -> bool:
    """The rule of choice: a synset of the eight kinds, linked with enough other nouns whatever they are."""
    neighbours = {target for _, target in synset.pointers} - {synset.offset}
    return synset.file_number in KINDS and len(neighbours) >= LEAST_NEIGHBOURS


def rows(folder: Path) -> Iterator[tuple[str, ...]]:
    """The rows of the table, in the order of their ids."""
    numbers = sense_numbers(folder / "index.noun")
    chosen = [synset for synset in map(parse, records(folder / "data.noun")) if is_chosen(synset)]
    ids = {}
    for synset in chosen:
        word = synset.words[0].lower()
        ids[synset.offset] = f"{word}.n.{numbers[word, synset.offset]:02d}"
    yield "id", "kind", "lemmas", "gloss", "links"
    for synset in sorted(chosen, key=lambda synset: ids[synset.offset]):
        own, lemmas = ids[synset.offset], ", ".join(synset.words).replace("_", " ")
        links = {ids[target] for symbol, target in synset.pointers if symbol in UPWARD and target in ids}
        links = {target for target in links if (own, target) not in SLIPS}
        yield own, KINDS[synset.file_number], lemmas, synset.gloss, " ".join(sorted(links))


def write(folder: Path, path: Path) -> None:
    """Write the table, compressed, with neither time nor name of the file in it."""
    text = "".join("\t".join(row) + "\n" for row in rows(folder))
    with path.open("wb") as raw, gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as packed:
        packed.write(text.encode())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Write the word senses that ship with the package.")
    parser.add_argument("folder", type=Path, help="folder of WordNet 3.0's files, with data.noun and index.noun")
    parser.add_argument("output", type=Path, help="file to write, word_senses.tsv.gz")
    given = parser.parse_args()
    write(given.folder, given.output)
