import lzma
import os
from collections import Counter
from pathlib import Path

import pytest

from capsrl.errors import DataError
from capsrl.formats.conll09 import format_conll09
from capsrl.formats.formats import read_sentences
from capsrl.formats.phrase_file import phrase_file_of
from capsrl.sentence import Argument, Phrase, Proposition
from capsrl.text.phrases import without_phrases
from corpora import SPLITS, write_split
from corpora.ewt import read_ewt
from tests.helpers.published_folders import BYE, conllu, make_ewt, write_skeletons


@pytest.fixture
def folders(tmp_path):
    return make_ewt(tmp_path)


def propositions(folders, split, left_out=None):
    left_out = Counter() if left_out is None else left_out
    found = map(without_phrases, read_ewt(*folders, split, left_out=left_out))
    return {sentence.id: sentence.propositions for sentence in found}


def one_document(folders, words: str, skeletons: list[str], left_out: Counter[str]):
    ud, propbank = folders
    (ud / "en_ewt-ud-dev.conllu").write_text(conllu("d-1", words, document="email-d"))
    write_skeletons(propbank, "email", "d", skeletons)
    return propositions(folders, "dev", left_out)


def test_spans_become_heads_and_auxiliaries_are_dropped(folders):
    left_out = Counter()
    found = propositions(folders, "train", left_out)
    assert found["reviews-001-0001"] == (
        Proposition(2, "bark.01", (Argument("A0", 0), Argument("R-A0", 1))),
        # The subject is "Dogs that bark", and its head is not what stands last.
        Proposition(5, "bite.01", (Argument("A0", 0), Argument("AM-TMP", 4), Argument("A1", 6))),
    )
    assert left_out == {
        "propositions of auxiliaries": 1,
        "sentences of documents that PropBank lacks": 1,
    }


def test_words_that_were_split(folders):
    (proposition,) = propositions(folders, "train")["reviews-001-0002"]
    roles = (Argument("AM-DIS", 0), Argument("A0", 1), Argument("AM-TMP", 4))
    assert proposition == Proposition(3, "move.01", roles)


def test_words_that_were_joined(folders):
    (proposition,) = propositions(folders, "train")["reviews-001-0003"]
    roles = (Argument("A0", 0), Argument("AM-MOD", 1), Argument("AM-TMP", 2), Argument("A1", 4))
    assert proposition == Proposition(3, "thank.01", roles)


def test_a_sentence_that_was_split(folders):
    left_out = Counter()
    assert propositions(folders, "dev", left_out) == {
        "weblog-a.com_b-0001": (),
        "weblog-a.com_b-0002": (Proposition(0, "look_out.03", (Argument("C-V", 1),)),),
        "weblog-a.com_b-0003": (Proposition(1, "shoot.01", (Argument("A0", 0),)),),
        "weblog-a.com_b-0004": (),
    }
    assert left_out == {"arguments in another sentence than their predicate": 1}


def test_a_sentence_that_ud_lacks(folders):
    left_out = Counter()
    skeletons = ["UH - -", "VB go go.01 (V*)\nRB - - (ARGM-DIR*)"]
    assert one_document(folders, BYE, skeletons, left_out) == {"d-1": ()}
    assert left_out == {"propositions of words that UD lacks": 1}


def test_a_sentence_that_propbank_lacks(folders):
    ud, propbank = folders
    words = conllu("d-1", BYE, document="email-d") + conllu("d-2", BYE)
    (ud / "en_ewt-ud-dev.conllu").write_text(words)
    write_skeletons(propbank, "email", "d", ["UH - -"])
    left_out = Counter()
    assert propositions(folders, "dev", left_out) == {"d-1": ()}
    assert left_out == {"sentences that PropBank lacks": 1}


def test_a_sentence_in_the_middle_that_propbank_lacks(folders):
    """The lengths of those after it tell which it is."""
    ud, propbank = folders
    words = conllu("d-1", BYE, document="email-d")
    words += conllu("d-2", "No no DET DT 2 det\nreply reply NOUN NN 0 root")
    words += conllu("d-3", "Go go VERB VB 0 root")
    (ud / "en_ewt-ud-dev.conllu").write_text(words)
    write_skeletons(propbank, "email", "d", ["UH - -", "VB go go.01 (V*)"])
    left_out = Counter()
    assert propositions(folders, "dev", left_out) == {"d-1": (), "d-3": (Proposition(0, "go.01"),)}
    assert left_out == {"sentences that PropBank lacks": 1}


def test_words_stay_in_their_sentence(folders):
    """Over the sentence end the tags would fit one by one: NN VB NN."""
    ud, propbank = folders
    words = conllu("d-1", "Can can NOUN NN 0 root\nopen open VERB VB 1 acl", document="email-d")
    words += conllu("d-2", "Breakup break NOUN NN 0 root")
    (ud / "en_ewt-ud-dev.conllu").write_text(words)
    write_skeletons(propbank, "email", "d", ["NN - -", "VB break break_up.08 (V*)\nNN - - (C-V*)"])
    assert propositions(folders, "dev") == {
        "d-1": (),
        "d-2": (Proposition(0, "break_up.08", (Argument("C-V", 0),)),),
    }


def test_two_predicates_that_were_joined(folders):
    left_out = Counter()
    words = "gonna  go VERB VBG 0 root\nleave leave VERB VB 1 xcomp"
    skeletons = ["VBG go go.04 (V*) * *\nTO to be.91 * (V*) *\nVB leave leave.01 * * (V*)"]
    found = one_document(folders, words, skeletons, left_out)
    assert found == {"d-1": (Proposition(0, "go.04"), Proposition(1, "leave.01"))}
    assert left_out == {"second propositions of one word": 1}


def test_two_roles_on_one_word_are_kept_and_one_twice_is_one(folders):
    words = "Go go VERB VB 0 root\nhome home ADV RB 1 advmod"
    skeleton = "VB go go.01 (V*)\nRB - - (ARG4(ARGM-DIR(ARG4*)))"
    found = one_document(folders, words, [skeleton], Counter())
    roles = (Argument("AM-DIR", 1), Argument("A4", 1))
    assert {a for a in found["d-1"][0].arguments} == set(roles)
    assert len(found["d-1"][0].arguments) == 2


def test_the_head_of_a_small_clause(folders):
    words = """
    It  it  PRON PRP 2 nsubj
    made  make  VERB VBD 0 root
    me  I  PRON PRP 2 obj
    feel  feel  VERB VB 2 xcomp
    sure  sure  ADJ JJ 4 xcomp
    """
    skeleton = """
    PRP - - (ARG0*) *
    VBD make make.02 (V*) *
    PRP - - (ARG1* (ARG0*)
    VB feel feel.01 * (V*)
    JJ - - *) (ARG1*)
    """
    made, felt = one_document(folders, words, [skeleton], Counter())["d-1"]
    assert made == Proposition(1, "make.02", (Argument("A0", 0), Argument("A1", 3)))
    assert felt == Proposition(3, "feel.01", (Argument("A0", 2), Argument("A1", 4)))


def test_tags_and_trees_are_those_of_ud(folders):
    sentence = next(iter(read_ewt(*folders, "train", left_out=Counter())))
    assert sentence.tags == ("NNS", "WDT", "VBP", "VBP", "RB", "VBN", "PRP", ".")
    assert sentence.heads == (5, 2, 0, 5, 5, None, 5, 5)
    assert sentence.lemmas[6] == "I"


def test_spans_are_kept_as_phrases(folders, tmp_path):
    sentences = list(read_ewt(*folders, "train", left_out=Counter()))
    path = tmp_path / "made/train.conll09.gz"
    write_split(sentences, path)
    assert (tmp_path / "made/train.spans.tsv.gz").is_file()
    read = list(read_sentences(path, phrases=phrase_file_of(path)))
    phrases = [[a.phrase for p in s.propositions for a in p.arguments] for s in sentences]
    assert phrases == [[a.phrase for p in s.propositions for a in p.arguments] for s in read]
    barking = sentences[0].propositions[1].arguments[0]  # "Dogs that bark"
    assert (barking.word, barking.phrase) == (0, Phrase(0, 2))


def test_folders_that_are_others(folders, tmp_path):
    ud, propbank = folders
    with pytest.raises(
        DataError,
        match=r"^\S*propbank-release: has no en_ewt-ud-dev.conllu; it should be a release of "
        r"UD_English-EWT$",
    ):
        read_ewt(propbank, propbank, "dev", left_out=Counter())
    with pytest.raises(
        DataError,
        match=r"^\S*UD_English-EWT: has no data/google/ewt/\*/\*/\*.xml.gold_skel; it should be "
        r"a checkout of propbank-release$",
    ):
        read_ewt(ud, ud, "dev", left_out=Counter())
    (ud / "en_ewt-ud-dev.conllu").write_text(conllu("g-1", BYE, document="GUM_x"))
    with pytest.raises(
        DataError,
        match=r"en_ewt-ud-dev.conllu: has none of the documents that PropBank has, such as "
        r"reviews-001$",
    ):
        propositions(folders, "dev")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (conllu("s", BYE), r"dev.conllu: expected '# newdoc id = ...' above .*, got 'Bye'; PropB"),
        (
            conllu("s", "Go go VERB VB 2 x\non on ADP RP 1 x", document="reviews-001"),
            r"^sentence 's': its tree has a circle at word 1$",
        ),
        (
            "# newdoc id = reviews-001\n# sent_id = s\n1\tBye" + "\t_" * 8 + "\n",
            r"^sentence 's': has no heads$",
        ),
    ],
)
def test_treebanks_that_cannot_be_used(folders, words, message):
    (folders[0] / "en_ewt-ud-dev.conllu").write_text(words)
    with pytest.raises(DataError, match=message):
        propositions(folders, "dev")


@pytest.mark.slow
@pytest.mark.parametrize("split", SPLITS)
def test_real_folders_give_the_corpus_we_train_on(shared, split):
    if not os.environ.get("CAPSRL_UD_EWT") or not os.environ.get("CAPSRL_PROPBANK"):
        pytest.skip(
            "needs UD_English-EWT r2.16 and propbank-release: CAPSRL_UD_EWT, CAPSRL_PROPBANK"
        )
    ud, propbank = Path(os.environ["CAPSRL_UD_EWT"]), Path(os.environ["CAPSRL_PROPBANK"])
    made = read_ewt(ud, propbank, split, left_out=Counter())
    lines = "".join(map(format_conll09, made)).split("\n")
    with lzma.open(shared / f"data/en_ewt/{split}.conll09.xz", "rt", encoding="utf-8") as file:
        expected = file.read().split("\n")
    assert len(lines) == len(expected)
    differing = [
        (line.split("\t")[1], line.split("\t")[13], other.split("\t")[13])
        for line, other in zip(lines, expected, strict=True)
        if line != other
    ]
    # Once "companie $involved", now "companie$ involved": the verb is the predicate.
    moved = [("companie$", "_", "involve.01"), ("involved", "involve.01", "_")]
    assert differing == (moved if split == "train" else [])
