import dataclasses
import itertools
import json
import pickle
from pickle import PicklingError

import numpy as np
import pytest
import torch
from click.testing import CliRunner

import capsrl
from capsrl.bulk.job import Job
from capsrl.bulk.plan import Plan, scan
from capsrl.bulk.tasks import Task
from capsrl.bulk.worker import Worker
from capsrl.cli import app
from capsrl.errors import ConfigError
from capsrl.labeler import Labeler
from capsrl.network.backend import TorchBackend
from capsrl.network.build import make_network
from capsrl.options import AUTO_SENTENCES, Options
from capsrl.predict.calibration import counts_of_senses
from capsrl.predict.inventory import build_inventory
from tests.helpers.tiny_networks import (
    CALIBRATION,
    SENTENCES,
    UNSEEN,
    apply_calibration,
    assert_same_answers,
    bare,
    blind,
    make_config,
    make_labeler,
    sentence,
    write_encoder,
)

CHUNK = TorchBackend.chunk_sentences
VARIANTS = ["capsule+global", "capsule", "word", "baseline"]
ALL = [*SENTENCES, UNSEEN, *reversed(SENTENCES)]


def label(labeler, sentences, predicates="marked", **options):
    stream = map(blind, sentences)
    return list(labeler.label_sentences(stream, predicates=predicates, **options))


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bert")
    write_encoder(folder, limit=24)
    return str(folder)


@pytest.mark.parametrize("form", ["dense", "factored"])
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("predicate", ["state", "vector"])
def test_alone_as_in_any_batch(variant, form, predicate):
    labeler = make_labeler(make_config(variant=variant, form=form, predicate=predicate))
    alone = [label(labeler, [s])[0] for s in ALL]
    assert any(p.arguments for s in alone for p in s.propositions)
    assert_same_answers(label(labeler, ALL), alone)
    assert_same_answers(label(labeler, ALL, batch_size=1), alone)


@pytest.mark.parametrize("predicates", ["marked", "found"])
@pytest.mark.parametrize("mark", [False, True])
@pytest.mark.parametrize("encoder", [{"layers": 0}, {"layers": 2, "predicate_width": 5}])
def test_alone_as_in_any_batch_with_a_transformer(bert, predicates, mark, encoder):
    """The encoder takes 24 pieces, so the longest sentence is read in windows."""
    embeddings = {"transformer": bert, "fine_tune": True, "mark_predicate": mark}
    labeler = make_labeler(make_config(embeddings=embeddings, encoder=encoder))
    alone = [label(labeler, [s], predicates=predicates)[0] for s in ALL]
    assert any(p.arguments for s in alone for p in s.propositions)
    assert_same_answers(label(labeler, ALL, predicates=predicates), alone)


@pytest.mark.parametrize("mark", [False, True])
def test_pairs_looked_at_together_change_nothing(bert, mark, monkeypatch):
    embeddings = {"transformer": bert, "fine_tune": True, "mark_predicate": mark}
    labeler = make_labeler(make_config(embeddings=embeddings, encoder={"predicate_width": 5}))
    together = label(labeler, ALL, predicates="found")
    assert max(len(s.propositions) for s in together) > 2
    for pairs in (1, 20):
        monkeypatch.setattr("capsrl.network.backend.TorchBackend.max_pairs", pairs)
        assert_same_answers(label(labeler, ALL, predicates="found"), together)


def test_marked_predicates_are_the_ones_labeled():
    labeled = label(make_labeler(), ALL)
    assert [s.predicates for s in labeled] == [s.predicates for s in ALL]
    assert [s.words for s in labeled] == [s.words for s in ALL]


@pytest.mark.parametrize("mark", [False, True])
def test_found_predicates_score_above_0(bert, mark):
    embeddings = {"transformer": bert, "mark_predicate": mark}
    labeler = make_labeler(make_config(embeddings=embeddings))
    network = labeler.network
    found = label(labeler, SENTENCES, predicates="found")
    n_found = sum(len(s.propositions) for s in found)
    assert 0 < n_found < sum(len(s.words) for s in SENTENCES)
    for given, labeled in zip(SENTENCES, found, strict=True):
        with torch.inference_mode():
            batch = network.collate([network.index(given)], gold=False)
            scores = network.finder(network.encode(batch))[0]
        expected = [i for i in range(len(given.words)) if scores[i] > 0]
        assert list(labeled.predicates) == expected


@pytest.mark.parametrize("mark", [False, True])
def test_no_predicate_found_is_no_proposition(bert, mark):
    embeddings = {"transformer": bert, "mark_predicate": mark}
    labeler = make_labeler(make_config(embeddings=embeddings))
    torch.nn.init.zeros_(labeler.network.finder.score.weight)
    torch.nn.init.constant_(labeler.network.finder.score.bias, -1.0)
    found = label(labeler, SENTENCES, predicates="found")
    assert [s.propositions for s in found] == [()] * len(SENTENCES)


def test_a_sentence_without_words_is_given_back():
    empty = sentence("")
    labeled = label(make_labeler(), [empty, SENTENCES[0], empty], predicates="found")
    assert labeled[0] == labeled[2] == empty
    assert labeled[1].words == SENTENCES[0].words


def test_reads_only_so_far_ahead():
    """An endless stream is labeled as it comes, in its order."""
    read = 0

    def endless():
        nonlocal read
        for number in itertools.count():
            read += 1
            yield dataclasses.replace(SENTENCES[3], id=str(number))

    stream = make_labeler().label_sentences(endless())
    assert read == 0
    first = list(itertools.islice(stream, CHUNK + 1))
    assert [s.id for s in first] == [str(number) for number in range(CHUNK + 1)]
    assert read == 2 * CHUNK


def test_iterations_can_be_chosen():
    labeler = make_labeler(make_config(iterations=2))
    two = label(labeler, SENTENCES)
    assert label(labeler, SENTENCES, iterations=2) == two
    five = label(labeler, SENTENCES, iterations=5, trace=True)
    assert [p.probability for s in five for p in s.propositions] == [
        p.probability for s in two for p in s.propositions
    ]  # senses do not depend on the routing
    assert five != two
    assert five[0].propositions[0].trace.beliefs.shape[0] == 6


def test_auto_takes_marked_predicates_if_any_are():
    labeler = make_labeler()
    unmarked = [s.with_propositions(()) for s in ALL]
    assert any(not s.predicates for s in ALL)  # and none is found in these
    assert label(labeler, ALL, predicates="auto") == label(labeler, ALL, predicates="marked")
    found = list(labeler.label_sentences(unmarked))
    assert any(s.predicates for s in found)
    assert_same_answers(found, label(labeler, ALL, predicates="found"))
    assert_same_answers(labeler.label(unmarked[0]), found[:1])


def test_auto_is_decided_once():
    """Marks that come after the first chunk change nothing, but a warning is given."""
    labeler = make_labeler()
    unmarked = SENTENCES[3].with_propositions(())
    stream = itertools.chain(itertools.repeat(unmarked, CHUNK), SENTENCES[:1] * 2)
    with pytest.warns(UserWarning, match="none of the first 2,048 sentences marks any") as warned:
        *_, last = labeler.label_sentences(stream)
    assert len(warned) == 1
    assert last.predicates == label(labeler, SENTENCES[:1], predicates="found")[0].predicates


def test_auto_does_not_depend_on_how_far_a_device_reads_ahead(monkeypatch):
    labeler = make_labeler()
    unmarked = SENTENCES[3].with_propositions(())
    late, early = ([unmarked] * n + SENTENCES[:1] for n in (AUTO_SENTENCES, 6))
    answers = []
    for size in (4, 2 * AUTO_SENTENCES):
        monkeypatch.setattr(labeler.backend, "chunk_sentences", size)
        with pytest.warns(UserWarning, match="none of the first 2,048 sentences marks any"):
            answers.append(list(labeler.label_sentences(late)))
        answers[-1] += labeler.label_sentences(early)
    assert answers[0] == answers[1]
    assert [bool(s.predicates) for s in answers[0][-7:]] == [False] * 6 + [True]


def test_documents_keep_their_keys():
    labeler = make_labeler()
    documents = [("a", ()), ({"b": 2}, SENTENCES[:3]), (None, []), ("d", SENTENCES[3:]), ("e", ())]
    labeled = list(labeler.label_documents(documents, predicates="found"))
    assert [key for key, _ in labeled] == [key for key, _ in documents]
    for (_, given), (_, found) in zip(documents, labeled, strict=True):
        assert [s.words for s in found] == [s.words for s in given]
    flat = [sentence for _, sentences in labeled for sentence in sentences]
    assert flat == list(labeler.label_sentences(SENTENCES, predicates="found"))


def test_documents_are_read_as_they_are_labeled():
    read = 0

    def endless():
        nonlocal read
        for read in itertools.count(1):
            yield read, SENTENCES[: read % 3]

    stream = make_labeler().label_documents(endless())
    assert read == 0
    assert [key for key, _ in itertools.islice(stream, 5)] == [1, 2, 3, 4, 5]
    assert read <= 2 * AUTO_SENTENCES


def test_sentences_before_a_bad_one_are_labeled():
    def broken():
        yield from SENTENCES
        raise OSError("the disk is gone")

    labeled = make_labeler().label_sentences(broken())
    assert len([next(labeled) for _ in SENTENCES]) == len(SENTENCES)
    with pytest.raises(OSError, match="the disk is gone"):
        next(labeled)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"iterations": 0}, "iterations: expected an integer from 1 to 100, got 0"),
        ({"threshold": 1.5}, "threshold: expected a number from 0 to 1, got 1.5"),
        ({"batch_size": 0}, "batch_size: expected at least 1, got 0"),
    ],
)
def test_bad_options_are_refused_before_anything_is_read(option, message):
    with pytest.raises(ConfigError, match=message):
        make_labeler().label_sentences(None, **option)


def test_options_as_an_object_or_as_keywords():
    labeler = make_labeler()
    options = Options(predicates="marked", iterations=1)
    alike = label(labeler, SENTENCES, iterations=1, threshold=0.5)
    stream = labeler.label_sentences(map(blind, SENTENCES), options=options, threshold=0.5)
    assert list(stream) == alike
    with pytest.raises(TypeError, match=r"label\(\) got an unexpected keyword argument 'kinds'"):
        labeler.label("Dogs bark.", kinds=["verb"])


def test_threads():
    with pytest.raises(ConfigError, match="threads: expected at least 1, got 0"):
        Labeler(make_labeler().network, make_config(), threads=0)
    before = torch.get_num_threads()
    one = Labeler(make_labeler().network, make_config(), threads=1)
    assert label(one, ALL) == label(make_labeler(), ALL)
    assert torch.get_num_threads() == before


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_trace_has_every_iteration(variant):
    labeler = make_labeler(make_config(variant=variant, iterations=3))
    for s in label(labeler, SENTENCES, trace=True):
        for proposition in s.propositions:
            trace = proposition.trace
            n_roles = len(trace.roles)
            n = 4 if variant.startswith("capsule") else 1
            assert trace.roles == tuple(labeler.inventory.roles)
            assert trace.beliefs.shape == (n, len(s.words), n_roles)
            np.testing.assert_allclose(trace.beliefs.sum(-1), 1, atol=1e-5)
            for argument in proposition.arguments:
                believed = trace.beliefs[-1, argument.word]
                assert trace.roles[believed.argmax()] == argument.role
                assert believed.max() == pytest.approx(argument.probability)
            if variant.startswith("capsule"):
                np.testing.assert_allclose(trace.beliefs[0], 1 / n_roles, atol=1e-6)
                assert trace.capsules.shape == (3, n_roles, 4)
            else:
                assert trace.capsules is None
            assert (trace.nodes is not None) == (variant == "capsule+global")
    assert label(labeler, SENTENCES[:1])[0].propositions[0].trace is None


def test_the_threshold_leaves_unsure_arguments_out():
    labeler = make_labeler()
    everything = label(labeler, ALL)
    for threshold in (0.5, 0.9):
        expected = [
            [[a for a in p.arguments if a.probability >= threshold] for p in s.propositions]
            for s in everything
        ]
        found = label(labeler, ALL, threshold=threshold)
        assert [[list(p.arguments) for p in s.propositions] for s in found] == expected
    assert expected != [[list(p.arguments) for p in s.propositions] for s in everything]


@pytest.mark.parametrize(
    ("option", "field"),
    [("sense_threshold", "probability"), ("proposition_threshold", "joint_probability")],
)
@pytest.mark.parametrize("calibration", [None, CALIBRATION])
def test_thresholds_leave_unsure_propositions_out(option, field, calibration):
    labeler = make_labeler()
    labeler = Labeler(labeler.network, labeler.config, calibration=calibration)
    everything = label(labeler, ALL)
    found = sorted(getattr(p, field) for s in everything for p in s.propositions)
    middle = found[len(found) // 2]
    assert found[0] < middle
    expected = [[p for p in s.propositions if getattr(p, field) >= middle] for s in everything]
    kept = label(labeler, ALL, **{option: middle})
    assert [list(s.propositions) for s in kept] == expected


def test_calibration_changes_probabilities_only(tmp_path):
    plain = make_labeler()
    calibrated = Labeler(plain.network, plain.config, calibration=CALIBRATION)
    for predicates in ("marked", "found"):
        raw = label(plain, ALL, predicates=predicates)
        answers = label(calibrated, ALL, predicates=predicates)
        assert [bare(s) for s in answers] == [bare(s) for s in raw]
        counts = counts_of_senses(plain.inventory)
        assert answers == [
            s.with_propositions(apply_calibration(s.propositions, counts)) for s in raw
        ]
        assert answers != raw
        assert label(calibrated, ALL, predicates=predicates, uncalibrated=True) == raw
        for s in raw:
            for p in s.propositions:
                assert (p.predicate_probability is None) == (predicates == "marked")
    calibrated.save(tmp_path / "model")
    loaded = Labeler.load(tmp_path / "model")
    assert loaded.calibration == CALIBRATION
    assert label(loaded, ALL) == label(calibrated, ALL)
    plain.save(tmp_path / "model")
    assert Labeler.load(tmp_path / "model").calibration is None


def test_traces_are_not_calibrated():
    plain = make_labeler()
    calibrated = Labeler(plain.network, plain.config, calibration=CALIBRATION)
    pairs = zip(label(plain, ALL, trace=True), label(calibrated, ALL, trace=True), strict=True)
    for raw, other in pairs:
        for left, right in zip(raw.propositions, other.propositions, strict=True):
            np.testing.assert_array_equal(left.trace.beliefs, right.trace.beliefs)


@pytest.mark.parametrize("precision", ["full", "half", "compact"])
def test_a_saved_model_labels_as_before(tmp_path, bert, precision):
    embeddings = {"transformer": bert, "learned": 8, "characters": 6}
    labeler = make_labeler(make_config(embeddings=embeddings))
    labeler.save(tmp_path / "model", precision=precision)
    loaded = Labeler.load(tmp_path / "model")
    before, after = label(labeler, ALL), label(loaded, ALL)
    if precision == "full":
        assert after == before
    assert loaded.config == labeler.config
    assert loaded.inventory == labeler.inventory
    for name, tensor in labeler.network.state_dict().items():
        bound = {"full": 0.0, "half": 2**-10, "compact": 1 / 250}[precision]
        bound *= tensor[tensor.isfinite()].abs().max().item() if tensor.isfinite().any() else 0.0
        torch.testing.assert_close(
            loaded.network.state_dict()[name], tensor, atol=bound, rtol=0, msg=name
        )
    pairs = zip(_all(before), _all(after), strict=True)
    assert (
        max(abs(p.probability - q.probability) for p, q in pairs)
        < {"full": 1e-9, "half": 0.01, "compact": 0.1}[precision]
    )


def _all(sentences):
    return [p for s in sentences for p in s.propositions]


def test_a_word_that_utf8_cannot_hold_is_saved(tmp_path):
    """JSON lines can bring in half of a surrogate pair."""
    odd = [*SENTENCES, *[sentence("a\ud800b", (0, "x.01", {}))] * 2]
    labeler = Labeler(make_network(make_config(), build_inventory(odd)), make_config())
    labeler.save(tmp_path / "model")
    loaded = Labeler.load(tmp_path / "model")
    assert "a\ud800b" in loaded.inventory.words
    assert label(loaded, odd) == label(labeler, odd)


def test_repr_names_model_device_and_threads(tmp_path):
    labeler = make_labeler()
    labeler.save(tmp_path / "model")
    loaded = Labeler.load(tmp_path / "model", device="cpu", threads=3)
    assert repr(loaded) == (
        f"Labeler(model='{tmp_path / 'model'}', runtime='torch', device='cpu', threads=3)"
    )
    shipped = capsrl.load(device="cpu", threads=1)
    assert repr(shipped) == "Labeler(model='en', runtime='onnx', device='cpu', threads=1)"
    assert repr(labeler).startswith("Labeler(model=None, runtime='torch', ")


def test_pickled_by_its_folder(tmp_path, monkeypatch):
    labeler = make_labeler()
    with pytest.raises(PicklingError, match=r"this one has none: save\(folder\), then pickle"):
        pickle.dumps(labeler)
    labeler.save(tmp_path / "model")
    monkeypatch.chdir(tmp_path)
    loaded = Labeler.load("model", device="cpu", threads=3)
    data = pickle.dumps(loaded)
    assert len(data) < 1000
    monkeypatch.chdir("/")
    again = pickle.loads(data)
    assert label(again, ALL) == label(labeler, ALL)
    assert (again.device, again.threads, again.backend.runtime) == ("cpu", 3, "torch")


def test_a_shipped_model_is_pickled_by_its_name(labeler):
    """Another machine has it in another folder."""
    assert str(labeler.folder).encode() not in pickle.dumps(labeler)
    again = pickle.loads(pickle.dumps(labeler))
    assert again.label("Dogs bark.") == labeler.label("Dogs bark.")


def test_results_are_pickled():
    for sentences in (label(make_labeler(), ALL), label(make_labeler(), ALL, trace=True)):
        again = pickle.loads(pickle.dumps(sentences))
        assert [s.to_json() for s in again] == [s.to_json() for s in sentences]
    assert again[0].propositions[0].trace.beliefs.shape[0] == 3


def test_text_is_split_by_the_rules_of_the_language_of_the_model(tmp_path):
    """In the library, on the command line and in bulk; the folder keeps the language."""
    pytest.importorskip("sentencex")
    text = "Am 3. Mai kam er. Gut."
    labeler = make_labeler()
    assert len(labeler.label(text)) == 3  # by the rules for English
    labeler.network.inventory = dataclasses.replace(labeler.inventory, language="de")
    labeler.save(tmp_path / "model")
    loaded = capsrl.load(tmp_path / "model")
    assert [each.text for each in loaded.label(text)] == ["Am 3. Mai kam er.", "Gut."]
    assert list(map(len, loaded.label_many([text, "Gut."]))) == [2, 1]
    (tmp_path / "t.csv").write_text(f"text\n{text}\n", encoding="utf-8")
    for given in (text, str(tmp_path / "t.csv")):
        command = ["label", given, "--model", str(tmp_path / "model"), "--to", "jsonl"]
        printed = CliRunner().invoke(app, command).stdout
        assert [json.loads(line)["text"] for line in printed.splitlines()][-1] == "Gut."
        assert printed.count("\n") == 2
    job = Job(output=str(tmp_path / "out"), model=str(tmp_path / "model"))
    plan = Plan(job.settings(), 9, [scan(job.make_input(str(tmp_path / "t.csv")), 9)])
    done = Worker(job, job.fingerprint()).run(Task(0), plan.parts(0), plan.name(0))
    assert done.counts.sentences == 2
