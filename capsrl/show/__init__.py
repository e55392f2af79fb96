"""Show sentences and their propositions: tables, SVG drawings, HTML pages."""

from capsrl.show.drawing import svg
from capsrl.show.html_page import html, html_fragment, html_parts
from capsrl.show.table import sentence_table

__all__ = ["html", "html_fragment", "html_parts", "sentence_table", "svg"]
