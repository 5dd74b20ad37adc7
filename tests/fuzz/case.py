"""One fuzzed case: its random numbers, its notes, and the rules for refusals and warnings."""

from __future__ import annotations

import linecache
import shutil
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import sklearn

import consilience

ACCEPTED, REFUSED = "accepted", "refused"
REFUSALS = (ValueError, TypeError, ImportError)
CONSILIENCE, *CHECKERS = (f"{Path(package.__file__).parent}/" for package in (consilience, sklearn, scipy))


class Refused(Exception):
    """The library refused the input in the way it promises."""


class Failure(AssertionError):
    """The library broke a promise."""


@dataclass
class Case:
    """The random numbers of one case, and notes that describe it if it fails."""

    section: str
    seed: int
    notes: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def rng(self) -> np.random.Generator:
        return np.random.default_rng([self.seed, *self.section.encode()])

    @cached_property
    def folder(self) -> Path:
        """A temporary folder, removed at the end of the case."""
        return Path(tempfile.mkdtemp(prefix=f"fuzz-{self.section}-"))

    def close(self) -> None:
        if "folder" in self.__dict__:
            shutil.rmtree(self.folder, ignore_errors=True)

    def note(self, **values: Any) -> None:
        self.notes.update(values)

    def chance(self, probability: float) -> bool:
        return bool(self.rng.random() < probability)

    def choose(self, choices: Any) -> Any:
        """Pick one of the choices without converting it to a numpy type."""
        choices = list(choices)
        return choices[int(self.rng.integers(len(choices)))]


def call(
    function: Callable[..., Any],
    *args: Any,
    refusals: tuple[type, ...] = REFUSALS,
    tolerated: tuple[type, ...] = (UserWarning,),
    **kwargs: Any,
) -> Any:
    """Call a public function; raise `Refused` if it refuses cleanly, `Failure` if it breaks the rules."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            value = function(*args, **kwargs)
        except Exception as error:
            check_refusal(error, refusals)
            raise Refused(f"{type(error).__name__}: {error}") from error
        finally:
            check_warnings(caught, tolerated)
    return value


def check_refusal(error: Exception, refusals: tuple[type, ...]) -> None:
    """Require a type of exception that is meant for users, with a message, raised by a check.

    In the code of consilience a check is a `raise` statement: an exception that numpy or the interpreter raises inside
    an expression comes from elsewhere. Checks of scikit-learn and scipy count whatever they are.
    """
    if not isinstance(error, refusals) or isinstance(error, np.linalg.LinAlgError):
        raise Failure(f"{type(error).__name__}: {error}") from error
    if not str(error).strip():
        raise Failure(f"{type(error).__name__} without a message") from error
    frames = traceback.extract_tb(error.__traceback__)
    last = [frame for frame in frames if frame.filename.startswith((CONSILIENCE, *CHECKERS))][-1]
    line = linecache.getline(last.filename, last.lineno or 0).strip()
    if last.filename.startswith(CONSILIENCE) and not (frames[-1] is last and line.startswith("raise")):
        place = f"{Path(last.filename).name}:{last.lineno}"
        raise Failure(f"{type(error).__name__} not raised by a check ({place}, {line!r}): {error}") from error


def check_warnings(caught: list[warnings.WarningMessage], tolerated: tuple[type, ...]) -> None:
    """Allow only warnings of the tolerated kinds, which are those meant for users, and with a message."""
    for warning in caught:
        if not issubclass(warning.category, tolerated) or not str(warning.message).strip():
            place = f"{Path(warning.filename).name}:{warning.lineno}"
            raise Failure(f"{warning.category.__name__} at {place}: {warning.message}")


def require(condition: Any, message: str) -> None:
    """Fail with a message unless the condition holds."""
    if not condition:
        raise Failure(message)


@contextmanager
def quiet() -> Iterator[None]:
    """Ignore warnings of other libraries while a case prepares its files."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
