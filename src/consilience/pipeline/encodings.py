"""Choose the encodings of texts and links without labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._tuning import Tuning
from ..arrays import Seed, make_generator
from ..data import Table, Views
from ..files import (
    EncodedData,
    Entities,
    ViewContent,
    ViewEncoding,
    advise_semantic,
    fit_and_encode,
    list_text_candidates,
)
from ..files.link_encoders import list_link_candidates, list_link_ids, mark_nodes, number_nodes, sum_links
from ..selection import RepresentationChoice, compare_representations
from ..selection.representations import grow_sample

MAX_SIMILARITIES = 20_000  # entities up to which links may become a graph: methods never sample similarities
tuning = Tuning(max_sampled=1_500)  # entities on which encodings are compared
OUTSIDE_KNOWLEDGE, SAME_DATA = 0.5, 0.98  # least_kept: for vectors of words, and for links used in different ways
USES = {  # of a content, by its encoding
    "words": "by its words",
    "semantic": "by its meaning instead of its words",
    "words+semantic": "by its meaning beside its words",
    "rows": "as rows of linked ids",
    "graph": "as a graph",
    "smooth": "to average the other views along them",
    "rows+smooth": "as rows of linked ids, and to average the other views along them",
    "graph+smooth": "as a graph, and to average the other views along them",
}


@dataclass(frozen=True, eq=False)
class EncodingChoices:
    """The encodings that were chosen, what to tell the user, and the figures behind it."""

    encode: dict[str, Any]  # by content; contents that have a single candidate are not listed
    notes: list[str] = field(default_factory=list)
    tables: dict[str, Table] = field(default_factory=dict)  # by content: the candidates and their scores


def select_encodings(
    contents: Sequence[ViewContent],
    entities: Entities,
    *,
    rare: bool,
    encode: Mapping[str, Any] | None = None,
    n_clusters: int | None = None,
    random_state: Seed = 0,
    n_jobs: int | None = None,
) -> EncodingChoices:
    """Choose an encoding for each content that has several candidates and none in `encode`, links last.

    The contents are taken one after the other, the others being encoded as chosen so far or by their default. Encodings
    are compared on a sample of the entities, which for links grows along them.
    """
    rng = make_generator(random_state)
    choices = EncodingChoices(dict(encode or {}))
    advice = advise_semantic(content for content in contents if content.name not in choices.encode)
    if advice is not None:
        choices.notes.append(advice)
    for content in sorted(contents, key=lambda content: content.kind == "links"):
        is_links = content.kind == "links"
        candidates = list_link_candidates(contents) if is_links else list_text_candidates(content)
        if len(entities) > MAX_SIMILARITIES:
            candidates = [candidate for candidate in candidates if candidate != "graph"]
        if content.name in choices.encode or len(candidates) < 2:
            continue
        sample = draw_entities(entities, content if is_links else None, rng)
        sampled_contents, sampled_entities = take_entities(contents, entities, sample)
        try:
            encoded = {
                candidate: fit_and_encode(
                    sampled_contents,
                    rare=rare,
                    entities=sampled_entities,
                    encode={**choices.encode, content.name: candidate},
                )
                for candidate in candidates
            }
            choice = compare_representations(
                take_common_entities(encoded),
                n_clusters=n_clusters,
                precomputed=find_views(encoded, lambda encoding: encoding.encoder.kind == "similarities"),
                dependent=find_views(encoded, lambda encoding: encoding.smoothed is not None),
                least_kept=SAME_DATA if is_links else OUTSIDE_KNOWLEDGE,
                max_entities=tuning.max_sampled,
                random_state=rng,
                n_jobs=n_jobs,
            )
        except ValueError as error:
            default = {**choices.encode, content.name: candidates[0]}
            fit_and_encode(sampled_contents, rare=rare, entities=sampled_entities, encode=default)  # is the data wrong?
            reason = str(error).replace("give n_clusters", "give -k N")
            choices.notes.append(f"{describe_use(content, candidates[0])}: encodings could not be compared ({reason}).")
            continue
        choices.encode[content.name] = choice.name
        choices.tables[content.name] = choice.table
        choices.notes.append(describe_choice(content, choice))
    return choices


def draw_entities(entities: Entities, links: ViewContent | None, rng: np.random.Generator) -> np.ndarray:
    """Return the positions of the entities on which encodings are compared; with links, a sample grows along them."""
    n_entities = len(entities)
    if n_entities <= tuning.max_sampled:
        return np.arange(n_entities)
    if links is None:
        return np.sort(rng.choice(n_entities, tuning.max_sampled, replace=False))
    ids = list_link_ids(entities, links.name)
    number = number_nodes(links.data, ids)
    touched = sum_links(links.data, ids, number) + mark_nodes(ids, number)  # (entities, nodes)
    graph = sp.csr_array(sp.block_array([[None, touched], [touched.T, None]]))
    return grow_sample(graph, n_entities, tuning.max_sampled, rng)


def take_entities(
    contents: Sequence[ViewContent], entities: Entities, sample: np.ndarray
) -> tuple[Sequence[ViewContent], Entities]:
    """Return the contents and the entities of a sample; texts and links of other entities are dropped."""
    if len(sample) == len(entities):
        return contents, entities
    taken, rows, row_ids = [], dict(entities.rows), dict(entities.row_ids)
    for content in contents:
        name, data, n_rows, ids = content.name, content.data, content.n_rows, content.ids
        rows[name] = entities.rows[name][sample]
        if content.kind in ("text", "names", "links"):
            used = np.unique(rows[name][rows[name] >= 0])
            rows[name] = np.where(rows[name] >= 0, np.searchsorted(used, rows[name]), -1)
            if row_ids[name] is not None:
                row_ids[name] = row_ids[name][used]
            if content.kind == "links":
                others = set(entities.row_ids[name].tolist()) - set(row_ids[name].tolist())
                ends = zip(data[0].tolist(), data[1].tolist(), strict=True)
                is_kept = np.array([others.isdisjoint(pair) for pair in ends], dtype=bool)
                data = tuple(np.asarray(column)[is_kept] for column in data)
            else:
                data, n_rows, ids = data[used], len(used), None if ids is None else ids[used]
        taken.append(replace(content, data=data, n_rows=n_rows, ids=ids))
    sampled_ids = None if entities.ids is None else entities.ids[sample]
    return taken, Entities(sampled_ids, rows, row_ids, entities.is_mapped)


def take_common_entities(encoded: Mapping[str, EncodedData]) -> dict[str, Views]:
    """Return the views of each candidate, with the entities that all candidates describe."""
    is_common = np.logical_and.reduce([data.kept for data in encoded.values()])
    return {name: data.views[is_common[data.kept]] for name, data in encoded.items()}


def find_views(encoded: Mapping[str, EncodedData], is_wanted: Callable[[ViewEncoding], bool]) -> set[str]:
    """Return the names of the views of any candidate whose encoding is of a kind."""
    return {name for data in encoded.values() for name, encoding in data.encodings.items() if is_wanted(encoding)}


def describe_use(content: ViewContent, encoding: str) -> str:
    """Return how a content is used: "View 'title' is used by its words"."""
    return f"View {content.name!r} is used {USES.get(encoding, f'as {encoding}')}"


def describe_choice(content: ViewContent, choice: RepresentationChoice) -> str:
    """Return the choice as a sentence for the user."""
    scores = dict(zip(choice.table["candidate"].tolist(), choice.table["score"].tolist(), strict=True))
    default = next(iter(scores))
    use = describe_use(content, choice.name)
    if choice.name == default:
        return f"{use}: other encodings do not make clusters that the views predict clearly better."
    return (
        f"{use}: from other entities the views then predict {scores[choice.name]:.0%} of the information about the "
        f"clusters, against {scores[default]:.0%}. --encode {content.name}={default} keeps the default."
    )
