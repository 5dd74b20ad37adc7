"""The API reference lists every public name once, and the reference of the command line every command and option."""

import ast
import inspect
import re
from importlib import import_module

import pytest

import consilience
from reference import (
    DOCS,
    PUBLIC,
    REFERENCE,
    find_public,
    find_undocumented,
    list_arguments,
    list_parsers,
    write_command,
    write_commands,
    write_exit_codes,
)

EXAMPLES = re.compile(r"^\s*Examples\n\s*--------$", flags=re.MULTILINE)
WITHOUT_EXAMPLES: set[str] = set()  # public classes and functions; add none
DOCUMENTED_MODULES = ("assessment", "data", "methods", "persist", "report", "selection")
PACKAGES = [
    *(name for name in consilience.__all__ if inspect.ismodule(getattr(consilience, name))),
    *DOCUMENTED_MODULES,
]


def identify(value, name):
    """Return what tells objects apart; constants are told apart by their names."""
    return id(value) if inspect.isclass(value) or callable(value) else name


def list_public_objects():
    """Return every public object under its name; a name that consilience itself has counts once."""
    public = {}
    for package in ("", *PACKAGES):
        module = import_module(f"consilience.{package}".rstrip("."))
        for name in module.__all__:
            value = getattr(module, name)
            if not inspect.ismodule(value):
                public.setdefault(identify(value, f"{package}.{name}".lstrip(".")), f"{package}.{name}".lstrip("."))
    return public


def list_names_of_pages():
    """Return the names that the code of the pages imports from modules of consilience."""
    names = {}
    for page in [*DOCS.glob("*.md"), DOCS.parent / "README.md"]:
        for block in re.findall(
            r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE
        ):
            for node in ast.walk(ast.parse(block)):
                if isinstance(node, ast.ImportFrom) and str(node.module).startswith("consilience"):
                    names |= {
                        f"{node.module}.{alias.name}".removeprefix("consilience."): page.name for alias in node.names
                    }
    return names


def test_reference_lists_every_public_name_once():
    listed = [identify(PUBLIC[name], name) for name in REFERENCE]
    assert len(set(listed)) == len(listed) == len(set(REFERENCE))
    missing = {name for identity, name in list_public_objects().items() if identity not in listed}
    assert missing == set()


def test_reference_lists_what_pages_import():
    listed = [identify(value, name) for name, value in PUBLIC.items()]
    missing = {
        name: page
        for name, page in list_names_of_pages().items()
        if not inspect.ismodule(find_public(name)) and identify(find_public(name), name) not in listed
    }
    assert missing == {}


def test_public_objects_and_their_members_have_docstrings():
    assert [member for name in PUBLIC for member in find_undocumented(name)] == []


def test_public_objects_have_examples():
    lacking = {name for name, value in PUBLIC.items() if callable(value) and not EXAMPLES.search(str(value.__doc__))}
    assert lacking == WITHOUT_EXAMPLES


def test_page_of_commands_has_a_section_for_each_command():
    page = (DOCS / "commands.md").read_text(encoding="utf-8")
    sections = re.findall(r"^## consilience (.*)\n\n```\{command\} (.*)$", page, flags=re.MULTILINE)
    assert [name for name, _ in sections] == [name for _, name in sections]
    assert [name for name, _ in sections] == [name for name in list_parsers() if name != "consilience"]
    assert "```{command} consilience\n" in page
    table = "\n".join(write_commands())
    assert re.findall(r"\(#consilience-(.*?)\)", table) == [name for name, _ in sections]


@pytest.mark.parametrize("name", list_parsers())
def test_reference_of_command_is_complete(name):
    parser = list_parsers()[name]
    text = "\n".join(write_command(name))
    assert parser.prog in text
    shown = parser.format_help()
    for option in set(re.findall(r"^  (?:-\w, )?(--?[a-z][\w-]*)", shown, flags=re.MULTILINE)) - {"--help", "-h"}:
        assert re.search(rf"^````\{{option\}} (-\w, )?{option}\b", text, flags=re.MULTILINE), option
    assert text.count("````{option} ") == len(list_arguments(parser))
    for action in list_arguments(parser):
        for choice in action.choices or ():
            assert str(choice) in text
    examples = (parser.epilog or "").partition("\n\n")[0].splitlines()[1:]
    assert [line.strip() for line in examples if line.strip() not in text] == []


def test_exit_codes_are_listed():
    assert re.findall(r"^\| (\d+) \|", "\n".join(write_exit_codes()), flags=re.MULTILINE) == ["0", "1", "2", "3", "130"]
