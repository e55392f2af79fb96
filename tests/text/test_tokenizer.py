"""Words in the manner of the English Web Treebank; every sentence here was written for the test."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsrl.text.tokenizer import _pattern, word_ends


def cut(stretch: str) -> str:
    starts = (0, *word_ends(stretch))
    return " ".join(stretch[a:b] for a, b in zip(starts, word_ends(stretch), strict=False))


@pytest.mark.parametrize(
    "words",
    [
        # clitics, with and without their apostrophe
        "do n't",
        "Ca n't !",
        "wo n’t",
        "SHOULD N'T",
        "Anna 's",
        "they 'll",
        "I 'm",
        "dogs '",
        "can not",
        "gon na",
        "( do nt )",
        "du n no",
        "y' all",
        "it 's ...",
        # apostrophes inside words and before years
        "O'Brien 's",
        "o'clock",
        "'90s",
        "the '",
        # hyphens: split, but not after a prefix or before a suffix
        "long - term",
        "state - of - the - art",
        "al - Qaeda",
        "e-mail",
        "non-smokers ,",
        "anti-American",
        "mid-1990s",
        "clock-wise",
        "E - J",
        "well -- or",
        # numbers, units, currency, dates, telephones
        "$ 5",
        "$ 3.5 m",
        "US$ 20,000",
        "7:30 pm",
        "3rd",
        "1980's",
        "50 %",
        "12/31/1999",
        "2019-11-03",
        "555-0134",
        "1-800-555-0134",
        "( 020 )",
        "1 / 2",
        "5 - 10",
        "# 1",
        ".5",
        # abbreviations
        "Mr.",
        "U.S.",
        "e.g. ,",
        "Sept.",
        "W.",
        "I .",
        "cat .",
        # addresses and files
        "anna.b@example.com .",
        "< anna@example.org >",
        "http://example.com/a-b_c?d=1&e=f .",
        "( www.example.com )",
        "example.co.uk /",
        "notes_2.doc",
        "@anna",
        "#srl",
        # emoticons and marks
        ":-)",
        "great :)",
        ";)",
        ":(",
        "^_^",
        "<3",
        "!!!",
        "what ?!",
        "wait ...",
        "and / or",
        "w/o",
        "AT&T",
        "you & me",
        '" yes "',
        "“ no ”",
        "_ title _",
        "snake_case",
        "***",
        "-->",
        # other scripts, emoji
        "😀",
        "👩‍👩‍👧‍👦 🇫🇮 👍🏽 ❤️ 1️⃣",
        "हिन्दी ।",
        "مرحبا ؟",
        "café",
        "東 京 Tokyo",
    ],
)
def test_cuts_a_stretch_like_the_treebank(words):
    assert cut(words.replace(" ", "")) == words


def test_han_characters_stand_alone_and_kana_run():
    assert cut("漢字とカナです。") == "漢 字 とカナです 。"


@given(st.text(st.characters(categories=("L", "N", "P", "S", "M", "Cs", "Co", "Cf")), min_size=1))
def test_words_cover_the_stretch_without_gap_or_overlap(stretch):
    ends = word_ends(stretch)
    assert list(ends) == sorted(set(ends))
    assert ends[0] > 0
    assert ends[-1] == len(stretch)


@given(st.text("ab1.-'@:/$()n t,_*=".replace(" ", ""), min_size=1, max_size=60))
def test_any_mix_of_the_marks_of_the_rules_is_covered(stretch):
    ends = word_ends(stretch)
    assert list(ends) == sorted(set(ends))
    assert ends[-1] == len(stretch)


@pytest.mark.parametrize(
    "piece",
    [
        "a",
        "a.",
        "1,",
        "(",
        "n't",
        "a-",
        "www.",
        "a@",
        "=-",
        "👩\u200d",
        "a*",
        "a'",
        "ab.",
        "漢",
        "カ",
    ]
    + [
        ":D",
        "#a",
        "_",
        "a_",
        "e-",
        "1:1-",
        ":(",
        "$1.",
        "0x",
        "http://",
        "www..<",
        ").",
        "a&",
        "x/",
    ],
)
def test_long_stretches_take_linear_time(piece):
    # 100,000 characters: were any rule quadratic, one of these would run for many minutes.
    stretch = piece * (100_000 // len(piece)) + "~"
    assert word_ends(stretch)[-1] == len(stretch)


@given(st.text(st.characters(codec="ascii"), max_size=20))
def test_the_rules_for_ascii_text_are_those_for_all_text(text):
    found, expected = (
        [match.span() for match in _pattern(is_ascii=is_ascii).finditer(text)]
        for is_ascii in (True, False)
    )
    assert found == expected
