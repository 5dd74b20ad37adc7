"""Suggestions for names that are misspelled."""

from __future__ import annotations

from collections.abc import Iterable

LEAST_SIMILARITY = 0.65  # share of the letters that must match


def suggest_name(name: str, names: Iterable[str], otherwise: str | None = None) -> str:
    """Ask for the most similar of the names, or else list all of them, or return `otherwise`.

    Examples
    --------
    >>> suggest_name("sphericl", ["k-means", "spherical"])
    "did you mean 'spherical'?"
    >>> suggest_name("magic", ["k-means", "spherical"])
    'choose from k-means, spherical'
    """
    from difflib import get_close_matches

    names = list(names)
    by_lowercase = {other.lower(): other for other in reversed(names)}
    similar = get_close_matches(name.lower(), by_lowercase, 1, LEAST_SIMILARITY)
    if similar:
        return f"did you mean {by_lowercase[similar[0]]!r}?"
    return f"choose from {', '.join(names)}" if otherwise is None else otherwise
