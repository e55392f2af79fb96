"""Numbers as the report writes them."""

from reproduce.statistics import Difference, Sample

NONE = "–"  # where a table has no figure
NOT_MEASURED = "Not measured."


def number(value: float, places: int = 2) -> str:
    """Fixed places, thousands set apart."""
    return f"{value:,.{places}f}"


def signed(value: float, places: int = 2) -> str:
    """With its sign, a true minus; what rounds to nothing has none."""
    text = f"{value:+,.{places}f}"
    if not text.strip("+-0.,"):
        return text[1:]
    return text.replace("-", "−")


def spread(found: Sample | None, places: int = 2) -> str:
    """`85.30 ± 0.03` over seeds, `85.30` of one seed, a dash of none."""
    if found is None:
        return NONE
    if found.deviation is None:
        return number(found.mean, places)
    return f"{number(found.mean, places)} ± {number(found.deviation, places)}"


def gain(found: Difference | None, places: int = 2) -> str:
    """`+0.56 [+0.20, +0.92]`, the difference and its interval; without one of one seed."""
    if found is None:
        return NONE
    if found.half is None:
        return signed(found.mean, places)
    ends = f"[{signed(found.low, places)}, {signed(found.high, places)}]"
    return f"{signed(found.mean, places)} {ends}"


def counted(n: int, thing: str) -> str:
    """`1 run`, `2 runs`."""
    return f"{n:,} {thing}{'s' * (n != 1)}"


def listed(parts: list[str]) -> str:
    """a, b and c."""
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
