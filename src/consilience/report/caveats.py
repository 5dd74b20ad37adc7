"""Sentences that the report and the command line print beside figures that are easily misread."""

AGREEMENT_CAVEAT = "Agreement between views that were fitted together does not show that they are right."
