"""The names of the API reference and what describes them, from the modules of ``docs/_ext`` that need no Sphinx."""

import sys
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
sys.path.insert(0, str(DOCS / "_ext"))
from command_text import list_arguments, list_parsers, write_command, write_commands, write_exit_codes  # noqa: E402
from reference_members import PUBLIC, find_public, find_undocumented, list_commented, list_fields, list_members  # noqa: E402
from reference_names import read_reference  # noqa: E402

sys.path.remove(str(DOCS / "_ext"))

__all__ = [
    "DOCS",
    "PUBLIC",
    "REFERENCE",
    "find_public",
    "find_undocumented",
    "list_arguments",
    "list_commented",
    "list_fields",
    "list_members",
    "list_parsers",
    "write_command",
    "write_commands",
    "write_exit_codes",
]

REFERENCE = read_reference(DOCS / "api" / "index.md")
