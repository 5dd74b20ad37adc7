"""Notes on the languages of texts, and on groups that follow them."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import adjusted_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix

from ..files.languages import list_languages

# adjusted mutual information of groups and languages, 0 by chance and 1 if one of them determines the other
FOLLOWING = 0.5


def describe_languages(name: str, languages: np.ndarray) -> str | None:
    """Say in which languages the texts of a view are; None if there are not several."""
    listed = list_languages(languages)
    if len(listed) < 2:
        return None
    *others, last = [f"{language} ({n:,})" for language, n in listed.items()]
    n_rest = int((languages != None).sum()) - sum(listed.values())  # noqa: E711
    rest = f"; the other {n_rest:,} are in other languages or not recognized" if n_rest else ""
    return f"The texts of {name!r} are in {', '.join(others)} and {last}{rest}."


def describe_following(name: str, languages: np.ndarray, labels: np.ndarray) -> str | None:
    """Say that the groups follow the languages of the texts of a view; None if they do not.

    Groups follow languages if each group has texts of one language, also if there are several groups per language, or
    if the texts of each language are in one group.
    """
    listed = list_languages(languages)
    is_compared = np.isin(languages.astype(str), list(listed)) & (labels >= 0)
    names, groups = languages[is_compared].astype(str), labels[is_compared]
    if min(len(np.unique(names)), len(np.unique(groups))) < 2:
        return None
    if adjusted_mutual_info_score(names, groups, average_method="min") < FOLLOWING:
        return None
    table = contingency_matrix(names, groups)
    if table.shape[1] >= table.shape[0]:
        share, fact = table.max(axis=0).sum() / table.sum(), "in the language of most texts of their group"
    else:
        share, fact = table.max(axis=1).sum() / table.sum(), "in the group of most texts of their language"
    return (
        f"The groups follow the language of {name!r}: {share:.0%} of its texts are {fact}. To group them by content, "
        f"encode them by a multilingual model (--encode {name}=PATH), or cluster each language separately."
    )
