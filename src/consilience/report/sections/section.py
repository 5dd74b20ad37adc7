"""A part of the page."""

from __future__ import annotations

from dataclasses import dataclass

from ..markup import Html, tag


@dataclass(frozen=True)
class Section:
    """What a section is called, and what it says."""

    id: str
    short: str  #: its name in the list of contents
    title: str
    body: Html
    level: str = "h2"

    @property
    def heading(self) -> Html:
        return tag(self.level, self.title, id=f"{self.id}-title")
