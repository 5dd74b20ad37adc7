"""The reference of the command line as Markdown, from the parser of its arguments."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Iterator
from textwrap import dedent
from unittest.mock import patch

from consilience.cli.arguments import EPILOG, build_parser
from consilience.cli.parser import CommandParser

USAGE_WIDTH = 88
OPTION_WORD = re.compile(r"(?<![\w-])(--?[a-z][a-z-]*)(?![\w-])")


def list_parsers() -> dict[str, CommandParser]:
    """Return the parser of the program, under its name, and those of its commands."""
    parser = build_parser()
    return {parser.prog: parser, **parser.commands}


def list_arguments(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """Return the arguments of a parser that its help shows, except --help and the choice of a command."""
    kinds_left_out = (argparse._HelpAction, argparse._SubParsersAction)
    actions = [action for action in parser._actions if not isinstance(action, kinds_left_out)]
    return [action for action in actions if action.help is not argparse.SUPPRESS]


def name_argument(action: argparse.Action) -> str:
    """Return an argument as the help shows it, such as ``-k N``."""
    value = action.metavar or action.dest.upper()
    if not action.option_strings:
        return str(value)
    return ", ".join(name if action.nargs == 0 else f"{name} {value}" for name in action.option_strings)


def escape(text: str) -> str:
    """Return plain text as Markdown, with options as code."""
    code = re.split(r"`([^`]*)`", text)
    parts = (
        f"`{part}`" if position % 2 else OPTION_WORD.sub(r"`\1`", re.sub(r"([\\*_<>\[\]#|$])", r"\\\1", part))
        for position, part in enumerate(code)
    )
    return "".join(parts)


def describe_argument(action: argparse.Action) -> str:
    """Return the help of an argument as a sentence, with the choices that it does not name."""
    text = (action.help or "") % {**vars(action), "prog": ""}
    sentence = f"{text[:1].upper()}{text[1:]}".rstrip(".") + "."
    unnamed = [str(choice) for choice in action.choices or () if not re.search(rf"\b{re.escape(str(choice))}\b", text)]
    choices = f" One of {', '.join(f'`{choice}`' for choice in unnamed)}." if unnamed else ""
    return escape(sentence) + choices


def write_command(name: str) -> Iterator[str]:
    """Yield the lines of the reference of a command: description, usage, arguments and examples."""
    parser = list_parsers()[name]
    with patch.dict(os.environ, COLUMNS=str(USAGE_WIDTH)):
        usage = parser.format_usage().removeprefix("usage: ").rstrip()
    yield from (escape(parser.description or ""), "", "```text", dedent(f"       {usage}"), "```", "")
    yield from ("```{program} " + parser.prog, "```", "")
    for action in list_arguments(parser):
        yield from ("````{option} " + name_argument(action), describe_argument(action), "````", "")
    examples = (parser.epilog or "").removeprefix("examples:\n").removesuffix(EPILOG).rstrip()
    examples = re.sub(r"\n\n`.*", "", examples, flags=re.DOTALL)
    if examples:
        yield from ("**Examples**", "", "```sh", dedent(examples), "```", "")


def write_commands() -> Iterator[str]:
    """Yield the lines of a table of the commands."""
    parser = build_parser()
    yield from ("| command | purpose |", "|---|---|")
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action._choices_actions:
                yield f"| [{command.dest}](#consilience-{command.dest}) | {escape(command.help or '')} |"


def write_exit_codes() -> Iterator[str]:
    """Yield the lines of a table of the exit codes."""
    codes = " ".join(EPILOG.split()).removeprefix("exit codes: ")
    sentence, _, rest = codes.partition(". ")
    yield from ("| exit code | meaning |", "|---|---|")
    for code in sentence.split("; "):
        number, _, meaning = code.partition(" ")
        yield f"| {number} | {escape(meaning)} |"
    yield from ("", escape(rest))
