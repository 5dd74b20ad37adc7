"""Seeds: known classes of some entities, which the fit uses."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data import Constraints, Views
from ..files import EncodedData, InputData, match_classes
from ..registry import EstimatorDeclaration
from ..report.charts import build_row, build_table
from ..report.facts import ReportFacts
from ..report.markup import mark_user_text, tag
from ..report.sections.section import Section
from .log import count_noun

MAX_LISTED = 20  # classes in a line of the log


@dataclass(frozen=True, eq=False)
class SeedClasses:
    """The known classes of some entities: names of the classes, and the number of each entity's class or -1."""

    origin: str
    names: list[str]
    numbers: np.ndarray

    @property
    def is_seeded(self) -> np.ndarray:
        """Mask of the entities whose class is known."""
        return self.numbers >= 0

    @property
    def sizes(self) -> np.ndarray:
        """Number of entities known to be in each class."""
        return np.bincount(self.numbers[self.is_seeded], minlength=len(self.names))

    @property
    def listed(self) -> str:
        """The first classes, for messages."""
        return ", ".join(self.names[:MAX_LISTED]) + (" ..." if len(self.names) > MAX_LISTED else "")

    def check_n_clusters(self, n_clusters: int) -> None:
        """Refuse fewer clusters than classes."""
        if len(self.names) > n_clusters:
            raise ValueError(
                f"{self.origin} (--seeds) has {len(self.names)} classes ({self.listed}), but -k is {n_clusters}: each "
                f"class is a cluster, so give -k {len(self.names)} or more"
            )

    def to_constraints(self, is_present: np.ndarray | None = None) -> Constraints:
        """Return must-links within classes and cannot-links between them, of the entities that have a view."""
        seeded = np.flatnonzero(self.is_seeded if is_present is None else self.is_seeded & is_present)
        _, first, inverse = np.unique(self.numbers[seeded], return_index=True, return_inverse=True)
        must = np.column_stack([seeded[first[inverse]], seeded])
        i, j = np.triu_indices(len(first), 1)
        return Constraints(
            must[must[:, 0] != must[:, 1]], np.column_stack([seeded[first[i]], seeded[first[j]]]), by="position"
        )

    def add_to(
        self, constraints: Constraints | dict[str, Constraints] | None, views: Views
    ) -> Constraints | dict[str, Constraints]:
        """Return constraints and those that follow from the seeds; by view, if the constraints are."""
        match constraints:
            case None:
                return self.to_constraints()
            case dict():
                masks = dict(zip(views.names, views.present.T, strict=True))
                return {name: links | self.to_constraints(masks[name]) for name, links in constraints.items()}
        return constraints | self.to_constraints()

    def list_notes(self, declaration: EstimatorDeclaration) -> list[str]:
        """Return notes on how the seeds are used, and on classes that tell the fit little or everything."""
        n_seeded = int(self.is_seeded.sum())
        notes = [
            f"{self.origin} (--seeds): the fit uses the classes of {count_noun(n_seeded, 'entity', 'entities')} of "
            f"{len(self.numbers):,}: {self.listed}."
        ]
        if "-1" in self.names:
            notes.append("--seeds has a class '-1'. If it means that the class is unknown, leave these cells empty.")
        if not declaration.takes_seeds:
            notes.append(
                f"--method {declaration.name} uses the seeds as constraints: must-links within a class, cannot-links "
                "between classes."
            )
        if n_seeded == len(self.numbers):
            result = ": clusters are classes" if declaration.takes_seeds else ""
            notes.append(f"All entities have a class in --seeds, so there is nothing left to find{result}.")
        if len(self.names) == 1:
            notes.append(f"--seeds has a single class, {self.names[0]!r}: it says nothing about the other clusters.")
        single = [name for name, size in zip(self.names, self.sizes.tolist(), strict=True) if size == 1]
        if single:
            notes.append(
                f"--seeds has a single entity of {count_noun(len(single), 'class', 'classes')} (the first is "
                f"{single[0]!r})."
            )
        return notes

    def describe(self, labels: np.ndarray) -> list[dict[str, Any]]:
        """Return for each class its number of entities, the cluster with most of them, and how many are in it."""
        described = []
        for number, name in enumerate(self.names):
            clusters = Counter(labels[(self.numbers == number) & (labels >= 0)].tolist())
            cluster, n_inside = clusters.most_common(1)[0] if clusters else (None, 0)
            described.append(
                {"class": name, "entities": int(self.sizes[number]), "cluster": cluster, "in_cluster": n_inside}
            )
        return described


def read_seeds(reading: InputData, prepared: EncodedData) -> SeedClasses | None:
    """Return the classes that --seeds names for the entities that are clustered, None without --seeds.

    Classes that are numbers are ordered by value, before the others by name.
    """
    if not reading.seed_classes:
        return None
    classes = match_classes(reading.seed_classes, prepared.entities)[prepared.kept]
    is_number = re.compile(r"-?\d+(\.\d*)?").fullmatch
    names = sorted(set(classes.tolist()) - {""}, key=lambda name: (float(name) if is_number(name) else np.inf, name))
    origin = " and ".join(source.origin for source in reading.seed_classes)
    if not names:
        raise ValueError(f"{origin} (--seeds) has no class for an entity with data: check the ids")
    position = {name: number for number, name in enumerate(names)}
    return SeedClasses(origin, names, np.array([position.get(name, -1) for name in classes.tolist()]))


def describe_seeds(described: list[dict[str, Any]]) -> str:
    """Describe in a line which cluster each class became."""
    parts = []
    for row in described[:MAX_LISTED]:
        place = "in no cluster" if row["cluster"] is None else f"cluster {row['cluster']}"
        inside = "" if row["in_cluster"] == row["entities"] else f", {row['in_cluster']:,} of them inside"
        parts.append(f"{row['class']} ({count_noun(row['entities'], 'seed')}{inside}): {place}")
    clusters = Counter(row["cluster"] for row in described if row["cluster"] is not None)
    merged = "".join(
        f" Cluster {cluster} has most seeds of {n_classes} classes."
        for cluster, n_classes in clusters.items()
        if n_classes > 1
    )
    more = f"; {len(described) - MAX_LISTED} more in summary.json" if len(described) > MAX_LISTED else ""
    return f"Seeds became clusters: {'; '.join(parts)}{more}.{merged}"


def build_seeds_section(described: list[dict[str, Any]], facts: ReportFacts) -> Section:
    """Return the section of the report that shows which cluster each class of the seeds became."""
    rows = [
        build_row(
            mark_user_text(row["class"], 30),
            f"{row['entities']:,}",
            "–" if row["cluster"] is None else facts.draw_group(row["cluster"]),
            f"{row['in_cluster']:,}",
            f"{facts.sizes.get(row['cluster'], 0):,}",
        )
        for row in described
    ]
    head = ("Class", "Items known", "Group with most of them", "Known in it", "Size of the group")
    text = tag(
        "p",
        "The fit has used the known classes of these items. Scores and the comparison with known classes leave them "
        "out, as if their class were unknown.",
    )
    return Section.build(
        "seeds", "Seeds", "Known classes that the fit has used", text, build_table("Seeds", head, rows)
    )
