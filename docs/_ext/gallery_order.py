"""The order of the gallery: from the shortest introduction to special data."""

from sphinx_gallery.sorting import ExplicitOrder

ORDER = (
    "table",
    "digits",
    "missing_views",
    "text_and_links",
    "number_of_clusters",
    "constraints",
    "pipeline",
    "large_data",
)


class ReadingOrder(ExplicitOrder):
    """Sort the scripts as they are best read."""

    def __init__(self, *_: object) -> None:
        super().__init__([f"{name}.py" for name in ORDER])
