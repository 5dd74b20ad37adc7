"""The sections of a report, one module each: functions from the facts to a section, or None for no section."""

from .agreement import build_agreement
from .classes import build_classes
from .comparison import build_comparison
from .contested import build_contested
from .data import build_data
from .descriptions import build_descriptions
from .hints import build_hints
from .information import build_information
from .maps import build_maps
from .method import build_method
from .overview import build_overview
from .reliance import build_reliance
from .search import build_search
from .section import Section, SectionBuilder
from .selection import build_selection

# In the order of the page, below the first screen: results stand before the table of all entities, the others after it.
SECTIONS: tuple[SectionBuilder, ...] = (
    build_descriptions,
    build_reliance,
    build_hints,
    build_selection,
    build_data,
    build_agreement,
    build_information,
    build_maps,
    build_contested,
    build_classes,
    build_comparison,
)

__all__ = ["SECTIONS", "Section", "SectionBuilder", "build_method", "build_overview", "build_search"]
