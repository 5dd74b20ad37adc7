"""What multi-view methods are compared with: one view, views side by side, similarities combined; one a file."""

from .cca import CCASpectral
from .co_regularized import CoRegularizedSpectral
from .compare import compare
from .concatenated import ConcatenatedViews
from .kernel_addition import KernelAddition
from .kernel_product import KernelProduct
from .merged import MergedViews
from .minimum_disagreement import MinimumDisagreement
from .single_view import SingleView

__all__ = [
    "CCASpectral",
    "CoRegularizedSpectral",
    "ConcatenatedViews",
    "KernelAddition",
    "KernelProduct",
    "MergedViews",
    "MinimumDisagreement",
    "SingleView",
    "compare",
]
