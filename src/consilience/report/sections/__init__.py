"""The sections of a report, one a file, each a function from the facts to its part of the page."""

from __future__ import annotations

from typing import Any

from ..facts import Facts
from .agreement import agreement
from .classes import classes
from .clusters import clusters
from .comparison import comparison
from .contested import contested
from .data import data
from .information import information
from .maps import maps
from .method import method
from .reliance import reliance
from .search import search
from .section import Section
from .selection import selection
from .summary import summary

__all__ = ["Section", "before_search", "search"]


def before_search(facts: Facts) -> tuple[list[Section], dict[str, Any]]:
    """Every section but the search, which takes the room that these leave, and the data that the maps draw.

    Sections about how the views agree are left out where that tells nothing.
    """
    found_maps, drawn = maps(facts)
    shown = facts.shows_views
    sections = [
        summary(facts),
        reliance(facts),
        data(facts),
        clusters(facts),
        selection(facts),
        agreement(facts) if shown else None,
        information(facts) if shown else None,
        found_maps,
        contested(facts) if shown else None,
        classes(facts),
        comparison(facts) if shown else None,
        method(facts),
    ]
    return [own for own in sections if own is not None], drawn
