"""Directives that describe the command line from its parser: ``command NAME``, ``commands`` and ``exit-codes``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from command_text import write_command, write_commands, write_exit_codes
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


class CommandDirective(SphinxDirective):
    """The reference of one command."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Parse the generated Markdown."""
        return self.parse_lines(write_command(self.arguments[0]))

    def parse_lines(self, lines: Iterable[str]) -> list[nodes.Node]:
        """Return the nodes of Markdown lines."""
        return self.parse_text_to_nodes("\n".join(lines))


class CommandsDirective(CommandDirective):
    """A table of the commands."""

    required_arguments = 0
    write: ClassVar = staticmethod(write_commands)

    def run(self) -> list[nodes.Node]:
        """Parse the generated Markdown."""
        return self.parse_lines(self.write())


class ExitCodesDirective(CommandsDirective):
    """A table of the exit codes."""

    write: ClassVar = staticmethod(write_exit_codes)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directives."""
    app.add_directive("command", CommandDirective)
    app.add_directive("commands", CommandsDirective)
    app.add_directive("exit-codes", ExitCodesDirective)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
