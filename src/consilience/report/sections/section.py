"""A section of the page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..facts import ReportFacts
from ..markup import Html, join_html, tag


@dataclass(frozen=True)
class Section:
    """A section: its id, titles and content, and data for the script of the page.

    Examples
    --------
    >>> from consilience.report import Section
    >>> section = Section.build("sizes", "Sizes", "How large the groups are", "Group 1 has 12 papers.")
    >>> section.id, section.body
    ('sizes', 'Group 1 has 12 papers.')
    """

    id: str  #: id of the element, which links lead to
    short_title: str  #: title in the table of contents
    title: str  #: heading
    body: Html  #: content
    level: str = "h2"  #: element of the heading: "h1" or "h2"
    is_result: bool = False  #: whether it stands before the table of all entities
    data: Mapping[str, Any] = field(default_factory=dict)  #: data for the script of the page, which JSON can hold

    @classmethod
    def build(
        cls, section_id: str, short_title: str, title: str, *children: str | Iterable[str | None] | None, **options: Any
    ) -> Section:
        """Return a section with these children; text is escaped unless it is `Html`, None is left out.

        Parameters
        ----------
        section_id : str
            Id of the element, which links lead to.
        short_title : str
            Title in the table of contents.
        title : str
            Heading.
        *children : str, iterable of str, or None
            The content.
        **options : Any
            Further fields, such as ``level="h1"``.
        """
        return cls(section_id, short_title, title, join_html(children), **options)

    def to_html(self) -> Html:
        """Return the section with its heading."""
        heading = tag(self.level, self.title, id=f"{self.id}-title")
        return tag("section", heading, self.body, id=self.id, aria_labelledby=f"{self.id}-title")


SectionBuilder = Callable[[ReportFacts], Section | None]
