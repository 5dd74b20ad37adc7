"""What came out, in plain words."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...explain import describe_support
from ...metrics import agreement_rate
from ..caveats import AGREEMENT_CAVEAT
from ..charts import chip
from ..facts import Facts
from ..markup import Html, count, counted, decimal, join, share, tag, user
from .reliance import MOST_LETTERS, describe_verdict, list_advice
from .section import Section

MOST_HINTS = 5
TINY = 0.01  # share of the entities below which a cluster may be a few outliers
FEW = 10  # entities below which a share says little


def summary(facts: Facts) -> Section:
    """The headline, a few figures, how far to trust them, and where to look first."""
    hints = list(_hints(facts))[:MOST_HINTS]
    body = join(
        (
            _open_with_verdict(facts),
            tag("p", _headline(facts), class_="lead"),
            tag("dl", (_figure(*own) for own in _figures(facts)), class_="figures"),
            _judge(facts),
            tag("h2", "What to look at", class_="small") if hints else None,
            tag("ul", (tag("li", hint) for hint in hints), class_="hints") if hints else None,
        )
    )
    return Section("summary", "Summary", user(facts.title, 160), body, level="h1")


def _open_with_verdict(facts: Facts) -> Html | None:
    """The box at the top: how far to rely on the clusters, or that nothing speaks for groups."""
    if facts.selection is not None and not facts.selection.supported:
        return _doubt_groups(facts, facts.selection.reason)
    return None if facts.assessment is None else describe_verdict(facts.assessment)


def _doubt_groups(facts: Facts, reason: str) -> Html:
    remedy = "-k N" if facts.is_command else "n_clusters=N"
    advice = f"All entities make one cluster; {remedy} divides them into N anyway."
    return tag(
        "div",
        tag("p", user(reason, MOST_LETTERS), class_="reason"),
        tag("p", advice) if len(facts.sizes) < 2 else None,
        tag("p", tag("a", "The numbers of clusters that were tried", href="#selection")),
        class_="verdict unreliable",
    )


def _headline(facts: Facts) -> Html:
    n_views = facts.views.n_views
    views = "one view" if n_views == 1 else f"{n_views} views"
    n_placed = sum(facts.sizes.values())
    entities = counted(facts.n, "entity", "entities")
    parts: list[str] = [
        tag("strong", entities if n_placed == facts.n else f"{count(n_placed)} of {entities}"),
        " described by ",
        tag("strong", views),
        " fall into " if n_placed != 1 else " falls into ",
        tag("strong", counted(len(facts.sizes), "cluster")),
        ". ",
    ]
    if facts.agreement is not None and facts.shows_views:
        parts.append(_agreed(facts))
    return join(parts)


def _agreed(facts: Facts) -> str:
    rate = share(agreement_rate(facts.said))
    several = sum((said >= 0).astype(int) for said in facts.said.values())
    agreed = (
        f"All views say the same for {rate} of the entities"
        if np.all(several == len(facts.said))
        else f"Of the entities that have more than one view, {rate} are put into the same cluster by all of theirs"
    )
    disputed = f"{'none is' if not facts.contested.any() else counted(facts.contested.sum(), 'is', 'are')} contested"
    if facts.contested_among_confirmed is not None:
        disputed += f", {count(facts.contested_among_confirmed.sum())} among the views that are confirmed"
    return f"{agreed}; {disputed}."


def _figures(facts: Facts) -> Iterator[tuple[str, str, str]]:
    """(name, number, what it means) of the few that matter."""
    known = facts.labels >= 0
    middle = float(np.median(facts.sure[known])) if known.any() else np.nan
    yield "Entities", count(facts.n), "all in the table below"
    yield "Views", str(facts.views.n_views), "descriptions of each"
    yield "Clusters", str(len(facts.sizes)), _describe_sizes(facts)
    if not facts.shows_views:
        return
    yield "Confidence", decimal(middle), facts.sure_middle
    if facts.agreement is not None:
        apart = facts.agreement[~np.eye(len(facts.agreement), dtype=bool)]
        if np.isfinite(apart).any():
            yield "Agreement", share(float(np.nanmean(apart))), "of two views, on average"


def _judge(facts: Facts) -> Html | None:
    """What the figures say about the quality of the clusters, if no assessment says it."""
    if facts.agreement is None or facts.assessment is not None or not facts.shows_views:
        return None
    return tag("p", AGREEMENT_CAVEAT)


def _describe_sizes(facts: Facts) -> str:
    """Write the smallest and the largest size of a cluster."""
    if not facts.sizes:
        return "none found"
    low, high = min(facts.sizes.values()), max(facts.sizes.values())
    if len(facts.sizes) == 1:
        return counted(high, "entity", "entities")
    sizes = counted(low, "entity", "entities") if low == high else f"{count(low)} to {count(high)} entities"
    return f"{sizes} each"


def _figure(name: str, number: str, meaning: str) -> Html:
    return tag("div", tag("dt", name), tag("dd", tag("b", number), tag("small", meaning)))


def _hints(facts: Facts) -> Iterator[Html]:
    """Where a careful reader would look first, the gravest first."""
    if not getattr(facts.model, "converged_", True) and facts.shows_views:
        yield join(("The rounds ran out before the model settled: ", _link("see its course", "agreement"), "."))
    if (nowhere := int((facts.labels < 0).sum())) > 0:
        pronoun = "it" if nowhere == 1 else "them"
        link = tag("a", f"see {pronoun} in the table", href="#find", data_find=-1)
        yield join((f"{counted(nowhere, 'entity is', 'entities are')} in no cluster: ", link, "."))
    if getattr(facts.model, "runner_up_", None) is not None:
        yield join(("Two groupings are equally supported by your views: ", _link("see the other", "information"), "."))
    if facts.shows_views:
        yield from _doubtful_views(facts)
        yield from _least_settled(facts)
        yield from _tiny(facts)
    alone = int((facts.views.present.sum(axis=1) == 1).sum())
    if facts.views.n_views > 1 and alone:
        yield join(
            (
                f"{counted(alone, 'entity has', 'entities have')} one view only, which nothing can contradict: ",
                _link("who has what", "data"),
                ".",
            )
        )


def _doubtful_views(facts: Facts) -> Iterator[Html]:
    """Views to doubt, by the assessment or, without one, by what the model knows of its views."""
    if facts.assessment is None:
        yield from _support(facts)
        yield from _least_agreed(facts)
        return
    for sentence in list_advice(facts.assessment):
        yield join((user(sentence, MOST_LETTERS), " ", _link("See the views", "reliance"), "."))


def _support(facts: Facts) -> Iterator[Html]:
    view_information = getattr(facts.model, "view_information_", None)
    if view_information is not None and len(facts.sizes) > 1 and (sentence := describe_support(view_information)):
        yield join((user(sentence, 600), " ", _link("See all views", "information"), "."))


def _least_settled(facts: Facts) -> Iterator[Html]:
    is_contested, views = facts.contested, "views"
    if facts.contested_among_confirmed is not None:
        is_contested, views = facts.contested_among_confirmed, "confirmed views"
    parts = {c: is_contested[facts.labels == c].mean() for c, size in facts.sizes.items() if size >= FEW}
    worst = max(parts, key=lambda c: (parts[c], -c), default=None)
    if worst is not None and len(parts) > 1 and parts[worst] > 0:
        yield join(
            (
                "Cluster ",
                chip(worst),
                f" is the most contested: the {views} contradict each other on {share(parts[worst])} of its "
                f"{count(facts.sizes[worst])} entities. ",
                _link("Who they are", "contested"),
                ".",
            )
        )


def _least_agreed(facts: Facts) -> Iterator[Html]:
    if facts.agreement is None or len(facts.agreement) < 3 or not np.isfinite(facts.agreement).all():
        return
    names = list(facts.said)
    rates = np.where(np.eye(len(names), dtype=bool), np.nan, facts.agreement)
    mean = np.nanmean(rates, axis=1)
    odd = int(mean.argmin())
    yield join(
        (
            "View “",
            user(names[odd]),
            f"” agrees least with the others, {share(float(mean[odd]))} on average: ",
            _link("see all pairs", "agreement"),
            ".",
        )
    )


def _tiny(facts: Facts) -> Iterator[Html]:
    tiny = [c for c, size in sorted(facts.sizes.items()) if size < TINY * facts.n]
    if tiny:
        named = join(part for c in tiny[:6] for part in (chip(c), " "))
        more = f"and {len(tiny) - 6} more " if len(tiny) > 6 else ""
        verb = "Cluster " if len(tiny) == 1 else "Clusters "
        end = "holds less than 1% of the entities" if len(tiny) == 1 else "hold less than 1% of the entities each"
        yield join((verb, named, more + end + ": outliers, or more clusters than there are?"))


def _link(text: str, section: str) -> Html:
    return tag("a", text, href=f"#{section}")
