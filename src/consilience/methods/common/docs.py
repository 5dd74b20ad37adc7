"""Docstrings that estimators share.

Decorate an estimator (or a function) with `share_docs`, and write ``%(name)s`` on a line of its own in the docstring of
the class or of a method where a shared part belongs. `help` then shows the complete text::

    @share_docs
    class Example(ClusterMixin, BaseEstimator):
        \"\"\"Cluster by example.

Parameters
----------
        %(n_clusters)s
        %(outliers)s
            `partial_fit` refuses it.
        %(random_state)s

Attributes
----------
        %(labels_)s
        %(n_features_in_)s
        \"\"\"

        def fit(self, X, y=None):
            \"\"\"Cluster the entities.

            %(fit_parameters)s
            %(returns_self)s
            \"\"\"

The default value of a parameter is taken from the signature. Lines that are indented more than the placeholder continue
its part, as in ``outliers`` above. `PARTS` has all names; an unknown name is an error at import.
"""

from __future__ import annotations

import re

from ..._docstrings import fill_docstrings

KEY = re.compile(r" \[(\w+)\]")  # after the name: by which placeholders ask for the part, if it is not the name

TEXT = """
n_clusters : int<default>
    Number of clusters.

views : dict of str to columns<default>
    If `fit` is given one array or frame: the columns of each view, as slices, positions or names.

n_init : int<default>
    Number of starts; the result of lowest cost is kept.

n_init [n_init_kmeans] : int<default>
    Number of starts of k-means.

max_iter : int<default>
    Maximum number of rounds per start.

tol : float<default>
    A view's cost counts as lower only if it falls by more than this share of itself.

patience : int<default>
    Stop after this many rounds in which no view's cost reached a new minimum.

outliers : float or 'auto'<default>
    Entities that no cluster predicts well get the label -1: this share of the entities, between 0 and 0.5, or with
    'auto' those that stand out. `assign_outliers` puts them back, and `predict` gives every entity a cluster.

random_state : int, Generator, RandomState or None<default>
    Seed of everything random.

n_jobs : int<default>
    Number of threads; None and -1 use all cores. The result does not depend on it.

verbose : bool<default>
    Show progress.

X : Views, mapping or sequence of blocks, or array-like of shape (n_entities, n_columns)
    The data. A plain array is one view, or several if the parameter `views` names groups of its columns.

X [X_new] : Views, mapping or sequence of blocks, or array-like
    Entities, seen before or not, with any of the fitted views.

y : ignored
    Present for compatibility with scikit-learn.

y [y_classes] : array-like of shape (n_entities,), default=None
    Classes of the entities that are known: whole numbers from 0 on, and -1 where the class is unknown. The i-th
    smallest class becomes cluster i, and entities of a known class stay in its cluster in every round and in `labels_`.
    If there are more clusters than classes, the others are found among the entities of unknown class. scikit-learn's
    ``cross_validate``, ``GridSearchCV`` and pipelines pass y on, so do not give them classes that are for scoring.

constraints : Constraints<default>
    Pairs of entities that must, or cannot, be in the same cluster.

out : array of shape (n_entities,)<default>
    Where to write the labels, block by block: anything that can be assigned to by slices, such as a ``np.memmap`` or
    an HDF5 dataset.

out [out_proba] : array of shape (n_entities, n_clusters)<default>
    Where to write the probabilities, block by block: anything that can be assigned to by slices.

labels_ : ndarray of shape (n_entities,)
    The cluster of each entity.

labels_ [labels_outliers_] : ndarray of shape (n_entities,)
    The cluster of each entity; -1 for outliers.

view_labels_ : dict of str to ndarray of shape (n_entities,)
    The cluster that each view alone gives; -1 where the entity lacks the view.

agreement_ : ndarray of shape (n_views, n_views)
    Share of entities that two views put into the same cluster.

agreement_ [agreement_unknown_] : ndarray of shape (n_views, n_views)
    Share of entities that two views put into the same cluster, among those of unknown class if there are any.

seed_classes_ : ndarray of shape (n_classes,) or None
    The classes of y in the order of their clusters; None if no class was known.

temperature_ : float
    Divides the scores that `predict_proba` turns into probabilities; `calibrate` sets it for the data.

outlier_scores_ : ndarray of shape (n_entities,)
    How poorly the best cluster predicts each entity, in robust standard deviations: 0 is usual, larger is more
    outlying, and above 3.5 is an outlier to ``outliers='auto'``.

outlier_limit_ : float
    Score of `score_outliers` below which an entity fits no cluster: 0.01, or 1 / n if the fit had n < 100 entities.

n_iter_, converged_ [n_iter_] : int, bool
    Number of rounds of the chosen start, and whether they ended before `max_iter`.

n_features_in_, feature_names_in_ [n_features_in_] : int, ndarray
    Number of columns of all views together, and their names if all views came with names.
view_n_features_, view_feature_names_ : dict of str to int, dict of str to ndarray or None
    Number of columns of each view, and their names if the view came with names.
"""


def parse_parts(text: str) -> dict[str, str]:
    """Return the blocks of a text by their keys."""
    parts = {}
    for block in text.strip().split("\n\n"):
        name = block.partition(" : ")[0]
        key = KEY.search(name)
        parts[key[1] if key else name] = KEY.sub("", block, count=1) if key else block
    return parts


PARTS = parse_parts(TEXT)


def write_section(title: str, *parts: str) -> str:
    """Return a section of a docstring."""
    return "\n".join([title, "-" * len(title), *parts])


PARTS |= {
    "fit_parameters": write_section("Parameters", PARTS["X"], PARTS["y"]),
    "fit_parameters_classes": write_section("Parameters", PARTS["X"], PARTS["y_classes"]),
    "predict_parameters": write_section("Parameters", PARTS["X_new"]),
    "score_parameters": write_section("Parameters", PARTS["X_new"], PARTS["y"]),
    "returns_self": write_section("Returns", "self", "    The fitted estimator."),
    "returns_self_interruptible": write_section(
        "Returns", "self", "    The fitted estimator. After Ctrl-C it holds the best result so far."
    ),
    "returns_labels": write_section("Returns", "ndarray of shape (n_entities,)", "    The cluster of each entity."),
    "returns_out": write_section(
        "Returns", "ndarray of shape (n_entities,)", "    The cluster of each entity; `out` if it was given."
    ),
    "returns_probabilities": write_section(
        "Returns", "ndarray of shape (n_entities, n_clusters)", "    Probabilities that add up to 1 per entity."
    ),
}

share_docs = fill_docstrings(PARTS)
