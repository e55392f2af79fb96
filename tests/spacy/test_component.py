"""The spaCy component, on blank pipelines and hand-made parses; no trained pipeline is needed."""

import dataclasses
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
import spacy
from confection import ConfigValidationError
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import CupyOps, get_current_ops, set_current_ops
from thinc.compat import has_cupy_gpu

import capsrl
from capsrl.errors import ConfigError, ModelError
from capsrl.options import Options
from capsrl.sentence import Sentence
from capsrl.spacy import Component
from capsrl.spacy.component import _read_folder, _remove_temporary, _write_folder
from tests.helpers.crashes import crashes
from tests.helpers.spacy_docs import TEXT, parsed, pipeline, plain
from tests.helpers.tiny_networks import SENTENCES, make_config, make_labeler, write_encoder

TEXTS = [TEXT, "", "  \n ", "Go!", "Dogs bark and 猫 sleeps .", "He wants to leave the old house."]


@pytest.fixture
def folder(tmp_path):
    """A model folder that does not ship with capsrl."""
    make_labeler().save(tmp_path / "own")
    return tmp_path / "own"


def test_worked_example(nlp):
    doc = nlp(TEXT)
    signed, read = doc._.propositions
    assert (signed.predicate.text, read.predicate.text) == ("signed", "read")
    assert read.sense == "read.01"
    assert [(a.role, a.word.text) for a in read.arguments] == [
        ("A0", "She"),
        ("AM-NEG", "n't"),
        ("A1", "it"),
    ]
    assert all(0 < a.probability <= 1 for a in read.arguments)
    assert [a.phrase.text for a in signed.arguments][:2] == ["Hiti", "the contract"]
    assert 0 < read.probability <= 1


def test_same_as_the_labeler(nlp):
    """One word per token: the same as labeling the words themselves."""
    doc = nlp(TEXTS[-1])
    [sentence] = capsrl.load().label(Sentence(tuple(token.text for token in doc)))
    assert [
        (p.predicate, p.sense, [(a.role, a.word, a.phrase.text) for a in p.arguments])
        for p in sentence.propositions
    ] == plain(doc)
    for ours, theirs in zip(sentence.propositions, doc._.propositions, strict=True):
        assert theirs.probability == pytest.approx(ours.probability, abs=1e-5)


def test_batches_equal_single_docs(nlp):
    alone = [plain(nlp(text)) for text in TEXTS]
    assert sum(map(len, alone)) >= 5
    assert [plain(doc) for doc in nlp.pipe(TEXTS)] == alone
    assert [plain(doc) for doc in nlp.pipe(TEXTS, batch_size=2)] == alone


def test_a_batch_is_labeled_in_one_call(folder):
    component = Component(model=str(folder))
    calls = []
    label = component.labeler.label_sentences
    component.labeler.label_sentences = lambda sentences, **options: (
        calls.append(len(sentences)) or label(sentences, **options)
    )
    docs = [Doc(spacy.blank("en").vocab, words=["dogs", "bark"]) for _ in range(5)]
    assert list(component.pipe(docs, batch_size=3)) == docs
    assert calls == [3, 2]


def test_phrases(nlp):
    doc = nlp.get_pipe("capsrl")(parsed())
    found = {(p.predicate.text, a.role): a for p in doc._.propositions for a in p.arguments}
    assert found["signed", "A0"].phrase.text == "The man who   left town"
    assert found["signed", "A0"].word.text == "man"
    assert found["left", "A0"].phrase.text == "The man"
    assert found["signed", "A1"].phrase.text == "it"


def test_phrases_of_a_later_parse(folder):
    """With a model that predicts no phrases."""
    find = Component(model=str(folder))
    doc = find(Doc(spacy.blank("en").vocab, words=["the", "old", "man", "wanted", "to", "leave"]))
    arguments = [a for p in doc._.propositions for a in p.arguments]
    assert arguments and all(a.phrase is None for a in arguments)
    for token, head in zip(doc, (2, 2, 3, 3, 5, 3), strict=True):
        token.head, token.dep_ = doc[head], "dep"
    arguments = [a for p in doc._.propositions for a in p.arguments]
    assert all(a.word in a.phrase for a in arguments)
    assert any(len(a.phrase) > 1 for a in arguments)


def test_heads_only():
    find = Component(phrases=False)
    doc = find(parsed())
    assert all(a.phrase is None for p in doc._.propositions for a in p.arguments)
    assert "man" in [span.text for span in doc.spans["capsrl"]]
    assert all(len(span) == 1 for span in doc.spans["capsrl"])


def test_spans_are_those_of_the_propositions(nlp):
    doc = nlp.get_pipe("capsrl")(parsed())
    found = [(span.label_, span.text, span.id_) for span in doc.spans["capsrl"]]
    assert found[:4] == [
        ("V", "left", "4"),
        ("A0", "The man", "4"),
        ("R-A0", "who", "4"),
        ("A1", "town", "4"),
    ]
    again = nlp.get_pipe("capsrl")(doc)
    assert [(span.label_, span.text, span.id_) for span in again.spans["capsrl"]] == found


def test_lemmas_of_a_tagger_are_used(nlp):
    words = ["She", "saw", "it"]
    vocab = spacy.blank("en").vocab
    find = nlp.get_pipe("capsrl")
    ours = find(Doc(vocab, words=words))
    theirs = find(Doc(vocab, words=words, lemmas=["she", "saw", "it"]))
    assert [p.sense.split(".")[0] for d in (ours, theirs) for p in d._.propositions] == [
        "see",
        "saw",
    ]


def test_options_reach_the_model(nlp):
    doc = nlp.make_doc("His decision to leave the old house made her very happy yesterday.")

    def find(**options) -> Doc:
        component = Component(**options)
        component._labeler = nlp.get_pipe("capsrl").labeler  # loading takes its time
        return component(doc.copy())

    def probabilities(doc: Doc) -> list[float]:
        return [a.probability for p in doc._.propositions for a in p.arguments]

    every, verbs = plain(find()), plain(find(pos=["verb"]))
    assert verbs and len(verbs) < len(every) and all(each in every for each in verbs)
    chosen = sorted(probabilities(find()))[1]
    assert min(probabilities(find(threshold=chosen))) == chosen
    assert probabilities(find(iterations=1)) != pytest.approx(probabilities(find()), abs=1e-6)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"pos": ["verbs"]}, r"capsrl: pos: expected some of verb, .*, got verbs"),
        ({"pos": []}, r"capsrl: pos: expected some of verb, .*, got \[\]"),
        ({"threshold": 1.5}, "capsrl: threshold: expected a number from 0 to 1, got 1.5"),
        ({"iterations": 0}, "capsrl: iterations: expected an integer from 1 to 100, got 0"),
        ({"threshold": "0.5"}, "capsrl: threshold: expected a number from 0 to 1, got '0.5'"),
    ],
)
def test_wrong_options(config, message):
    with pytest.raises(ConfigError, match=message):
        pipeline(**config)


def test_pos_needs_tags(folder):
    with pytest.raises(ConfigError, match="pos needs tags, .* nor .*own a tagger; put"):
        pipeline(model=str(folder), pos=["verb", "noun"])("dogs bark")


def test_settings_are_those_of_the_library():
    unused = {"predicates", "trace", "html", "one_sentence_per_line"}
    names = {field.name for field in dataclasses.fields(Options)} - unused
    config = pipeline().config["components"]["capsrl"]
    assert config.keys() - names == {
        *("factory", "model", "device", "runtime", "threads", "frames", "spans_key", "scorer")
    }
    assert Component().options == Options(predicates="found")
    with pytest.raises(ConfigValidationError, match="iteration"):
        pipeline(iteration=2)


def test_meanings(nlp, tmp_path):
    [sold] = nlp("Mira sold her bicycle yesterday.")._.propositions
    assert sold.definition is None
    assert sold.frames[0] == "verbnet:give-13.1-1"
    assert [argument.meaning for argument in sold.arguments] == ["Agent", "Theme", "time"]
    (tmp_path / "sell.xml").write_text(
        '<frameset><predicate lemma="sell"><roleset id="sell.01" name="give for money"><roles>'
        '<role n="0" descr="vendor"/></roles></roleset></predicate></frameset>'
    )
    doc = pipeline(frames=str(tmp_path))("Mira sold her bicycle yesterday.")
    [sold] = Doc(nlp.vocab).from_bytes(doc.to_bytes())._.propositions
    assert (sold.definition, sold.frames) == ("give for money", ())
    assert [argument.meaning for argument in sold.arguments] == ["vendor", None, "time"]


def test_device_and_threads(folder):
    nlp = pipeline(model=str(folder), device="cpu", threads=1)
    labeler = nlp.get_pipe("capsrl").labeler
    assert (labeler.device, labeler.threads) == ("cpu", 1)
    with pytest.raises(ConfigError, match="device: expected .*, got abacus"):
        pipeline(model=str(folder), device="abacus")("go")


def test_the_fast_runtime_is_the_default(nlp):
    pytest.importorskip("onnxruntime")
    assert type(nlp.get_pipe("capsrl").labeler.backend).__name__ == "OnnxBackend"
    assert type(Component(runtime="torch").labeler.backend).__name__ == "TorchBackend"


@contextmanager
def gpu_of_spacy():
    """As after `spacy.prefer_gpu()`, but this machine need not have a GPU."""
    before = get_current_ops()
    set_current_ops(CupyOps())
    try:
        yield
    finally:
        set_current_ops(before)


@pytest.mark.skipif(has_cupy_gpu, reason="there is a GPU")
def test_the_gpu_of_spacy_without_torch_for_it(folder):
    with gpu_of_spacy():
        component = Component("srl", model=str(folder))
        with pytest.warns(match="srl: .* GPU that spaCy uses .* 0 GPUs.*; labels on the CPU"):
            assert component.labeler.device == "cpu"
        assert Component(model=str(folder), device="cpu").labeler.device == "cpu"
        assert Component(runtime="onnx").labeler.device == "cpu"
        with pytest.raises(ConfigError, match="device: no cuda:0; this machine has 0 GPUs"):
            _ = Component(model=str(folder), device="cuda:0").labeler
    assert Component(model=str(folder)).labeler.device == "cpu"


@pytest.mark.gpu
def test_the_gpu_of_spacy(folder):
    pytest.importorskip("cupy")
    before = get_current_ops()
    assert Component(model=str(folder)).labeler.device == "cpu"
    try:
        assert spacy.prefer_gpu()
        nlp = pipeline()
        assert nlp.get_pipe("capsrl").labeler.device.startswith("cuda")
        on_gpu = plain(nlp(TEXT))
    finally:
        set_current_ops(before)
    assert on_gpu == plain(pipeline()(TEXT))


def test_other_languages(folder):
    with pytest.warns(UserWarning, match="capsrl: .* language en, not de; .* setting `model`"):
        spacy.blank("de").add_pipe("capsrl")
    spacy.blank("xx").add_pipe("capsrl")
    spacy.blank("de").add_pipe("capsrl", config={"model": str(folder)})


def test_spans_key():
    doc = pipeline(spans_key="srl")("Go!")
    assert [span.label_ for span in doc.spans["srl"]] == ["V"]
    assert "capsrl" not in doc.spans
    doc = pipeline(spans_key=None)(TEXT)
    assert not doc.spans
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[2:4])
    assert plain(Doc(doc.vocab).from_bytes(doc.to_bytes())) == plain(doc)


def test_error_handler(folder):
    nlp = pipeline(model=str(folder), pos=["verb"])  # which needs tags
    failed = []
    nlp.set_error_handler(lambda name, _, docs, error: failed.append((name, len(docs), error)))
    assert list(nlp.pipe(["dogs bark", "cats sleep"])) == []
    [(name, n_docs, error)] = failed
    assert (name, n_docs) == ("capsrl", 2) and "pos needs tags" in str(error)


def test_select_pipes(nlp):
    with nlp.select_pipes(disable="capsrl"):
        assert nlp(TEXT)._.propositions == []
    assert len(nlp(TEXT)._.propositions) == 2


def test_other_components_are_trained_beside_it():
    nlp = spacy.blank("en")
    nlp.add_pipe("tagger")
    nlp.add_pipe("capsrl")
    example = Example.from_dict(nlp.make_doc("Dogs bark"), {"tags": ["NNS", "VBP"]})
    optimizer = nlp.initialize(lambda: [example])
    assert nlp.update([example], sgd=optimizer)["tagger"] > 0
    weights = nlp.config["training"]["score_weights"]
    assert weights["tag_acc"] == 1.0 and weights["srl_f"] is None
    assert nlp.evaluate([example])["srl_f"] is None


def test_memory_zone(nlp):
    before = len(nlp.vocab.strings)
    with nlp.memory_zone():
        [doc] = nlp.pipe(["Zyxxi glorped the quuxes of Vlonk."])
        found = plain(doc)
        assert found
    assert len(nlp.vocab.strings) == before
    assert plain(nlp("Zyxxi glorped the quuxes of Vlonk.")) == found


def test_no_such_model():
    with pytest.raises(ModelError, match="nowhere: not a model folder, nor the name of a model"):
        pipeline(model="nowhere")("Go!")


def test_save_a_shipped_model(nlp, tmp_path):
    nlp.to_disk(tmp_path)
    assert sum(file.stat().st_size for file in (tmp_path / "capsrl").iterdir()) < 100
    again = spacy.load(tmp_path)
    assert plain(again(TEXT)) == plain(nlp(TEXT))


def test_save_another_model(folder, tmp_path):
    nlp = pipeline(model=str(folder), threshold=0.25)
    texts = [" ".join(sentence.words) for sentence in SENTENCES]
    before = [plain(doc) for doc in nlp.pipe(texts)]
    assert any(before)
    nlp.to_disk(tmp_path / "saved")
    nlp.to_disk(tmp_path / "saved")  # over an older one
    shutil.rmtree(folder)
    (tmp_path / "saved").rename(tmp_path / "moved")
    again = spacy.load(tmp_path / "moved")
    assert again.get_pipe("capsrl").options.threshold == 0.25
    assert [plain(doc) for doc in again.pipe(texts)] == before
    again.to_disk(tmp_path / "moved")  # where it came from
    assert [plain(doc) for doc in spacy.load(tmp_path / "moved").pipe(texts)] == before


@pytest.mark.parametrize(("old", "new"), [("own", "own2"), ("own", "en"), ("en", "own")])
def test_a_pipeline_is_saved_whole_or_not_at_all(tmp_path, old, new):
    """If it is killed while it is saved, the old model is read, or the new one, or none."""
    for name, seed in (("own", 1), ("own2", 2)):
        make_labeler(seed=seed).save(tmp_path / name)
    models = {name: str(tmp_path / name) for name in ("own", "own2")} | {"en": "en"}
    components = {name: Component(model=models[name]) for name in (old, new)}
    for each in components.values():
        _ = each.labeler
    saved = tmp_path / "saved"
    components[old].to_disk(saved)
    found = []
    for _ in crashes(lambda: components[new].to_disk(saved)):
        found.append(model_in(saved))
        assert found[-1] in (None, content_of(models[old]), content_of(models[new]))
        components[old].to_disk(saved)
        assert not [*saved.glob("*.new"), *saved.glob("*.old")]
    assert len(found) > 3
    assert model_in(saved) == content_of(models[new])
    assert {file.name for file in saved.glob("m*")} == ({"model"} if new != "en" else set())


def model_in(saved):
    model = Component().from_disk(saved).model
    return content_of(model) if model == "en" or Path(model).is_dir() else None


def content_of(model):
    return model if model == "en" else frozenset(_read_folder(Path(model)).items())


def test_bytes_of_another_model(folder, tmp_path):
    nlp = pipeline(model=str(folder))
    before = plain(nlp("yesterday the old man wanted to leave the house"))
    again = pipeline().from_bytes(nlp.to_bytes())
    shutil.rmtree(folder)
    assert plain(again("yesterday the old man wanted to leave the house")) == before
    third = pipeline().from_bytes(again.to_bytes())
    assert plain(third("yesterday the old man wanted to leave the house")) == before
    again.to_disk(tmp_path / "saved")
    assert plain(spacy.load(tmp_path / "saved")("go")) == plain(again("go"))


def test_bytes_of_an_exported_model(tmp_path):
    """Its graphs are read when they are needed: that of other iterations after the first Doc."""
    pytest.importorskip("onnxruntime")
    export = pytest.importorskip("capsrl.export.folder").export
    write_encoder(tmp_path / "encoder")
    embeddings = {"transformer": str(tmp_path / "encoder"), "fine_tune": True}
    make_labeler(make_config(embeddings=embeddings)).save(tmp_path / "model", precision="compact")
    export(tmp_path / "model")
    nlp = pipeline(model=str(tmp_path / "model"), iterations=4, device="cpu")
    again = pipeline(iterations=4, device="cpu").from_bytes(nlp.to_bytes())
    before = plain(nlp("yesterday the old man wanted to leave the house"))
    shutil.rmtree(tmp_path / "model")
    assert again.get_pipe("capsrl").labeler.device == "cpu"
    assert plain(again("yesterday the old man wanted to leave the house")) == before


def test_bytes_of_a_shipped_model(nlp):
    component = nlp.get_pipe("capsrl")
    assert len(component.to_bytes()) < 100
    assert Component(model="other").from_bytes(component.to_bytes()).model == "en"


def test_bytes_with_files_outside_the_folder(folder, tmp_path):
    component = Component(model=str(folder))
    component._files = {"../../x": b""}
    with pytest.raises(ModelError, match="../../x: not a file of a model folder"):
        _ = component.labeler


def test_save_without_model(tmp_path):
    (tmp_path / "empty").mkdir()
    nlp = pipeline(model=str(tmp_path / "empty"))
    with pytest.raises(ModelError, match="empty: config.json is missing"):
        nlp.to_disk(tmp_path / "saved")
    with pytest.raises(ModelError, match="empty/settings.json: not found"):
        Component().from_disk(tmp_path / "empty")


def test_pickle(nlp):
    again = pickle.loads(pickle.dumps(nlp.get_pipe("capsrl")))
    assert plain(again(nlp.make_doc(TEXT))) == plain(nlp(TEXT))


def test_several_processes(nlp):
    alone = [plain(nlp(text)) for text in TEXTS]
    docs = list(nlp.pipe(TEXTS * 2, n_process=2, batch_size=2))
    assert [plain(doc) for doc in docs] == alone * 2


@pytest.mark.slow
def test_several_processes_after_threads():
    """Threads of torch do not survive a fork; waiting for them would never end."""
    code = (
        "import spacy, torch; torch.set_num_threads(2)\n"
        "nlp = spacy.blank('en'); nlp.add_pipe('capsrl'); texts = ['Hiti signed it.'] * 8\n"
        "count = lambda docs: [len(doc._.propositions) for doc in docs]\n"
        "print(count(nlp.pipe(texts)), count(nlp.pipe(texts, n_process=2, batch_size=4)))"
    )
    environment = os.environ | {"OMP_NUM_THREADS": "2"}
    running = subprocess.Popen(
        [sys.executable, "-c", code],
        env=environment,
        stdout=subprocess.PIPE,
        start_new_session=True,
        text=True,
    )
    try:
        assert running.communicate(timeout=120)[0] == f"{[1] * 8} {[1] * 8}\n"
    finally:
        if running.poll() is None:
            os.killpg(running.pid, signal.SIGKILL)  # its workers too
            running.communicate()


def test_labeling_twice(nlp):
    doc = nlp(TEXT)
    before = plain(doc)
    assert plain(nlp.get_pipe("capsrl")(doc)) == before


def test_capsrl_imports_neither_spacy_nor_torch():
    code = "import sys, capsrl; print('spacy' in sys.modules, 'torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False False\n"


def test_analyze_pipes(nlp):
    found = nlp.analyze_pipes()
    assert found["summary"]["capsrl"]["assigns"] == [
        "doc._.propositions",
        "span._.propositions",
        "token._.proposition",
        "doc.spans",
    ]
    assert "srl_f" in found["summary"]["capsrl"]["scores"]
    assert found["problems"]["capsrl"] == []


def test_documentation(capsys):
    guide = Path(__file__).resolve().parents[2] / "docs" / "spacy.md"
    examples = re.findall(
        r"```python\n(.*?)```\n\n```\n(.*?)```", guide.read_text(encoding="utf-8"), re.DOTALL
    )
    assert len(examples) == 5
    names: dict[str, object] = {}  # a block may use what those above it have defined
    for code, output in examples:
        exec(compile(code, str(guide), "exec"), names)
        assert capsys.readouterr().out == output


def test_a_forked_process_keeps_the_model_of_its_parent(tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    _remove_temporary(str(folder), os.getpid() + 1)
    assert folder.is_dir()
    _remove_temporary(str(folder), os.getpid())
    assert not folder.exists()


def test_a_folder_as_bytes(tmp_path):
    files = {"config.json": b"{}", "encoder/weights": b"\x00\xff"}
    _write_folder(files, tmp_path / "model")
    assert _read_folder(tmp_path / "model") == files


@pytest.mark.parametrize("name", ["../x", "/x", "a/../../x"])
def test_files_outside_the_folder(tmp_path, name):
    with pytest.raises(ModelError, match=f"{name}: not a file of a model folder"):
        _write_folder({name: b""}, tmp_path / "model")
    assert not (tmp_path / "x").exists()
