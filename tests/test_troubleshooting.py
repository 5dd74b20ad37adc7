"""The messages that docs/troubleshooting.md quotes are those of the sources."""

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "troubleshooting.md"
GAP = "…"  # a part that depends on the data
LEAST_WORDS = 2  # in a quoted part, so that a match means something


@cache
def read_messages():
    """Return all texts of the sources but docstrings on one line each, with a gap for every value of an f-string."""
    messages = set()
    for path in sorted((ROOT / "src" / "consilience").rglob("*.py")):
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
        for node in nodes:
            match node:
                case ast.Constant() if id(node) in docstrings:
                    continue
                case ast.JoinedStr(values=parts):
                    messages.add("".join(part.value if isinstance(part, ast.Constant) else GAP for part in parts))
                case ast.Constant(value=str(text)):
                    messages.add(text)
    return "\n".join(" ".join(message.split()) for message in messages)


def list_quotes(page):
    """Return the messages in the first cells of the tables of a page."""
    cells = [line.split(" | ")[0] for line in page.splitlines() if line.startswith("| `")]
    return [quote for cell in cells for quote in re.findall(r"`([^`]+)`", cell)]


def is_quoted_rightly(quote):
    """Return whether a message of the sources has the words of a quote in their order, with gaps where it has gaps."""
    has_words = max(len(part.split()) for part in quote.split(GAP)) >= LEAST_WORDS
    return has_words and quote.strip(f"{GAP} ") in read_messages()


def test_quoted_messages_are_in_the_sources():
    quotes = list_quotes(PAGE.read_text(encoding="utf-8"))
    assert len(quotes) > 50
    assert [quote for quote in quotes if not is_quoted_rightly(quote)] == []
