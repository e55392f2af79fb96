"""What the service counts of its own work, in the text format of Prometheus."""

from collections.abc import Callable

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)

from capsrl.serve.requests import Answer

CONTENT_TYPE = CONTENT_TYPE_LATEST
_SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_REQUESTS = (1, 2, 4, 8, 16, 32, 64)


class Metrics:
    """The counters of one server; each has a registry of its own."""

    def __init__(self, waiting: Callable[[], int]) -> None:
        self._registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)  # memory, processor time, open files
        PlatformCollector(registry=registry)
        self.requests = Counter(
            "capsrl_requests", "Requests answered", ["path", "status"], registry=registry
        )
        self.seconds = Histogram(
            "capsrl_request_seconds",
            "From a request to its answer",
            ["path"],
            buckets=_SECONDS,
            registry=registry,
        )
        self.batch_requests = Histogram(
            "capsrl_batch_requests",
            "Requests labelled together",
            buckets=_REQUESTS,
            registry=registry,
        )
        self.batch_seconds = Histogram(
            "capsrl_batch_seconds", "Labelling them", buckets=_SECONDS, registry=registry
        )
        self._sentences = Counter("capsrl_sentences", "Sentences labelled", registry=registry)
        self._words = Counter("capsrl_words", "Words of them", registry=registry)
        self._propositions = Counter(
            "capsrl_propositions", "Propositions found in them", registry=registry
        )
        Gauge("capsrl_queue_requests", "Requests waiting", registry=registry).set_function(waiting)

    def count_answer(self, answer: Answer) -> None:
        """Add up what was labelled."""
        self._sentences.inc(answer.sentences)
        self._words.inc(answer.words)
        self._propositions.inc(answer.propositions)

    def text(self) -> bytes:
        """All of it, for GET /metrics."""
        return generate_latest(self._registry)
