"""A parser of arguments that reports an error in one line and suggests what may be meant."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from .._suggest import suggest_name

USAGE = 2  # exit code
WRONG_COMMAND = re.compile(r"argument COMMAND: invalid choice: '(?P<name>.*?)'")
WHERE_OPTIONS_ARE_UNKNOWN = ("unrecognized arguments", "the following arguments are required", "name the files")


class CommandParser(argparse.ArgumentParser):
    """Parser of a command, whose files may stand anywhere among the options and are added to those of --view.

    It reports an error in one line, without the usage, and suggests the option or command that may be meant.
    `arguments` are the declared arguments, and `commands` the parsers of subcommands.
    """

    takes_files = False
    needs_files = True

    def __init__(self, **options: Any) -> None:
        self.arguments: list[argparse.Action] = []
        self.commands: dict[str, CommandParser] = {}
        self._words: list[str] = []  # that are parsed
        super().__init__(**options)

    def add_argument(self, *names: Any, **options: Any) -> argparse.Action:
        """Declare an argument, and keep it for suggestions and completion."""
        self.arguments.append(super().add_argument(*names, **options))
        return self.arguments[-1]

    def parse_known_args(self, args=None, namespace=None):  # type: ignore[no-untyped-def]
        """Parse the arguments; refuse a command without the files that it needs."""
        self._words = list(sys.argv[1:] if args is None else args)
        options, rest = super().parse_known_args(args, namespace)
        if self.takes_files and not any(text.startswith("-") for text in rest):
            options.view, rest = [*options.view, *rest], []
            if self.needs_files and not options.view and getattr(options, "config", None) is None:
                example = "a-run new.csv" if self.prog.endswith("predict") else "products.csv"
                self.error(f"name the files, as in `{self.prog} {example}`, or the views (--view NAME=FILE)")
        return options, rest

    def error(self, message: str) -> NoReturn:
        """Print the error and a suggestion in one line, and exit."""
        if wrong := WRONG_COMMAND.match(message):
            message = f"there is no command {wrong['name']!r}: {suggest_name(wrong['name'], self.commands)}"
        elif message.startswith(WHERE_OPTIONS_ARE_UNKNOWN):
            message = self._describe_unknown_option() or message
        self.exit(USAGE, f"{self.prog.partition(' ')[0]}: {' '.join(message.split())}\n")

    def _describe_unknown_option(self) -> str | None:
        """Return a sentence about the first word that looks like an option and is none."""
        words = self._words[: self._words.index("--")] if "--" in self._words else self._words
        command = next((self.commands[word] for word in words if word in self.commands), self)
        names = [name for action in command.arguments for name in action.option_strings]
        for word in words:
            option = word.partition("=")[0]
            looks_like_option = len(word) > 1 and word[0] == "-" and not word[1].isdigit() and " " not in word
            is_short_with_value = word[:2] in names and not word.startswith("--")
            if looks_like_option and not is_short_with_value and not any(name.startswith(option) for name in names):
                # -view and --veiw both mean --view, and -K means -k
                similar = suggest_name(option if len(option) < 3 else f"--{option.lstrip('-')}", names, "")
                help_option = f"`{command.prog} --help` lists the options"
                return f"there is no option {option}: {similar.replace(chr(39), '') or help_option}"
        return None


def parse_choice(what: str, choices: Sequence[str], text: str) -> str:
    """Refuse a text that is not among the choices, and suggest the one that may be meant."""
    if text not in choices:
        raise argparse.ArgumentTypeError(f"there is no {what} {text!r}: {suggest_name(text, choices)}")
    return text
