"""Maps, positions and counters as SVG: for pages without script, for print, and beside rulings.

Drawings have attributes and classes only, no style of their own: what our content security
policy allows. Their colours are `app.drawing.palette`'s.
"""

from app.drawing.board import svg
from app.drawing.counters import counter, describe, marker
from app.drawing.miniature import miniature

__all__ = ["counter", "describe", "marker", "miniature", "svg"]
