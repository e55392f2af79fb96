"""Workers that fail at some sentences, as the real ones would at a bug in native code."""

import os
import signal

from capsrl.bulk.worker import Worker

POISON, BROKEN = "Poison", "Broken"


def die():
    """End this process as a crash would."""
    os.kill(os.getpid(), signal.SIGKILL)


class _Fragile:
    """A labeler that dies at the word POISON and raises an error at BROKEN."""

    def __init__(self, labeler):
        self._labeler, self.inventory = labeler, labeler.inventory

    def label_documents(self, documents, **others):
        def watched():
            for key, sentences in documents:
                words = {word for sentence in sentences for word in sentence.words}
                if POISON in words:
                    die()
                if BROKEN in words:
                    raise RuntimeError("a bug")
                yield key, sentences

        return self._labeler.label_documents(watched(), **others)


class FragileWorker(Worker):
    """A worker with such a labeler."""

    def __init__(self, job, model):
        super().__init__(job, model)
        self._labeler = _Fragile(self._labeler)


class DyingWriter(Worker):
    """A worker that cannot write the first shard, whatever its rows are."""

    def run(self, task, parts, name):
        if task.shard == 0 and not task.is_trial:
            die()
        return super().run(task, parts, name)


class DyingAfterwards(Worker):
    """A worker that dies once when its output is there, but before it can tell."""

    def run(self, task, parts, name):
        result = super().run(task, parts, name)
        if task.shard == 1 and not os.path.exists("died"):
            open("died", "w").close()
            die()
        return result


class NeverReady(Worker):
    """A worker that dies while it loads the model."""

    def __init__(self, job, model):
        die()
