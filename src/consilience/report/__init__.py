"""The report on a clustering: one HTML file that needs nothing else."""

from .charts import build_row, build_table
from .facts import ReportFacts
from .markup import Html, mark_user_text, tag
from .report import Report
from .sections import Section

__all__ = ["Html", "Report", "ReportFacts", "Section", "build_row", "build_table", "mark_user_text", "tag"]
