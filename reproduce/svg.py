"""A function that draws in, an SVG text out: the same bytes each time; needs matplotlib."""

import io
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from capsrl.errors import ConfigError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH = 7.5  # inches: 720 px in a browser, so that sizes of fonts are what they say
_SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "path",  # looks the same where the font is missing
    "font.size": 9.5,
    "axes.titlesize": 10,
    "axes.labelsize": 9.5,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "legend.fontsize": 9.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "lines.linewidth": 1.6,
    "lines.markersize": 5,
}
# Dates and versions would make every build another file.
_NO_METADATA = dict.fromkeys(("Date", "Creator", "Format", "Type"))


def draw_svg(name: str, height: float, draw: "Callable[[Figure], None]") -> str:
    """The drawing of `draw` on an empty figure of full width and this height in inches.

    Ids begin with `name`, so several drawings may stand in one page.
    Raises ConfigError where matplotlib is not installed.
    """
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        raise ConfigError("reports need matplotlib: pip install 'capsrl[plots]'") from None
    file = io.StringIO()
    with matplotlib.rc_context():
        matplotlib.rcdefaults()  # whatever the user's own settings are
        matplotlib.rcParams.update({**_SETTINGS, "svg.hashsalt": name})
        figure = Figure(figsize=(WIDTH, height), layout="constrained")
        draw(figure)
        figure.savefig(file, format="svg", metadata=_NO_METADATA)
    text = re.sub(r'\bid="', f'id="{name}-', file.getvalue())
    text = re.sub(r'(href="|url\()#', rf"\g<1>#{name}-", text)
    return re.sub(r"[ \t]+$", "", text, flags=re.M)
