"""Parts of docstrings that several makers of data sets share."""

from .._docstrings import fill_docstrings

PARTS = {
    "n_samples": """
n_samples : int<default>
    Number of entities.
""",
    "n_clusters": """
n_clusters : int<default>
    Number of clusters, all of about the same size.
""",
    "random_state": """
random_state : int, Generator, RandomState or None<default>
    Random seed.
""",
    "y": """
y : ndarray of shape (n_samples,)
    The true cluster of each entity.
""",
    "returns_dataset": """
Returns
-------
Dataset
    With ``views``, ``target``, ``target_names``, ``description``, ``citation`` and ``license``. It also unpacks into
    ``views, y``.
""",
}

share_docs = fill_docstrings(PARTS)
