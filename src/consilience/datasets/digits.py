"""UCI multiple features: 2,000 handwritten digits in six views."""

from __future__ import annotations

from importlib.resources import files

import numpy as np

from ..data import Views
from ._docs import share_docs
from .dataset import Dataset

VIEWS = ("fou", "fac", "kar", "pix", "zer", "mor")


@share_docs
def load_digits_views() -> Dataset:
    """Load 2,000 handwritten digits described in six ways.

    Views: ``fou`` (76 Fourier coefficients of the shape), ``fac`` (216 profile correlations), ``kar`` (64
    Karhunen-Loève coefficients), ``pix`` (240 pixel averages), ``zer`` (47 Zernike moments), ``mor`` (6 morphological
    features). 200 of each digit, to five significant digits.

    %(returns_dataset)s

    Examples
    --------
    >>> views, y = load_digits_views()
    >>> views.shape, views.names
    ((2000, 649), ('fou', 'fac', 'kar', 'pix', 'zer', 'mor'))
    """
    with np.load(str(files(__package__) / "digits.npz"), allow_pickle=False) as stored:
        # stored as whole numbers and the positions of their decimal points
        blocks = {name: stored[name] / 10.0 ** stored[f"{name}_decimals"].astype(np.float64) for name in VIEWS}
    return Dataset(
        name="digits",
        views=Views(blocks),
        target=np.repeat(np.arange(10), 200),
        target_names=tuple("0123456789"),
        description="UCI multiple features: handwritten numerals from Dutch utility maps, 200 of each digit, six views",
        citation=(
            "M. van Breukelen, R.P.W. Duin, D.M.J. Tax, J.E. den Hartog: Handwritten digit recognition by combined "
            "classifiers. Kybernetika 34(4), 1998. R. Duin: Multiple Features, UCI Machine Learning Repository."
        ),
        license="CC BY 4.0",
        source="https://archive.ics.uci.edu/dataset/72/multiple+features, rounded to five significant digits",
    )
