"""Show sentences and their propositions: tables, SVG drawings, HTML pages, data for displaCy."""

from capsrl.show.displacy import to_displacy
from capsrl.show.drawing import svg
from capsrl.show.html_page import html, html_fragment, html_parts
from capsrl.show.table import sentence_table

__all__ = ["html", "html_fragment", "html_parts", "sentence_table", "svg", "to_displacy"]
