"""Notes in the terms of the command line: warnings of estimators name parameters and attributes of Python."""

from __future__ import annotations

import re

# what warnings say, and what the command line says
PHRASES = (
    (r"\. See Constraints\.conflicts$", ""),
    (r"Drop such rows with views\[keep\]", "Delete such rows from the file"),
    (r", if history_ alternates,", ""),
    (r"\b(raise|lower|increase|Raise|Lower|Increase) n_clusters(=\d+)?", r"\1 -k"),
    (r"\bn_clusters=(\d+)", r"-k \1"),
    (r"\banother random_state\b", "another --seed"),
    (
        r"\b(raise|lower|increase|Raise|Lower|Increase) (max_iter|n_init|n_neighbors|tol|beta|patience)\b",
        r"\1 --set \2",
    ),
    (r"\bor tol \(now\b", "or --set tol (now"),
    (r"\buse refine=None\b", "use --set refine=none"),
)


def put_in_command_terms(message: str) -> str:
    """Replace parameters of estimators by options of the command line.

    Examples
    --------
    >>> put_in_command_terms("no convergence in 9 rounds: raise max_iter, or tol (now 0.0)")
    'no convergence in 9 rounds: raise --set max_iter, or --set tol (now 0.0)'
    """
    for pattern, replacement in PHRASES:
        message = re.sub(pattern, replacement, message)
    return message
