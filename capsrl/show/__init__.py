"""Sentences in, something to look at out: terminal tables, SVG, HTML, displaCy's dictionaries.

Tables are in `capsrl.show.table`, which is the only part that needs Rich.
"""

from capsrl.show.arcs import svg, svg_sheet
from capsrl.show.displacy import to_displacy
from capsrl.show.html_page import html, html_fragment, html_parts
from capsrl.show.text import Descriptions
from capsrl.show.trace import Movement, movements

__all__ = [
    "Descriptions",
    "Movement",
    "html",
    "html_fragment",
    "html_parts",
    "movements",
    "svg",
    "svg_sheet",
    "to_displacy",
]
