"""Names of clusters that the user gives, and the noun for the entities."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .._describe import describe_value
from ..explain.namer import check_name
from ..files import InputFiles, ViewContent, read_table
from ..files.formats import parse_path, read_document, split_sheet
from ..files.spec import split_columns

EXPECTED = "columns 'cluster' (a number or a present name) and 'name' (the new name)"
ITEMS = "items"  # noun if the names of files tell nothing
IRREGULAR = {"people", "children", "women", "men", "mice"}  # plurals without an s
NOT_NOUNS = re.compile(  # plurals that say how data is stored or used
    "news|results|features|values|numbers|counts|columns|views|labels|links|edges|relations|classes|clusters|groups|"
    "files|settings|statistics|stats|details|params|weights|scores|embeddings|vectors|dims|dimensions|components|"
    "similarities|distances|matches|pairs|series|lists|tables|sheets|exports|inputs|outputs|tests|uploads|downloads"
)
# Names of files and columns are often clipped, and words of four letters more often than not: of these only usual nouns
# are taken. "1,000 recs" is worse than "1,000 items".
SHORT_NOUNS = re.compile(
    "(?:act|ad|ant|app|art|bag|bar|bat|bed|bee|bid|bug|car|cat|cow|cup|day|dog|egg|fan|fee|gem|gun|hat|hen|job|kid|key|lab|"
    "law|map|owl|pen|pet|pie|pig|pot|pub|rat|toy|van|war)s"
)
CLIPPED = re.compile(
    "(?:prod|cust|dept|acct|attr|addr|elem|feat|desc|spec|conf|temp|perm|info|inst|indiv|resp|samp|subj|sess|proj|publ|"
    "appt|meas|quer|univ|govt|corp|comm|categ|transac|recom|recomm|docu|artic|eval|param|dimen|coord|seq)s"
)
NOT_THINGS = {"unique", "index", "global", "internal", "external", "local", "new", "old", "main", "own"}  # before _id
# id columns that say what the entities are without _id
THINGS = {
    *("article", "book", "cell", "city", "company", "country", "customer", "document", "film", "gene", "item", "movie"),
    *("order", "paper", "patient", "photo", "product", "protein", "recipe", "review", "sample", "song", "student"),
    *("subject", "ticket", "user"),
}
SINGULAR_ENDINGS = ("ss", "us", "is", "os")
VOWELS = "aeiouy"


def read_names(names: str | Mapping[Any, Any] | None) -> dict[str, str]:
    """Read new names of clusters from a table, a JSON file or a mapping: by the number or the present name."""
    match names:
        case None:
            return {}
        case str():
            path = parse_path(names)
            pairs = _read_object(path) if path.suffix.lower() == ".json" else _read_table(path)
            origin = f"{path} (--names)"
        case _:
            pairs, origin = [(str(key), value) for key, value in names.items()], "--names"
    new_names: dict[str, str] = {}
    for key, value in pairs:
        try:
            name = check_name(value)
        except (TypeError, ValueError) as error:
            raise type(error)(f"{origin}, cluster {key!r}: {error}") from None
        if new_names.setdefault(key.strip(), name) != name:
            raise ValueError(f"{origin} names the cluster {key!r} twice: {new_names[key.strip()]!r} and {name!r}")
    folded = [name.casefold() for name in new_names.values()]
    for name in new_names.values():
        if folded.count(name.casefold()) > 1:
            raise ValueError(f"{origin} gives the name {name!r} to several clusters: give each a name of its own")
    return new_names


def _read_object(path: Path) -> list[tuple[str, Any]]:
    """Read the entries of a JSON object."""
    content = read_document(path, json.loads, "--names")
    if type(content) is not dict:
        raise ValueError(
            f'{path} (--names) must have an object such as {{"0": "knives"}}, got {describe_value(content)}'
        )
    return list(content.items())


def _read_table(path: Path) -> list[tuple[str, Any]]:
    """Read the columns `cluster` and `name` of a table."""
    with InputFiles() as inputs:
        columns = read_table(path, "--names", EXPECTED, inputs)
    if not {"cluster", "name"} <= set(columns):
        raise ValueError(f"{path} (--names) must have {EXPECTED}; it has {', '.join(map(repr, columns))}")
    cells = zip(columns["cluster"].tolist(), columns["name"].tolist(), strict=True)
    return [(str(key), "" if name is None else name) for key, name in cells if key is not None]


def read_given_names(facts: Mapping[str, Any]) -> dict[int, str]:
    """Return the names that the user gave to clusters, from the summary of a run."""
    return {int(number): str(name) for number, name in facts.get("given_names", {}).items()}


def match_names(new_names: Mapping[str, str], names: Sequence[str]) -> tuple[dict[int, str], list[str]]:
    """Find the clusters that new names are for; return the names by number, and the clusters that do not exist."""
    numbers = {name.casefold(): number for number, name in enumerate(names)}
    matched: dict[int, str] = {}
    unknown = []
    for key, name in new_names.items():
        number = int(key) if key.isdecimal() else numbers.get(key.casefold(), len(names))
        if number >= len(names):
            unknown.append(key)
        elif matched.setdefault(number, name) != name:
            raise ValueError(f"--names gives cluster {number} two names: {matched[number]!r} and {name!r}")
    return {number: name for number, name in matched.items() if name != names[number]}, unknown


def describe_unknown(unknown: Sequence[str], names: Sequence[str]) -> str:
    """Say that clusters of --names do not exist, and which ones do."""
    return f"--names: there is no cluster {unknown[0]!r}; clusters are 0 to {len(names) - 1}, the first is {names[0]!r}"


def choose_noun(contents: Sequence[ViewContent], id_column: str | None) -> str:
    """Return what the entities are in the plural, if the name of the only file or of the id column says so.

    Links between entities do not count as files.

    Examples
    --------
    >>> choose_noun([], "patient_id"), choose_noun([], "Country"), choose_noun([], "key")
    ('patients', 'countries', 'items')
    """
    files = {split_sheet(split_columns(content.origin)[0])[0] for content in contents if content.kind != "links"}
    nouns = [noun for file in files for noun in _list_plurals(file.name.partition(".")[0])]
    if len(files) == len(nouns) == 1:
        return nouns[0]
    with_id = re.fullmatch(r"([A-Za-z]{3,})(?:[ _-](?:id|ID|Id)|I[Dd])", id_column or "")
    noun = (with_id[1] if with_id is not None else id_column or "").lower()
    if noun in NOT_THINGS or (with_id is None and noun not in THINGS):
        return ITEMS
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return f"{noun[:-1]}ies"
    plural = f"{noun}es" if noun.endswith(("s", "x", "ch", "sh")) else f"{noun}s"
    return ITEMS if _is_clipped(plural) else plural


def _list_plurals(name: str) -> list[str]:
    """List the words of a name that look like plurals of things."""
    words = [word.lower() for word in re.findall(r"[^\W\d_]+", name)]
    return [
        word
        for word in words
        if word in IRREGULAR
        or (
            word.endswith("s")
            and not (word.endswith(SINGULAR_ENDINGS) or NOT_NOUNS.fullmatch(word) or _is_clipped(word))
        )
    ]


def _is_clipped(plural: str) -> bool:
    """Whether a plural with an s is no whole word, or too short to tell."""
    has_vowel = any(letter in VOWELS or not letter.isascii() for letter in plural)
    return not has_vowel or bool(CLIPPED.fullmatch(plural)) or (len(plural) <= 4 and not SHORT_NOUNS.fullmatch(plural))
