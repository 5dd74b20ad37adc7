"""Baselines for multi-view methods: one view, views side by side, combined similarities."""

from .cca import CCAKMeans, CCASpectral
from .co_regularized import CoRegularizedSpectral
from .combined_kernels import KernelAddition, KernelProduct
from .compare import compare
from .minimum_disagreement import MinimumDisagreement
from .wrappers import ConcatenatedViews, MergedViews, SingleView

__all__ = [
    "CCAKMeans",
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
