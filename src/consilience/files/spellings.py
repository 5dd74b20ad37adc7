"""Ids that files write differently: 007 and 7.0, ab-1 and AB-1, letters with composed and with split accents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from .formats.columns import drop_zeros, strip_invisible
from .kinds import ViewContent
from .spec import list_names

MIN_GAIN = 0.1  # of the ids that could be joined, which a form must join beyond the ids as they are written
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
    """The spelling of ids in all files: that of the first view, for each form that joins differently written ids."""

    form: Callable[[str], str] | None = None  # None: ids are joined as they are written
    chosen: Mapping[str, str] = field(default_factory=dict)  # by form

    def respell(self, ids: np.ndarray) -> np.ndarray:
        """Return ids in the common spelling; those that no view has stay as they are."""
        if self.form is None:
            return ids
        return np.array([self.chosen.get(self.form(entity_id), entity_id) for entity_id in ids.tolist()], dtype=object)


def unify_spellings(contents: Sequence[ViewContent]) -> tuple[list[ViewContent], Spellings, list[str]]:
    """Give ids that are the same but written differently one spelling, and tell the user which and how many.

    A form of the ids is used only if it keeps the ids of each view apart, and joins clearly more of them than their
    texts do. The mildest such form is used.
    """
    by_view = {content.name: _list_view_ids(content) for content in contents}
    by_view = {name: ids for name, ids in by_view.items() if ids}
    sets = list({frozenset(ids): ids for ids in by_view.values()}.values())
    form = _choose_form(sets)
    if form is None:
        return list(contents), Spellings(), _note_few_shared(by_view)
    chosen: dict[str, str] = {}
    for entity_id in (entity_id for ids in sets for entity_id in ids):
        chosen.setdefault(form(entity_id), entity_id)
    spellings = Spellings(form, chosen)
    respelled = [_respell_content(content, spellings) for content in contents]
    notes = []
    for ids in sets:
        changed = [entity_id for entity_id in ids if chosen[form(entity_id)] != entity_id]
        if changed:
            names = [repr(name) for name, of_view in by_view.items() if of_view == ids]
            writes = f"View {names[0]} writes" if len(names) == 1 else f"Views {' and '.join(names)} write"
            examples = ", ".join(f"{entity_id!r} for {chosen[form(entity_id)]!r}" for entity_id in changed[:3])
            notes.append(
                f"{writes} {len(changed):,} of {len(ids):,} ids differently from another view, such as {examples}: "
                "they are taken for the same ids."
            )
    by_view = {name: [chosen[form(entity_id)] for entity_id in ids] for name, ids in by_view.items()}
    return respelled, spellings, notes + _note_few_shared(by_view)


def match_spellings(ids: np.ndarray, view_ids: Iterable[str]) -> np.ndarray:
    """Return the ids of a further file in the spelling of those of views, if that joins clearly more of them."""
    distinct = list(dict.fromkeys(view_ids))
    form = _choose_form([distinct, list(dict.fromkeys(ids.tolist()))])
    return ids if form is None else Spellings(form, {form(entity_id): entity_id for entity_id in distinct}).respell(ids)


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


def _choose_form(sets: Sequence[Sequence[str]]) -> Callable[[str], str] | None:
    """Return the mildest form that joins the most ids, None if their texts join nearly as many."""
    if len(sets) < 2:
        return None
    possible = sorted(map(len, sets))[-2]
    n_shared = _count_shared(sets)
    best, best_form = n_shared, None
    for form in FORMS if n_shared < possible else ():
        formed = [list(map(form, ids)) for ids in sets]
        if any(len(set(ids)) < len(ids) for ids in formed):
            break  # two ids of a view would become one
        n_joined = _count_shared(formed)
        needed = 1 if form is strip_invisible else MIN_GAIN * possible
        if n_joined > best and n_joined - n_shared >= needed:
            best, best_form = n_joined, form
    return best_form


def _count_shared(sets: Sequence[Sequence[str]]) -> int:
    """Count the ids that more than one view has."""
    counts = Counter(entity_id for ids in sets for entity_id in ids)
    return sum(times > 1 for times in counts.values())


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
