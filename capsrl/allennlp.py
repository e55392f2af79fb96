"""The interface of AllenNLP's SRL predictor, for programs that were written for it; no torch.

>>> from capsrl.allennlp import Predictor
>>> predictor = Predictor.from_path("structured-prediction-srl-bert")
>>> predictor.predict(sentence="Mira sold her bicycle.")["verbs"][0]["tags"]
['B-ARG0', 'B-V', 'B-ARG1', 'I-ARG1', 'O']

Every text has exactly one result, also an empty one and one of several sentences: their words are
joined. Predicates are verbs, as AllenNLP's are, unless `pos` says otherwise.
"""

import os
import warnings
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

import capsrl
from capsrl.errors import DataError
from capsrl.formats.bio import to_allennlp
from capsrl.labeler import Labeler
from capsrl.models import shipped_models
from capsrl.options import Options, PredicatePos
from capsrl.sentence import Sentence

_Json = dict[str, Any]
_VERBS: tuple[PredicatePos, ...] = ("verb",)


class Predictor:
    """Labels sentences with a labeler and returns what AllenNLP returns.

    labeler  default: the English model that ships with capsrl
    pos      the parts of speech of predicates: verb, noun, adjective; None for all
    """

    def __init__(
        self, labeler: Labeler | None = None, *, pos: Collection[PredicatePos] | None = _VERBS
    ) -> None:
        self.labeler = capsrl.load() if labeler is None else labeler
        self._options = Options(pos=pos, predicates="found", one_sentence_per_line=True)

    @classmethod
    def from_path(
        cls,
        archive_path: str | os.PathLike[str] = "en",
        predictor_name: str | None = None,
        cuda_device: int = -1,
        *,
        pos: Collection[PredicatePos] | None = _VERBS,
    ) -> "Predictor":
        """Load a model: the name of one that ships with capsrl, or a model folder of capsrl.

        The name or address of an archive of AllenNLP loads the English model, with a warning.

        cuda_device  the number of a GPU; -1 for the CPU
        """
        model = os.fspath(archive_path)
        if model not in shipped_models() and not Path(model, "config.json").exists():
            said = f"{model}: not a model of capsrl; labeling with its English model instead"
            warnings.warn(said, stacklevel=2)
            model = "en"
        device = "cpu" if cuda_device < 0 else f"cuda:{cuda_device}"
        return cls(capsrl.load(model, device=device), pos=pos)

    def predict(self, sentence: str) -> _Json:
        """Label one text."""
        return self.predict_batch_json([{"sentence": sentence}])[0]

    def predict_json(self, inputs: _Json) -> _Json:
        """Label the text under the key "sentence"."""
        return self.predict_batch_json([inputs])[0]

    def predict_batch_json(self, inputs: Iterable[_Json]) -> list[_Json]:
        """Label the texts under the key "sentence" of each, in batches; one result for each."""
        texts = []
        for number, each in enumerate(inputs):
            if not isinstance(text := each.get("sentence"), str):
                raise DataError(f"inputs[{number}]: expected a string 'sentence', got {text!r:.60}")
            texts.append(" ".join(text.splitlines()))  # a line break would end a sentence
        found = self.labeler.label_many(texts, options=self._options)
        return list(map(to_allennlp, found))

    def predict_tokenized(self, tokenized_sentence: Sequence[str]) -> _Json:
        """Label a sentence whose words are known."""
        sentence = Sentence(tuple(tokenized_sentence))
        return to_allennlp(self.labeler.label(sentence, options=self._options))


SemanticRoleLabelerPredictor = Predictor  # its name in allennlp_models
