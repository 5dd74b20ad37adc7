"""What came out, in plain words."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...explain import describe_support
from ...metrics import agreement_rate
from ..caveats import AGREEMENT_CAVEAT
from ..charts import draw_cluster, draw_figure
from ..facts import ReportFacts
from ..markup import Html, format_count, format_decimal, format_integer, format_share, join_html, mark_user_text, tag
from .reliance import MOST_LETTERS, describe_verdict, list_advice
from .section import Section

MOST_HINTS = 5
TINY = 0.01  # share of the entities below which a cluster may be a few outliers
FEW = 10  # entities below which a share says little


def build_summary(facts: ReportFacts) -> Section:
    """The headline, a few figures, how far to trust them, and where to look first."""
    hints = list(_list_hints(facts))[:MOST_HINTS]
    body = join_html(
        (
            _open_with_verdict(facts),
            tag("p", _write_headline(facts), class_="lead"),
            tag("dl", (draw_figure(*own) for own in _list_figures(facts)), class_="figures"),
            _add_caveat(facts),
            tag("h2", "What to look at", class_="small") if hints else None,
            tag("ul", (tag("li", hint) for hint in hints), class_="hints") if hints else None,
        )
    )
    return Section("summary", "Summary", mark_user_text(facts.title, 160), body, level="h1")


def _open_with_verdict(facts: ReportFacts) -> Html | None:
    """The box at the top: how far to rely on the clusters, or that nothing speaks for groups."""
    if facts.selection is not None and not facts.selection.supported:
        return _report_no_groups(facts, facts.selection.reason)
    return None if facts.assessment is None else describe_verdict(facts.assessment)


def _report_no_groups(facts: ReportFacts, reason: str) -> Html:
    remedy = "-k N" if facts.is_command else "n_clusters=N"
    advice = f"All entities make one cluster; {remedy} divides them into N anyway."
    return tag(
        "div",
        tag("p", mark_user_text(reason, MOST_LETTERS), class_="reason"),
        tag("p", advice) if len(facts.sizes) < 2 else None,
        tag("p", tag("a", "The numbers of clusters that were tried", href="#selection")),
        class_="verdict unreliable",
    )


def _write_headline(facts: ReportFacts) -> Html:
    n_views = facts.views.n_views
    views = "one view" if n_views == 1 else f"{n_views} views"
    n_placed = sum(facts.sizes.values())
    entities = format_count(facts.n, "entity", "entities")
    parts: list[str] = [
        tag("strong", entities if n_placed == facts.n else f"{format_integer(n_placed)} of {entities}"),
        " described by ",
        tag("strong", views),
        " fall into " if n_placed != 1 else " falls into ",
        tag("strong", format_count(len(facts.sizes), "cluster")),
        ". ",
    ]
    if facts.agreement is not None and facts.shows_views:
        parts.append(_describe_agreement(facts))
    return join_html(parts)


def _describe_agreement(facts: ReportFacts) -> str:
    rate = format_share(agreement_rate(facts.view_labels))
    several = sum((said >= 0).astype(int) for said in facts.view_labels.values())
    agreed = (
        f"All views say the same for {rate} of the entities"
        if np.all(several == len(facts.view_labels))
        else f"Of the entities that have more than one view, {rate} are put into the same cluster by all of theirs"
    )
    disputed = (
        f"{'none is' if not facts.contested.any() else format_count(facts.contested.sum(), 'is', 'are')} contested"
    )
    if facts.contested_among_confirmed is not None:
        disputed += f", {format_integer(facts.contested_among_confirmed.sum())} among the views that are confirmed"
    return f"{agreed}; {disputed}."


def _list_figures(facts: ReportFacts) -> Iterator[tuple[str, str, str]]:
    """(name, number, what it means) of the few that matter."""
    known = facts.labels >= 0
    middle = float(np.median(facts.confidence[known])) if known.any() else np.nan
    yield "Entities", format_integer(facts.n), "all in the table below"
    yield "Views", str(facts.views.n_views), "descriptions of each"
    yield "Clusters", str(len(facts.sizes)), _describe_sizes(facts)
    if not facts.shows_views:
        return
    yield "Confidence", format_decimal(middle), facts.confidence_label
    if facts.agreement is not None:
        apart = facts.agreement[~np.eye(len(facts.agreement), dtype=bool)]
        if np.isfinite(apart).any():
            yield "Agreement", format_share(float(np.nanmean(apart))), "of two views, on average"


def _add_caveat(facts: ReportFacts) -> Html | None:
    """What the figures say about the quality of the clusters, if no assessment says it."""
    if facts.agreement is None or facts.assessment is not None or not facts.shows_views:
        return None
    return tag("p", AGREEMENT_CAVEAT)


def _describe_sizes(facts: ReportFacts) -> str:
    """Write the smallest and the largest size of a cluster."""
    if not facts.sizes:
        return "none found"
    low, high = min(facts.sizes.values()), max(facts.sizes.values())
    if len(facts.sizes) == 1:
        return format_count(high, "entity", "entities")
    sizes = (
        format_count(low, "entity", "entities")
        if low == high
        else f"{format_integer(low)} to {format_integer(high)} entities"
    )
    return f"{sizes} each"


def _list_hints(facts: ReportFacts) -> Iterator[Html]:
    """Where a careful reader would look first, the gravest first."""
    if not getattr(facts.model, "converged_", True) and facts.shows_views:
        yield join_html(("The rounds ran out before the model settled: ", _link("see its course", "agreement"), "."))
    if (nowhere := int((facts.labels < 0).sum())) > 0:
        pronoun = "it" if nowhere == 1 else "them"
        link = tag("a", f"see {pronoun} in the table", href="#find", data_find=-1)
        yield join_html((f"{format_count(nowhere, 'entity is', 'entities are')} in no cluster: ", link, "."))
    if getattr(facts.model, "runner_up_", None) is not None:
        yield join_html(
            ("Two groupings are equally supported by your views: ", _link("see the other", "information"), ".")
        )
    if facts.shows_views:
        yield from _hint_at_doubtful_views(facts)
        yield from _hint_at_most_contested(facts)
        yield from _hint_at_tiny_clusters(facts)
    alone = int((facts.views.present.sum(axis=1) == 1).sum())
    if facts.views.n_views > 1 and alone:
        yield join_html(
            (
                f"{format_count(alone, 'entity has', 'entities have')} one view only, which nothing can contradict: ",
                _link("who has what", "data"),
                ".",
            )
        )


def _hint_at_doubtful_views(facts: ReportFacts) -> Iterator[Html]:
    """Views to doubt, by the assessment or, without one, by what the model knows of its views."""
    if facts.assessment is None:
        yield from _hint_at_support(facts)
        yield from _hint_at_least_agreement(facts)
        return
    for sentence in list_advice(facts.assessment):
        yield join_html((mark_user_text(sentence, MOST_LETTERS), " ", _link("See the views", "reliance"), "."))


def _hint_at_support(facts: ReportFacts) -> Iterator[Html]:
    view_information = getattr(facts.model, "view_information_", None)
    if view_information is not None and len(facts.sizes) > 1 and (sentence := describe_support(view_information)):
        yield join_html((mark_user_text(sentence, 600), " ", _link("See all views", "information"), "."))


def _hint_at_most_contested(facts: ReportFacts) -> Iterator[Html]:
    is_contested, views = facts.contested, "views"
    if facts.contested_among_confirmed is not None:
        is_contested, views = facts.contested_among_confirmed, "confirmed views"
    parts = {c: is_contested[facts.labels == c].mean() for c, size in facts.sizes.items() if size >= FEW}
    worst = max(parts, key=lambda c: (parts[c], -c), default=None)
    if worst is not None and len(parts) > 1 and parts[worst] > 0:
        yield join_html(
            (
                "Cluster ",
                draw_cluster(worst),
                f" is the most contested: the {views} contradict each other on {format_share(parts[worst])} of its "
                f"{format_integer(facts.sizes[worst])} entities. ",
                _link("Who they are", "contested"),
                ".",
            )
        )


def _hint_at_least_agreement(facts: ReportFacts) -> Iterator[Html]:
    if facts.agreement is None or len(facts.agreement) < 3 or not np.isfinite(facts.agreement).all():
        return
    names = list(facts.view_labels)
    rates = np.where(np.eye(len(names), dtype=bool), np.nan, facts.agreement)
    mean = np.nanmean(rates, axis=1)
    odd = int(mean.argmin())
    yield join_html(
        (
            "View “",
            mark_user_text(names[odd]),
            f"” agrees least with the others, {format_share(float(mean[odd]))} on average: ",
            _link("see all pairs", "agreement"),
            ".",
        )
    )


def _hint_at_tiny_clusters(facts: ReportFacts) -> Iterator[Html]:
    tiny = [c for c, size in sorted(facts.sizes.items()) if size < TINY * facts.n]
    if tiny:
        named = join_html(part for c in tiny[:6] for part in (draw_cluster(c), " "))
        more = f"and {len(tiny) - 6} more " if len(tiny) > 6 else ""
        verb = "Cluster " if len(tiny) == 1 else "Clusters "
        end = "holds less than 1% of the entities" if len(tiny) == 1 else "hold less than 1% of the entities each"
        yield join_html((verb, named, more + end + ": outliers, or more clusters than there are?"))


def _link(text: str, section: str) -> Html:
    return tag("a", text, href=f"#{section}")
