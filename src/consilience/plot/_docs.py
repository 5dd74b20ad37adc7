"""Parts of docstrings that several displays share."""

from .._docstrings import fill_docstrings

PARAMETERS = {
    "ax": """
ax : Axes, optional
    Where to draw; by default a new figure.
""",
    "axes": """
ax : Axes or array of Axes, optional
    Where to draw: one per panel, or one that is divided; by default a new figure.
""",
    "model": """
model : estimator
    A fitted estimator.
""",
    "views": """
views : Views, or whatever `fit` was given
    The entities that the model was fitted to.
""",
    "names": """
names : sequence of str, optional
    Names of the clusters by number, such as ``result.names``; by default they are called by their numbers.
""",
    "max_links": """
max_links : int, default=100
    Maximum number of constraints to draw per panel, the strongest first; the titles say if there are more.
""",
    "max_points": """
max_points : int, default=20_000
    Maximum number of entities to draw, besides the ends of constraints; if there are more, a random sample.
random_state : int, default=0
    Random seed of the sample and of the projection.
""",
    "view_labels": """
labels : array-like of int, shape (n_entities,), or mapping of view to such arrays
    Clusters of the entities, in all views or in each; -1 for none.
""",
    "xy": """
x, y : str
    Names of the conditions and of the values.
""",
    "bars": """
bars : bool
    Draw bars even if the conditions are numbers.
""",
    "deviations": """
deviations : bool
    Draw the standard deviation instead of the standard error of the mean. A single run has no error.
""",
}
ATTRIBUTES = {
    "ax_": """
ax_, figure_ : Axes, Figure
    Where it is drawn.
""",
    "figure_": """
figure_ : Figure
    The figure of the panels.
""",
    "image_": """
image_, texts_ : AxesImage, list of Text
    The cells, and the numbers in them if there are at most 20 rows and columns.
""",
}
RETURNS = {
    "returns_self": """
Returns
-------
self
    The display.
""",
    "returns_display": """
Returns
-------
display
    The display, already drawn.
""",
}
# The last parameter of most methods is the axes, such as %(ax_returns_self)s; of some it is the only one.
ENDINGS = {
    f"{ax}_{returns}": f"{PARAMETERS[ax].rstrip()}\n{RETURNS[returns]}" for ax in ("ax", "axes") for returns in RETURNS
}
SECTIONS = {f"section_{name}": f"Parameters\n----------{text}" for name, text in ENDINGS.items()}
PARTS = {**PARAMETERS, **ATTRIBUTES, **RETURNS, **ENDINGS, **SECTIONS}

share_docs = fill_docstrings(PARTS)
