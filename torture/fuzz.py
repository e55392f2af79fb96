"""Give mutated inputs to whatever reads files, within limits of time and memory.

An input must be read, or refused by an error of capsrl. Everything else is a finding: another
exception, more than SECONDS, more than MEMORY, an answer that is silently wrong. Findings are
written to a folder, with the number of the input, from which it can be made again.
"""

import random
import resource
import signal
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from torture.mutations import mutate
from torture.target import Target, Wrong

SECONDS = 60  # of an input; the machine may be busy
MEMORY = 1 << 30  # bytes, besides what the process has before


class _Hang(BaseException):
    """An input takes too long; not an Exception, so that nobody handles it."""


def input_of(target: Target, seed: int, number: int) -> bytes:
    """The mutated input of a number."""
    source = random.Random(f"{seed}/{target.name}/{number}")
    return mutate(source.choice(target.seeds), target.seeds, source)


def attack(
    target: Target, numbers: range, seed: int, findings: Path, seconds: float = float("inf")
) -> Counter[str]:
    """Read mutated inputs; counts those that were read, refused, or findings by their kind.

    seconds  to stop after, even if there are more numbers
    """
    counts: Counter[str] = Counter()
    end = time.monotonic() + seconds
    with limits():
        for number in numbers:
            if time.monotonic() > end:
                break
            data = input_of(target, seed, number)
            try:
                kind, details = _judge(target, data)
            except _Hang:  # just when it was about to end
                kind, details = f"more than {SECONDS} s", ""
            counts[kind] += 1
            if kind not in ("read", "refused") and counts[kind] <= 3:
                name = f"{target.name.replace('/', '-')}-{seed}-{number}"
                findings.mkdir(parents=True, exist_ok=True)
                (findings / name).write_bytes(data)
                (findings / f"{name}.txt").write_text(f"{kind}\n{details}", encoding="utf-8")
    return counts


def _judge(target: Target, data: bytes) -> tuple[str, str]:
    """What becomes of an input: read, refused, or the kind of a finding with its details."""
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        target.read(data)
    except target.refusals:
        return "refused", ""
    except _Hang:
        return f"more than {SECONDS} s", traceback.format_exc()
    except Wrong as error:
        return f"wrong: {error}", traceback.format_exc()
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # also a panic of Rust
        frames = traceback.extract_tb(error.__traceback__)
        ours = [each for each in frames if "/capsrl/" in each.filename] or frames
        place = f"{Path(ours[-1].filename).name}:{ours[-1].lineno}"
        return f"{type(error).__name__} at {place}", traceback.format_exc()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return "read", ""


@contextmanager
def limits() -> Iterator[None]:
    """Limit time and memory, so that a hang or a bomb is a finding and not the end."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise _Hang

    before = signal.signal(signal.SIGALRM, stop)
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        signal.signal(signal.SIGALRM, before)
