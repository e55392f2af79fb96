"""Label texts again and again in a process of its own, and tell the time it took.

    PYTHONPATH=CHECKOUT python benchmarks/label_worker.py THREADS

Reads lines of JSON from standard input: first the list of texts, then one of WAYS each time. Writes
one line of JSON for each: processor time and wall time in seconds, and the peak memory in MB so
far. Only what all versions of capsrl have is used, so that they can be compared.
"""

import inspect
import json
import resource
import sys
import time

import capsrl

WAYS = ("stream", "one by one")


def main() -> None:
    """Answer lines until standard input ends."""
    n_threads = int(sys.argv[1])
    has_threads = "threads" in inspect.signature(capsrl.load).parameters
    labeler = capsrl.load(threads=n_threads) if has_threads else capsrl.load()
    texts = json.loads(sys.stdin.readline())
    for line in sys.stdin:
        processor, wall = time.process_time(), time.perf_counter()
        if json.loads(line) == "stream":
            for _ in labeler.label_many(texts):
                pass
        else:
            for text in texts:
                labeler.label(text)
        spent = [time.process_time() - processor, time.perf_counter() - wall]
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        sys.stdout.write(json.dumps([*spent, memory]) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
