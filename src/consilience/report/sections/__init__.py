"""The sections of a report, one a file, each a function from the facts to its part of the page."""

from __future__ import annotations

from typing import Any

from ..facts import ReportFacts
from .agreement import build_agreement
from .classes import build_classes
from .clusters import build_clusters
from .comparison import build_comparison
from .contested import build_contested
from .data import build_data
from .information import build_information
from .maps import build_maps
from .method import build_method
from .reliance import build_reliance
from .search import build_search
from .section import Section
from .selection import build_selection
from .summary import build_summary

__all__ = ["Section", "build_search", "build_sections"]


def build_sections(facts: ReportFacts) -> tuple[list[Section], dict[str, Any]]:
    """Every section but the search, which takes the room that these leave, and the data that the maps draw.

    Sections about how the views agree are left out where that tells nothing.
    """
    found_maps, drawn = build_maps(facts)
    shown = facts.shows_views
    sections = [
        build_summary(facts),
        build_reliance(facts),
        build_data(facts),
        build_clusters(facts),
        build_selection(facts),
        build_agreement(facts) if shown else None,
        build_information(facts) if shown else None,
        found_maps,
        build_contested(facts) if shown else None,
        build_classes(facts),
        build_comparison(facts) if shown else None,
        build_method(facts),
    ]
    return [own for own in sections if own is not None], drawn
