"""``consilience completion``: scripts with which shells complete commands, options and their values.

The scripts ask the command itself for completions, so that they fit every version. Where it has none, the shell
completes the names of files.
"""

from __future__ import annotations

import argparse
import shlex
from itertools import pairwise

from .arguments import build_parser
from .parser import CommandParser
from .terminal import Terminal

SCRIPTS = {
    # bash takes = and : for ends of words, and replaces only what follows the last of them
    "bash": """_consilience() {
    local IFS=$'\\n'
    COMPREPLY=($(consilience completion bash --line="${COMP_LINE:0:COMP_POINT}" 2>/dev/null))
    [[ ${COMPREPLY[0]} == *[=.] ]] && compopt -o nospace
}
complete -o default -F _consilience consilience""",
    "zsh": """_consilience() {
    local -a words_found
    words_found=("${(@f)$(consilience completion zsh --line="$LBUFFER" 2>/dev/null)}")
    if [[ -n "${words_found[1]}" ]]; then
        _describe 'consilience' words_found
    else
        compset -P '*='
        _files
    fi
}
compdef _consilience consilience""",
    "fish": """complete -c consilience -a '(consilience completion fish --line=(commandline -cp) 2>/dev/null)'""",
}
SEPARATORS = {"bash": None, "zsh": ":", "fish": "\t"}  # between a word and its description; bash shows none


def run_completion(options: argparse.Namespace, terminal: Terminal) -> None:
    """Print the script of a shell, or the words that complete a line."""
    if options.line is None:
        terminal.print_result(SCRIPTS[options.shell], always=True)
        return
    separator = SEPARATORS[options.shell]
    words, current = split_line(options.line)
    for word, description in complete_word(build_parser(), words, current).items():
        if options.shell == "bash":
            word = word[len(current) - len(current[max(map(current.rfind, "=:")) + 1 :]) :]
        if options.shell == "zsh":
            word = word.replace(":", "\\:")
        shown = description.partition(".")[0].partition(";")[0]
        print(word if separator is None or not shown else f"{word}{separator}{shown}")


def split_line(line: str) -> tuple[list[str], str]:
    """Split a line before the cursor into the words after the program and the word to complete.

    Examples
    --------
    >>> split_line("consilience cluster --met")
    (['cluster'], '--met')
    >>> split_line("consilience cluster --view 'my fi")
    (['cluster', '--view'], 'my fi')
    """
    lexer = shlex.shlex(line, posix=True, punctuation_chars=False)
    lexer.whitespace_split, lexer.commenters = True, ""
    words: list[str] = []
    try:
        words.extend(lexer)
    except ValueError:  # a quotation that is still open
        words.append(lexer.token)
        return words[1:-1], words[-1]
    if line[-1:].isspace() or not words:
        return words[1:], ""
    return words[1:-1], words[-1]


def complete_word(parser: CommandParser, words: list[str], current: str) -> dict[str, str]:
    """Return the words that may stand in place of the current one, each with a description.

    Examples
    --------
    >>> list(complete_word(build_parser(), [], "com"))
    ['compare', 'completion']
    >>> list(complete_word(build_parser(), ["cluster", "--method"], "sp"))
    ['spectral', 'spherical']
    """
    name = next((word for word in words if word in parser.commands), None)
    command = parser if name is None else parser.commands[name]
    by_option = {option: action for action in command.arguments for option in action.option_strings}
    option, equals, value = current.partition("=")
    if equals and option in by_option:  # --method=sp
        choices = complete_value(by_option[option], words, value)
        return {f"{option}={choice}": "" for choice in choices if choice.startswith(value)}
    previous = by_option.get(words[-1]) if words else None
    if previous is not None and previous.nargs != 0:
        candidates = dict.fromkeys(complete_value(previous, words, current), "")
    elif current.startswith("-"):
        shown = [action for action in command.arguments if action.help != argparse.SUPPRESS]
        candidates = {action.option_strings[-1]: action.help or "" for action in shown if action.option_strings}
    elif name is None:
        candidates = {name: parser.commands[name].description or "" for name in parser.commands}
    else:
        choices = [
            choice for action in command.arguments if not action.option_strings for choice in action.choices or ()
        ]
        candidates = dict.fromkeys(choices, "")
    return {word: description for word, description in candidates.items() if word.startswith(current)}


def complete_value(action: argparse.Action, words: list[str], current: str) -> list[str]:
    """Return the values that an option may have; none if it names a file or anything else."""
    if action.choices is not None:
        return list(action.choices)
    if action.metavar not in ("NAME=KIND", "NAME=ENCODING"):
        return []
    view, equals, _ = current.partition("=")
    if equals and action.metavar == "NAME=KIND":
        from ..files.kinds import KINDS

        return [f"{view}={kind}" for kind in KINDS]
    views = [word.partition("=")[0] for option, word in pairwise(words) if option == "--view"]
    return [] if equals else [f"{name}=" for name in views]
