"""Progress of long computations: a live line on a terminal, elsewhere one plain line per round."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

Progress = Callable[[int, int, Mapping[str, Any]], None]


@contextmanager
def progress(title: str, n_runs: int, verbose: bool) -> Iterator[Progress]:
    """Yield a function ``show(run, round, record)``, which does nothing unless `verbose`."""
    if not verbose:
        yield lambda *_: None
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True)

    def line(run: int, round_: int, record: Mapping[str, Any]) -> str:
        values = ", ".join(f"{name} {value:.6g}" for name, value in record.items())
        return f"{title}: start {run + 1} of {n_runs}, round {round_}: {values}"

    if not console.is_terminal:
        yield lambda run, round_, record: console.print(
            line(run, round_, record), soft_wrap=True, highlight=False, markup=False
        )
        return
    with console.status(title) as status:
        yield lambda run, round_, record: status.update(
            Text(line(run, round_, record), overflow="ellipsis", no_wrap=True)
        )


def announce(text: str, verbose: bool) -> None:
    """Print a line to the standard error stream if `verbose`."""
    if verbose:
        from rich.console import Console

        Console(stderr=True).print(text, soft_wrap=True, highlight=False, markup=False)
