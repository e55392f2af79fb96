"""Training on files in which only some predicates are annotated."""

import pytest

from capsrl.errors import ConfigError, DataError
from capsrl.formats.formats import write_sentences
from capsrl.labeler import Labeler
from capsrl.network.loss import compute_loss
from capsrl.recipe import read_recipe
from capsrl.sentence import Argument, Proposition, Sentence
from capsrl.train.corpus import read_training_files
from capsrl.train.loop import run
from capsrl.train.start import build_network
from tests.helpers.tiny_runs import SETTINGS, TINY

WORDS = ("Ann", "yodels", "songs", "and", "sings")
YODEL = Sentence(
    words=WORDS,
    propositions=(Proposition(1, "yodel.01", (Argument("A0", 0), Argument("A9", 2))),),
    lemmas=("ann", "yodel", "song", "and", "sing"),
    tags=("NNP", "VBZ", "NNS", "CC", "ODD"),
)


def make_recipe(*settings):
    return read_recipe(TINY, [*SETTINGS, "train.epochs=2", *settings])


@pytest.fixture
def partial(tmp_path):
    path = tmp_path / "examples.conll09"
    write_sentences([YODEL, Sentence(("No", "predicate"))], path)
    return path


def test_corpus(partial):
    corpus = read_training_files(make_recipe(f'data.partial=["{partial}", "{partial}"]').data)
    assert [sentence.words for sentence in corpus.partial] == [WORDS, WORDS]
    assert corpus.count_words()["yodels"] == 2


def test_predicates_are_not_learned(partial):
    recipe = make_recipe(f'data.partial=["{partial}"]')
    network = build_network(recipe, read_training_files(recipe.data)).eval()
    batch = network.collate([network.index(YODEL, partial=True)])
    output = network(batch)
    output.predicate_logits.retain_grad()
    losses = compute_loss(
        output,
        batch,
        sense_weight=1.0,
        predicate_weight=1.0,
        tag_weight=0.0,
        phrase_weight=0.0,
        uniqueness_weight=0.0,
        intermediate_weight=0.0,
        gumbel=False,
    )
    losses.predicates.backward()
    assert bool((output.predicate_logits.grad == 0).all())


def test_run(tmp_path, partial):
    result = run(make_recipe(f'data.partial=["{partial}"]'), tmp_path / "run", device="cpu")
    labeler = Labeler.load(result.model)
    (labeled,) = labeler.label_sentences([YODEL.with_propositions([Proposition(1)])])
    assert labeled.propositions[0].sense == "yodel.01"
    card = (result.model / "README.md").read_text()
    assert "- also trained on 1 partially annotated sentences of `examples.conll09`\n" in card
    assert 'data.partial = ["examples.conll09"]\n' in card


def test_resume_with_other_files(tmp_path, partial):
    recipe = make_recipe(f'data.partial=["{partial}"]')
    run(recipe, tmp_path / "run", device="cpu")
    run(recipe, tmp_path / "run", device="cpu")  # finished already
    changed = r"data.partial was \[\"examples.conll09 \(sha256 .*, now \[\]"
    with pytest.raises(ConfigError, match=changed):
        run(make_recipe(), tmp_path / "run", device="cpu")


def test_no_predicates(tmp_path):
    path = tmp_path / "blind.conll09"
    write_sentences([Sentence(("No", "predicate"))], path)
    with pytest.raises(DataError, match=r"blind.conll09: has no annotated predicates"):
        run(make_recipe(f'data.partial=["{path}"]'), tmp_path / "run", device="cpu")
