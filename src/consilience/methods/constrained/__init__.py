"""Constrained clustering, of one view and across partly mapped views (Eaton, desJardins & Jacob 2010)."""
