"""Ids that files write differently: 007 and 7.0, ab-1 and AB-1, letters with composed and with split accents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np

from .formats.columns import drop_zeros, strip_invisible
from .kinds import ViewContent
from .spec import list_names

MIN_GAIN = 0.1  # of the ids that two views could share, which a form must join beyond the ids as they are written
MAX_CLASHING = 0.1  # share of the ids of a view that a form may make equal; if it is more, they differ on purpose
FEW_SHARED = 0.5  # share of the ids, below which the user is told how many views have in common


def ignore_case(entity_id: str) -> str:
    """Return an id without regard to case and to what readers cannot see."""
    return " ".join(strip_invisible(entity_id).casefold().split())


def ignore_zeros(entity_id: str) -> str:
    """Return an id without regard to case, and to the zeros around a whole number.

    Examples
    --------
    >>> [ignore_zeros(text) for text in ("007", "7.0", "AB-1 ", "10")]
    ['7', '7', 'ab-1', '10']
    """
    return drop_zeros(ignore_case(entity_id))


FORMS = (strip_invisible, ignore_case, ignore_zeros)  # the mildest first


@dataclass(frozen=True)
class Spellings:
    """The spelling in all files of ids that are the same but written differently: that of the first view."""

    chosen: Mapping[str, str] = field(default_factory=dict)  # by the id as it is written

    def respell(self, ids: np.ndarray) -> np.ndarray:
        """Return ids in the common spelling; those that are written in one way stay as they are."""
        if not self.chosen:
            return ids
        return np.array([self.chosen.get(entity_id, entity_id) for entity_id in ids.tolist()], dtype=object)


def unify_spellings(contents: Sequence[ViewContent]) -> tuple[list[ViewContent], Spellings, list[str]]:
    """Give ids that are the same but written differently one spelling, and tell the user which and how many.

    A form of the ids is used only for views that share clearly more ids with another view in this form than as texts.
    The mildest such form is used. Ids of a view that the form would make equal stay apart.
    """
    by_view = {content.name: _list_view_ids(content) for content in contents}
    by_view = {name: ids for name, ids in by_view.items() if ids}
    views: dict[frozenset[str], list[str]] = {}  # with the same ids, by these
    for name, ids in by_view.items():
        views.setdefault(frozenset(ids), []).append(name)
    chosen, clashing = _choose_spellings([by_view[names[0]] for names in views.values()])
    notes = []
    for of_view, names in views.items():
        subject = f"View{'s' * (len(names) > 1)} {' and '.join(map(repr, names))}"
        ids = by_view[names[0]]
        changed = [entity_id for entity_id in ids if chosen.get(entity_id, entity_id) != entity_id]
        if changed:
            examples = ", ".join(f"{entity_id!r} for {chosen[entity_id]!r}" for entity_id in changed[:3])
            notes.append(
                f"{subject} {'writes' if len(names) == 1 else 'write'} {len(changed):,} of {len(ids):,} ids "
                f"differently from another view, such as {examples}: they are taken for the same ids."
            )
        apart = next((alike for alike in clashing if len(of_view.intersection(alike)) > 1), None)
        if apart is not None:
            notes.append(
                f"{subject} {'has' if len(names) == 1 else 'have'} ids that would be the same in another spelling, "
                f"such as {list_names([entity_id for entity_id in apart if entity_id in of_view])}: they stay apart."
            )
    by_view = {name: [chosen.get(entity_id, entity_id) for entity_id in ids] for name, ids in by_view.items()}
    spellings = Spellings(chosen)
    respelled = [_respell_content(content, spellings) for content in contents]
    return respelled, spellings, notes + _note_few_shared(by_view)


def match_spellings(ids: np.ndarray, view_ids: Iterable[str]) -> np.ndarray:
    """Return the ids of a further file in the spelling of those of views, if that joins clearly more of them."""
    chosen, _ = _choose_spellings([list(dict.fromkeys(view_ids)), list(dict.fromkeys(ids.tolist()))])
    return Spellings(chosen).respell(ids)


def _list_view_ids(content: ViewContent) -> list[str]:
    """List the ids of a content, each once; none if its rows are matched by position or are pictures."""
    if content.kind == "links":
        return list(dict.fromkeys(entity_id for ends in content.data[:2] for entity_id in ends.tolist()))
    return [] if content.ids is None or content.kind == "images" else content.ids.tolist()


def _respell_content(content: ViewContent, spellings: Spellings) -> ViewContent:
    if content.kind == "links":
        sources, targets, *others = content.data
        return replace(content, data=(spellings.respell(sources), spellings.respell(targets), *others))
    return content if content.ids is None else replace(content, ids=spellings.respell(content.ids))


def _choose_spellings(sets: Sequence[Sequence[str]]) -> tuple[dict[str, str], list[list[str]]]:
    """Return the spelling of each id that views write differently, and ids that stay apart since a view has several.

    Views are compared in pairs, because a third one may have the ids of either in its own spelling.
    """
    gaining: set[int] = set()
    forms: set[int] = set()  # positions in FORMS
    for (i, first), (j, second) in combinations(enumerate(sets), 2):
        form = _choose_form(first, second)
        if form is not None:
            gaining |= {i, j}
            forms.add(FORMS.index(form))
    if not forms:
        return {}, []
    form = FORMS[max(forms)]
    written: dict[str, dict[str, None]] = {}  # how views write each id, in their order
    for entity_id in (entity_id for i in sorted(gaining) for entity_id in sets[i]):
        written.setdefault(form(entity_id), {})[entity_id] = None
    clashes = set[str]().union(*(_find_clashes(ids, form) for ids in sets))
    chosen: dict[str, str] = {}
    for formed, ids in written.items():
        if formed not in clashes and len(ids) > 1:
            chosen |= dict.fromkeys(ids, next(iter(ids)))
    return chosen, [list(ids) for formed, ids in written.items() if formed in clashes]


def _choose_form(first: Sequence[str], second: Sequence[str]) -> Callable[[str], str] | None:
    """Return the mildest form in which two views share the most ids, None if they share nearly as many as texts."""
    possible, n_shared = min(len(first), len(second)), len(set(first).intersection(second))
    best, best_form = n_shared, None
    for form in FORMS if n_shared < possible else ():
        clashes, others = _find_clashes(first, form), _find_clashes(second, form)
        if clashes.total() > MAX_CLASHING * len(first) or others.total() > MAX_CLASHING * len(second):
            break
        apart = clashes | others
        formed, others_formed = (
            {entity_id if form(entity_id) in apart else form(entity_id) for entity_id in ids} for ids in (first, second)
        )
        n_joined = len(formed & others_formed)
        needed = 1 if form is strip_invisible else MIN_GAIN * possible
        if n_joined > best and n_joined - n_shared >= needed:
            best, best_form = n_joined, form
    return best_form


def _find_clashes(ids: Sequence[str], form: Callable[[str], str]) -> Counter[str]:
    """Count the ids of a view by the form that they have in common with others of it."""
    return Counter({formed: times for formed, times in Counter(map(form, ids)).items() if times > 1})


def _note_few_shared(by_view: Mapping[str, Sequence[str]]) -> list[str]:
    """Note how many ids a view has in common with the others if these are few, with examples from both sides."""
    for name, ids in by_view.items():
        elsewhere = {entity_id for other, others in by_view.items() if other != name for entity_id in others}
        shared = elsewhere.intersection(ids)
        if shared and len(shared) < FEW_SHARED * min(len(ids), len(elsewhere)):
            unshared = [entity_id for entity_id in ids if entity_id not in shared][:3]
            others = sorted(elsewhere - shared)[:3]
            return [  # a view on the other side of the mismatch would say the same
                f"View {name!r} shares {len(shared):,} of its {len(ids):,} ids with other views. Examples of ids that "
                f"it alone has: {list_names(unshared)}; of ids that it lacks: {list_names(others)}."
            ]
    return []
