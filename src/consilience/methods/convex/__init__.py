"""Convex exemplar mixtures (Tzortzis & Likas 2010)."""
