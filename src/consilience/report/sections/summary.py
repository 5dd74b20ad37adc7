"""Section: the result in plain words, and what to look at first."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...explain import describe_support
from ...metrics import agreement_rate
from ..charts import draw_cluster, draw_figure
from ..facts import AGREEMENT_CAVEAT, ReportFacts
from ..markup import Html, format_count, format_decimal, format_integer, format_share, join_html, mark_user_text, tag
from .reliance import MAX_SENTENCE, describe_verdict, list_advice
from .section import Section

MAX_HINTS = 5
TINY = 0.01  # share of the entities below which a cluster may consist of outliers
MIN_SIZE = 10  # entities below which a share of a cluster says little
MAX_NAMED = 6  # tiny clusters to name


def build_summary(facts: ReportFacts) -> Section:
    """Return the headline, the main figures, how much to trust them, and what to look at first."""
    hints = list(_list_hints(facts))[:MAX_HINTS]
    has_caveat = facts.agreement is not None and facts.assessment is None and facts.shows_views
    return Section.build(
        "summary",
        "Summary",
        mark_user_text(facts.title, 160),
        _open_with_verdict(facts),
        tag("p", _write_headline(facts), class_="lead"),
        tag("dl", (draw_figure(*figure) for figure in _list_figures(facts)), class_="figures"),
        tag("p", AGREEMENT_CAVEAT) if has_caveat else None,
        tag("h2", "What to look at", class_="small") if hints else None,
        tag("ul", (tag("li", hint) for hint in hints), class_="hints") if hints else None,
        level="h1",
    )


def _open_with_verdict(facts: ReportFacts) -> Html | None:
    """Return the box at the top: how reliable the clusters are, or that there is no evidence for groups."""
    if facts.selection is None or facts.selection.supported:
        return None if facts.assessment is None else describe_verdict(facts.assessment)
    remedy = "-k N" if facts.is_command else "n_clusters=N"
    advice = f"All entities form one cluster; use {remedy} to get N clusters anyway."
    return tag(
        "div",
        tag("p", mark_user_text(facts.selection.reason, MAX_SENTENCE), class_="reason"),
        tag("p", advice) if len(facts.sizes) < 2 else None,
        tag("p", tag("a", "The numbers of clusters that were tried", href="#selection")),
        class_="verdict unreliable",
    )


def _write_headline(facts: ReportFacts) -> Html:
    n_views, n_placed = facts.views.n_views, sum(facts.sizes.values())
    entities = format_count(facts.n, "entity", "entities")
    return join_html(
        (
            tag("strong", entities if n_placed == facts.n else f"{format_integer(n_placed)} of {entities}"),
            " described by ",
            tag("strong", "one view" if n_views == 1 else f"{n_views} views"),
            " fall into " if n_placed != 1 else " falls into ",
            tag("strong", format_count(len(facts.sizes), "cluster")),
            ". ",
            _describe_agreement(facts) if facts.agreement is not None and facts.shows_views else None,
        )
    )


def _describe_agreement(facts: ReportFacts) -> str:
    rate = format_share(agreement_rate(facts.view_labels))
    n_present = sum((labels >= 0).astype(int) for labels in facts.view_labels.values())
    agreed = (
        f"All views agree on {rate} of the entities"
        if np.all(n_present == len(facts.view_labels))
        else f"Of the entities with more than one view, {rate} get the same cluster from all their views"
    )
    n_contested = int(facts.contested.sum())
    contested = f"{'none is' if not n_contested else format_count(n_contested, 'is', 'are')} contested"
    if facts.contested_among_confirmed is not None:
        contested += f", {format_integer(facts.contested_among_confirmed.sum())} among the views that are confirmed"
    return f"{agreed}; {contested}."


def _list_figures(facts: ReportFacts) -> Iterator[tuple[str, str, str]]:
    """Yield name, number and meaning of the main figures."""
    yield "Entities", format_integer(facts.n), "all in the table below"
    yield "Views", str(facts.views.n_views), "descriptions of each"
    yield "Clusters", str(len(facts.sizes)), _describe_sizes(facts)
    if not facts.shows_views:
        return
    is_placed = facts.labels >= 0
    median = float(np.median(facts.confidence[is_placed])) if is_placed.any() else np.nan
    yield "Confidence", format_decimal(median), facts.confidence_meaning[1]
    if facts.agreement is not None:
        pairs = facts.agreement[~np.eye(len(facts.agreement), dtype=bool)]
        if np.isfinite(pairs).any():
            yield "Agreement", format_share(float(np.nanmean(pairs))), "of two views, on average"


def _describe_sizes(facts: ReportFacts) -> str:
    """Write the smallest and the largest size of a cluster."""
    if not facts.sizes:
        return "none found"
    low, high = min(facts.sizes.values()), max(facts.sizes.values())
    if len(facts.sizes) == 1:
        return format_count(high, "entity", "entities")
    sizes = format_count(low, "entity", "entities") if low == high else f"{low:,} to {high:,} entities"
    return f"{sizes} each"


def _list_hints(facts: ReportFacts) -> Iterator[Html]:
    """Yield what to look at first, the most serious first."""
    if not getattr(facts.model, "converged_", True) and facts.shows_views:
        yield join_html(("The model did not converge: ", _link("see the rounds", "agreement"), "."))
    if (n_outside := int((facts.labels < 0).sum())) > 0:
        link = tag("a", f"see {'it' if n_outside == 1 else 'them'} in the table", href="#find", data_find=-1)
        yield join_html((f"{format_count(n_outside, 'entity is', 'entities are')} in no cluster: ", link, "."))
    if getattr(facts.model, "runner_up_", None) is not None:
        words = "Two groupings are equally supported by your views: "
        yield join_html((words, _link("see the other", "information"), "."))
    if facts.shows_views:
        yield from _hint_at_doubtful_views(facts)
        yield from _hint_at_most_contested(facts)
        yield from _hint_at_tiny_clusters(facts)
    n_alone = int((facts.views.present.sum(axis=1) == 1).sum())
    if facts.views.n_views > 1 and n_alone:
        words = f"{format_count(n_alone, 'entity has', 'entities have')} only one view, which no other can contradict: "
        yield join_html((words, _link("see the missing views", "data"), "."))


def _hint_at_doubtful_views(facts: ReportFacts) -> Iterator[Html]:
    """Yield views to doubt, by the assessment or, without one, by the model."""
    if facts.assessment is not None:
        for sentence in list_advice(facts.assessment):
            yield join_html((mark_user_text(sentence, MAX_SENTENCE), " ", _link("See the views", "reliance"), "."))
        return
    information = getattr(facts.model, "view_information_", None)
    if information is not None and (support := describe_support(information)):
        yield join_html((mark_user_text(support, MAX_SENTENCE), " ", _link("See all views", "information"), "."))
    yield from _hint_at_least_agreement(facts)


def _hint_at_most_contested(facts: ReportFacts) -> Iterator[Html]:
    is_contested, views = facts.contested, "views"
    if facts.contested_among_confirmed is not None:
        is_contested, views = facts.contested_among_confirmed, "confirmed views"
    shares = {
        cluster: is_contested[facts.labels == cluster].mean()
        for cluster, size in facts.sizes.items()
        if size >= MIN_SIZE
    }
    worst = max(shares, key=lambda cluster: (shares[cluster], -cluster), default=None)
    if worst is not None and len(shares) > 1 and shares[worst] > 0:
        words = (
            f" is the most contested: the {views} contradict each other on {format_share(shares[worst])} of its "
            f"{format_integer(facts.sizes[worst])} entities. "
        )
        yield join_html(("Cluster ", draw_cluster(worst), words, _link("See these entities", "contested"), "."))


def _hint_at_least_agreement(facts: ReportFacts) -> Iterator[Html]:
    if facts.agreement is None or len(facts.agreement) < 3 or not np.isfinite(facts.agreement).all():
        return
    names = list(facts.view_labels)
    means = np.nanmean(np.where(np.eye(len(names), dtype=bool), np.nan, facts.agreement), axis=1)
    lowest = int(means.argmin())
    words = f"” agrees least with the others, {format_share(float(means[lowest]))} on average: "
    yield join_html(("View “", mark_user_text(names[lowest]), words, _link("see all pairs", "agreement"), "."))


def _hint_at_tiny_clusters(facts: ReportFacts) -> Iterator[Html]:
    tiny = [cluster for cluster, size in sorted(facts.sizes.items()) if size < TINY * facts.n]
    if tiny:
        noun, verb = ("Cluster ", "holds less than 1%") if len(tiny) == 1 else ("Clusters ", "each hold less than 1%")
        symbols = ((draw_cluster(cluster), " ") for cluster in tiny[:MAX_NAMED])
        more = f"and {len(tiny) - MAX_NAMED} more " if len(tiny) > MAX_NAMED else ""
        words = f"{more}{verb} of the entities: they may be outliers, or there may be too many clusters."
        yield join_html((noun, *map(join_html, symbols), words))


def _link(text: str, section: str) -> Html:
    return tag("a", text, href=f"#{section}")
