"""What `label` returns."""

from typing import Any, TypeVar

_T = TypeVar("_T")
_SHOWN = 25  # sentences that a notebook draws: each is some kilobytes of HTML


class Labeled(list[_T]):
    """A list of sentences, or of lists of them, that draws itself in notebooks."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        from capsrl.show import html_fragment  # only needed to draw

        sentences: list[Any] = []
        for each in self:
            sentences += each if isinstance(each, list) else [each]
        shown = "".join(map(html_fragment, sentences[:_SHOWN]))
        more = len(sentences) - _SHOWN
        return shown + (f"<p>{more:,} more sentences</p>" if more > 0 else "")
