"""The sections of a report, one module each: functions from the facts to a section, or None for no section."""

from .agreement import build_agreement
from .classes import build_classes
from .clusters import build_clusters
from .comparison import build_comparison
from .contested import build_contested
from .data import build_data
from .descriptions import build_descriptions
from .information import build_information
from .maps import build_maps
from .method import build_method
from .reliance import build_reliance
from .search import build_search
from .section import Section, SectionBuilder
from .selection import build_selection
from .summary import build_summary

# In the order of the page. The table of all entities, which takes the remaining space, and the method follow.
SECTIONS: tuple[SectionBuilder, ...] = (
    build_summary,
    build_reliance,
    build_data,
    build_clusters,
    build_descriptions,
    build_selection,
    build_agreement,
    build_information,
    build_maps,
    build_contested,
    build_classes,
    build_comparison,
)

__all__ = ["SECTIONS", "Section", "SectionBuilder", "build_method", "build_search"]
