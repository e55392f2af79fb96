"""How large a request may be, how many may wait, and for how long."""

from dataclasses import dataclass

MAX_ITERATIONS = 10  # the paper goes to 6; the size of a trace grows with them
MAX_PREDICATES = 1000
MAX_TEXTS = 100
MAX_PAIRS = 2_000_000  # of `Labeler.most_pairs`; some 15 s if all words are predicates


@dataclass(frozen=True)
class Limits:
    """The limits of one server.

    body              bytes of a request body
    drain             bytes of an oversized body that are read and dropped before it is refused:
                      a client that is still sending could not read the response
    characters        total length of the texts of a request
    trace_characters  the same for a request with a trace, whose size is words x predicates
    seconds           time to receive a request, and time to answer it
    queue             number of requests that may wait
    batch             number of requests labeled together; None: 8 with onnx, else 32
    batch_characters  total length of their texts, unless a single request is longer
    """

    body: int = 1 << 20
    drain: int = 16 << 20
    characters: int = 20_000
    trace_characters: int = 4_000
    seconds: float = 30.0
    queue: int = 64
    batch: int | None = None
    batch_characters: int = 10_000
