"""Show sentences and their propositions: SVG drawings, HTML pages, data for spaCy's displaCy.

Tables for the terminal are in `capsrl.show.table`, the only part that needs Rich.
"""

from capsrl.show.displacy import to_displacy
from capsrl.show.drawing import svg, svg_sheet
from capsrl.show.formatting import Descriptions
from capsrl.show.html_page import html, html_fragment, html_parts
from capsrl.show.role_history import RoleHistory, role_histories

__all__ = [
    "Descriptions",
    "RoleHistory",
    "html",
    "html_fragment",
    "html_parts",
    "role_histories",
    "svg",
    "svg_sheet",
    "to_displacy",
]
