"""Section: what to look at first."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...explain import describe_support
from ..facts import ReportFacts
from ..markup import Html, format_share, join_html, mark_sentence, mark_user_text, tag
from .reliance import list_advice
from .section import Section

MAX_HINTS = 5
TINY = 0.01  # share of the entities below which a group may consist of outliers
MIN_SIZE = 10  # entities below which a share of a group says little
MAX_NAMED = 6  # tiny groups to name


def build_hints(facts: ReportFacts) -> Section | None:
    """Return what to look at first."""
    hints = list(_list_hints(facts))[:MAX_HINTS]
    if not hints:
        return None
    return Section.build(
        "hints", "What to check", "What to check", tag("ul", (tag("li", hint) for hint in hints), class_="hints")
    )


def _list_hints(facts: ReportFacts) -> Iterator[Html]:
    """Yield what to look at first, the most serious first."""
    if not getattr(facts.model, "converged_", True) and facts.shows_views:
        yield join_html(("The model did not converge: ", _link("see the rounds", "agreement"), "."))
    if (n_outside := int((facts.labels < 0).sum())) > 0:
        link = tag("a", f"see {'it' if n_outside == 1 else 'them'} in the table", href="#find", data_find=-1)
        yield join_html((f"{facts.count(n_outside, 'is', 'are')} in no group: ", link, "."))
    if getattr(facts.model, "runner_up_", None) is not None:
        words = "Two groupings are equally supported by your views: "
        yield join_html((words, _link("see the other", "information"), "."))
    if facts.shows_views:
        yield from _hint_at_doubtful_views(facts)
        yield from _hint_at_most_contested(facts)
        yield from _hint_at_tiny_clusters(facts)
    n_alone = int((facts.views.present.sum(axis=1) == 1).sum())
    if facts.views.n_views > 1 and n_alone:
        words = f"{facts.count(n_alone, 'has', 'have')} only one view, which no other can contradict: "
        yield join_html((words, _link("see the missing views", "data"), "."))


def _hint_at_doubtful_views(facts: ReportFacts) -> Iterator[Html]:
    """Yield views to doubt, by the assessment or, without one, by the model."""
    if facts.assessment is not None:
        for sentence in list_advice(facts.assessment):
            yield join_html((mark_sentence(sentence), " ", _link("See the views", "reliance"), "."))
        return
    information = getattr(facts.model, "view_information_", None)
    if information is not None and (support := describe_support(information)):
        yield join_html((mark_sentence(support), " ", _link("See all views", "information"), "."))
    yield from _hint_at_least_agreement(facts)


def _hint_at_most_contested(facts: ReportFacts) -> Iterator[Html]:
    views = "views" if facts.confirmed is None or len(facts.confirmed) == len(facts.view_labels) else "confirmed views"
    shares = {
        cluster: facts.contested[facts.labels == cluster].mean()
        for cluster, size in facts.sizes.items()
        if size >= MIN_SIZE
    }
    worst = max(shares, key=lambda cluster: (shares[cluster], -cluster), default=None)
    if worst is not None and len(shares) > 1 and shares[worst] > 0:
        words = (
            f" is the most contested: the {views} contradict each other on {format_share(shares[worst])} of its "
            f"{facts.count(facts.sizes[worst])}. "
        )
        yield join_html((facts.draw_group(worst), words, _link(f"See these {facts.noun}", "contested"), "."))


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
        verb = "holds less than 1%" if len(tiny) == 1 else "each hold less than 1%"
        symbols = ((facts.draw_group(cluster, 40), " ") for cluster in tiny[:MAX_NAMED])
        more = f"and {len(tiny) - MAX_NAMED} more " if len(tiny) > MAX_NAMED else ""
        words = f"{more}{verb} of the {facts.noun}: they may be outliers, or there may be too many groups."
        yield join_html((*map(join_html, symbols), words))


def _link(text: str, section: str) -> Html:
    return tag("a", text, href=f"#{section}")
