"""Reproduce the tables and figures of the papers behind this library, next to the published numbers."""

from .bickel_scheffer_2004 import PAPER as BICKEL_SCHEFFER_2004
from .bickel_scheffer_2005 import PAPER as BICKEL_SCHEFFER_2005
from .eaton_2010 import PAPER as EATON_2010
from .engine import Paper
from .kumar_daume_2011 import PAPER as KUMAR_DAUME_2011
from .tzortzis_likas_2010 import PAPER as TZORTZIS_LIKAS_2010

PAPERS: dict[str, Paper] = {
    paper.name: paper
    for paper in (BICKEL_SCHEFFER_2004, BICKEL_SCHEFFER_2005, TZORTZIS_LIKAS_2010, KUMAR_DAUME_2011, EATON_2010)
}

__all__ = ["PAPERS", "Paper"]
