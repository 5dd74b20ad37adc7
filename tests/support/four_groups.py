"""Items of four known groups, and decisions about them."""

import consilience as cs
from consilience.workbench.clustering import Reclustering
from consilience.workbench.knowledge import DecisionSet

N_CLASSES = 4
VIEWS, CLASSES = cs.datasets.make_gaussian_views(120, n_clusters=N_CLASSES, separation=7, missing=0.1, random_state=0)
ROWS = {str(row): row for row in range(len(CLASSES))}


def start(warm, labels):
    """Return the groups before any decision, and what makes further ones from them."""
    reclustering = Reclustering(warm, labels)
    decisions = DecisionSet([], ROWS, len(CLASSES))
    return reclustering, reclustering.restore(labels, decisions.knowledge), decisions


def decide(reclustering, clustering, decisions, **entry):
    """Return the groups after one more decision, and all decisions."""
    entry = {"number": len(decisions.entries) + 1, **entry}
    after = DecisionSet([*decisions.entries, entry], ROWS, len(CLASSES))
    return reclustering.apply(clustering, entry, decisions, after), after


def ask(reclustering, clustering, decisions, first, second, action):
    return decide(reclustering, clustering, decisions, action=action, items=[str(first), str(second)])
