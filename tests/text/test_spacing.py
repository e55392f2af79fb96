import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsrl.sentence import Sentence
from capsrl.text import Layout
from capsrl.text.sentences import read_text
from capsrl.text.spacing import spaces_before, spaces_of, text_of


def write(words):
    """The words as one text."""
    spaces = spaces_before(words)
    return "".join(" " * space + word for word, space in zip(words, spaces, strict=True))


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("Die Katze ( sie heißt Mia ) schläft .", "Die Katze (sie heißt Mia) schläft."),
        ("Er sagte : „ Nein , nie ! ”", "Er sagte: „Nein, nie!”"),
        ("¿ Qué pasa ? 5 % , dice …", "¿Qué pasa? 5%, dice…"),
        ("She do n't know Mary 's ’phone", "She don't know Mary's’phone"),
        ("l' eau d’ Annecy dell' arte", "l'eau d’Annecy dell'arte"),
        # Straight quotes and dashes could stand either way.
        ("a ' b ' - \" c", "a ' b ' - \" c"),
        ("猫 在 家 。 他 用 Python 3.12 版", "猫在家。他用Python 3.12版"),
        ("犬 が 「 ワン 」 と 吠え た ．", "犬が「ワン」と吠えた．"),
        ("แมว กิน ปลา", "แมวกินปลา"),
        ("고양이가 물을 마신다 .", "고양이가 물을 마신다."),
    ],
)
def test_spaces_as_they_are_written(words, text):
    assert write(words.split(" ")) == text


def test_no_words_and_empty_ones():
    assert spaces_before([]) == []
    assert spaces_before(["", "a", ""]) == [False, True, True]


@given(st.lists(st.text(max_size=3), max_size=6))
def test_one_answer_for_each_word_and_none_before_the_first(words):
    spaces = spaces_before(words)
    assert len(spaces) == len(words)
    assert not any(spaces[:1])


def test_the_text_of_a_sentence_for_reading():
    words = ("Ben", "&", "Jo", "'s", "<3", "cat", ".")
    [sentence] = read_text("Hi. Ben <b>&amp;</b> Jo&#39;s &lt;3 cat.", Layout(html=True))[1:]
    assert sentence.words[:4] == words[:4]
    assert text_of(sentence) == "Ben & Jo's <3 cat."
    assert text_of(Sentence(words)) == "Ben & Jo 's <3 cat ."
    [plain] = read_text("Ben & Jo's  <3 cat.")
    assert text_of(plain) == "Ben & Jo's  <3 cat."


def test_spaces_are_those_of_the_text_if_there_is_one():
    offsets = ((0, 3), (4, 5), (6, 8), (8, 9))
    given = Sentence(("Hm,", ".", "so", "!"), text="Hm, .\tso!", offsets=offsets)
    assert spaces_of(given) == [False, True, True, False]
    assert spaces_of(Sentence(("so", "!"))) == [False, False]
