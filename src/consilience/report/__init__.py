"""The report: one HTML file that needs nothing else."""

from .report import Report

__all__ = ["Report"]
