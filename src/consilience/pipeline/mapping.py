"""What a mapping between views with different ids joins."""

from __future__ import annotations

from itertools import combinations
from typing import Any

from ..files import Entities
from .log import count_noun


def summarize_mapping(entities: Entities) -> dict[str, Any] | None:
    """Return how many entities each pair of views shares and how many only one view has; None without a mapping."""
    if not entities.is_mapped:
        return None
    has_view = {name: rows >= 0 for name, rows in entities.rows.items()}
    n_views = sum(has_view.values())
    return {
        "mapped": [
            {"views": [first, second], "entities": int((has_view[first] & has_view[second]).sum())}
            for first, second in combinations(has_view, 2)
        ],
        "unmapped": {name: int((mask & (n_views == 1)).sum()) for name, mask in has_view.items()},
    }


def find_weak_mappings(entities: Entities, n_clusters: int) -> list[str]:
    """Return notes on views that share fewer entities with the other views than there are clusters."""
    if not entities.is_mapped:
        return []
    has_view = {name: rows >= 0 for name, rows in entities.rows.items()}
    n_views = sum(has_view.values())
    n_shared = {name: int((mask & (n_views > 1)).sum()) for name, mask in has_view.items()}
    return [
        f"View {name!r} shares only {count_noun(n, 'entity', 'entities')} with other views, fewer than the "
        f"{n_clusters} clusters: which clusters of the views belong together is partly arbitrary. Map more "
        "entities (--mapping)."
        for name, n in n_shared.items()
        if n < n_clusters
    ]


def describe_mapping(entities: Entities) -> list[str]:
    """Return a line that says how many entities the mapping joins; none without a mapping."""
    facts = summarize_mapping(entities)
    if facts is None:
        return []
    pairs = [
        f"{count_noun(pair['entities'], 'entity', 'entities')} in {' and '.join(pair['views'])}"
        for pair in facts["mapped"]
        if pair["entities"]
    ]
    alone = [f"{n:,} in {name} alone" for name, n in facts["unmapped"].items()]
    return [f"mapping: {', '.join([*pairs, *alone])}"]
