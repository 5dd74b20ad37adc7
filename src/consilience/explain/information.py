"""Views that do not support the clusters, by the information of their left-out predictions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

NEAR_ZERO = 0.05  # share of the maximum below which a view counts as not supporting the clusters


def describe_support(information: Mapping[str, Any]) -> str | None:
    """Return a sentence that names the views that do not support the clusters; None if all do.

    Parameters
    ----------
    information : Table
        The `view_information_` of a fitted `consilience.Consilience`. A view whose share is below 5% counts as one
        that does not support the clusters.

    Returns
    -------
    str or None
        The sentence.

    Examples
    --------
    >>> describe_support({"view": ["text", "links", "noise"], "share": [0.62, 0.31, 0.01]})
    "View 'noise' does not support the clusters: it tells next to nothing about them. Consider leaving it out."
    """
    shares = {str(name): float(share) for name, share in zip(information["view"], information["share"], strict=True)}
    weak = [name for name, share in shares.items() if share < NEAR_ZERO]
    strong = [name for name in shares if name not in weak]
    if not weak:
        return None
    listed = f"{', '.join(map(repr, weak[:-1]))} and {weak[-1]!r}"
    verb = f"View {weak[0]!r} does" if len(weak) == 1 else f"Views {listed} do"
    if not strong:
        return f"{verb} not support the clusters: there may be no groups in this data."
    if len(strong) == 1:
        return f"{verb} not support the clusters: they rest on view {strong[0]!r} alone, and no other confirms them."
    pronouns = ("it tells", "it") if len(weak) == 1 else ("they tell", "them")
    return (
        f"{verb} not support the clusters: {pronouns[0]} next to nothing about them. Consider leaving {pronouns[1]} "
        "out."
    )
