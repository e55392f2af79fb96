import lzma
import os
from collections import Counter

import pytest

from capsrl.errors import DataError
from capsrl.formats.conll09 import format_conll09
from capsrl.sentence import Argument, Proposition
from corpora.up import find_splits, read_up
from tests.helpers.published_folders import make_up


def test_the_splits_of_a_treebank(tmp_path):
    ud, up = make_up(tmp_path)
    train, test = find_splits(ud, up)  # there is no dev file
    assert (train.name, train.words.name) == ("train", "xx_yy-ud-train.conllu")
    assert (test.name, test.propositions.name) == ("test", "xx_yy-up-test.conllup")


def test_auxiliaries_are_dropped_and_tags_universal(tmp_path):
    train, _ = find_splits(*make_up(tmp_path))
    left_out = Counter()
    dogs, bye = read_up(train, left_out=left_out)
    assert dogs.propositions == (
        Proposition(2, "bark.01", (Argument("A0", 0), Argument("R-A0", 1))),
        Proposition(5, "bite.01", (Argument("A0", 0), Argument("AM-TMP", 4), Argument("A1", 6))),
    )
    assert dogs.tags == ("NOUN", "PRON", "VERB", "AUX", "ADV", "VERB", "PRON", "PUNCT")
    assert (bye.words, bye.propositions) == (("Bye",), ())
    assert left_out == {"propositions of auxiliaries": 1}


def test_direct_speech_has_no_role_of_its_own(tmp_path):
    ud, up = make_up(tmp_path)
    file = up / "xx_yy-up-train.conllup"
    file.write_text(file.read_text().replace("A1:7", "A1-DSP:7|A1:7|C-A1-DSP:8"))
    dogs, _ = read_up(find_splits(ud, up)[0], left_out=Counter())
    assert dogs.propositions[1].arguments[2:] == (Argument("A1", 6), Argument("C-A1", 7))


def test_numbers_that_count_empty_nodes_are_translated(tmp_path):
    """In these files the predicate of row 3 with an empty node before it is the second word."""
    _, test = find_splits(*make_up(tmp_path))
    (they,) = read_up(test, left_out=Counter())
    assert they.propositions == (Proposition(1, "shoot.01", (Argument("A0", 0),)),)


def test_folders_that_are_others(tmp_path):
    ud, up = make_up(tmp_path)
    with pytest.raises(
        DataError, match=r"^\S*UD_Xx-Yy: expected the files of one treebank .*, got none$"
    ):
        find_splits(ud, ud)
    (up / "zz_vv-up-dev.conllup").touch()
    with pytest.raises(DataError, match=r"^\S*UP_Xx-Yy: expected the .*, got xx_yy, zz_vv$"):
        find_splits(ud, up)
    (up / "zz_vv-up-dev.conllup").unlink()
    (ud / "xx_yy-ud-test.conllu").unlink()
    with pytest.raises(
        DataError,
        match=r"^\S*UD_Xx-Yy: has no xx_yy-ud-test.conllu; it should be UD 2.9 of the "
        r"treebank that the propositions were made on$",
    ):
        find_splits(ud, up)


def test_another_release_of_the_treebank(tmp_path):
    ud, up = make_up(tmp_path)
    words = ud / "xx_yy-ud-train.conllu"
    words.write_text(words.read_text().replace("\n8\t.", "\n8\t!!\t_\tX\tX\t_\t6\tx\t_\t_\n9\t."))
    train, _ = find_splits(ud, up)
    with pytest.raises(DataError, match=r"xx_yy-up-train.conllup:3: expected 'a' .*, 9, got 8"):
        list(read_up(train, left_out=Counter()))


def test_real_folders_give_the_corpus_we_train_on(shared):
    if not os.environ.get("CAPSRL_UD_SEQUOIA") or not os.environ.get("CAPSRL_UP_SEQUOIA"):
        pytest.skip("needs French-Sequoia, r2.9: CAPSRL_UD_SEQUOIA, CAPSRL_UP_SEQUOIA")
    splits = find_splits(os.environ["CAPSRL_UD_SEQUOIA"], os.environ["CAPSRL_UP_SEQUOIA"])
    assert [split.name for split in splits] == ["train", "dev", "test"]
    for split in splits:
        made = "".join(map(format_conll09, read_up(split, left_out=Counter())))
        path = shared / f"data/fr_up/{split.name}.conll09.xz"
        with lzma.open(path, "rt", encoding="utf-8") as file:
            assert made == file.read()
