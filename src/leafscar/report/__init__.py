"""Views of a replay: lines for a terminal, and one page that needs nothing else (docs/report.md)."""

from leafscar.report.html import render_html
from leafscar.report.text import render_text

__all__ = ["render_html", "render_text"]
