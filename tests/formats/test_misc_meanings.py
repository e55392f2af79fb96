from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from capsrl.formats.misc_meanings import misc_with_meanings, take_meanings
from capsrl.sentence import Argument, Proposition, Sentence

TEXT = st.text(alphabet="aA=|[]\\\tpnb\n\r_é ", min_size=1, max_size=8)
WORDS = ("We", "pay", "a", "fee")


@st.composite
def propositions(draw):
    """One proposition, whose meanings are the same for the same role."""
    meanings = draw(st.dictionaries(TEXT, st.none() | TEXT, max_size=3))
    sure = st.none() | st.floats(0, 1)
    arguments = [
        Argument(role, word, draw(sure), meaning=text)
        for role, text in meanings.items()
        for word in draw(st.lists(st.integers(0, 3), min_size=1, max_size=2, unique=True))
    ]
    return Proposition(
        draw(st.integers(0, 3)),
        "pay.01",
        tuple(arguments),
        definition=draw(st.none() | TEXT),
        frames=tuple(draw(st.lists(TEXT, unique=True, max_size=2))),
        guessed=draw(st.booleans()),
        probability=draw(sure),
        predicate_probability=draw(sure),
        joint_probability=draw(sure),
    )


def without_meanings(sentence):
    """The sentence as it is read, before its MISC column is."""
    return sentence.with_propositions(
        Proposition(p.predicate, p.sense, tuple(Argument(a.role, a.word) for a in p.arguments))
        for p in sentence.propositions
    )


@given(propositions(), st.sampled_from([None, "Own=1|SpaceAfter=No", "_"]))
def test_what_is_written_is_read(proposition, own):
    sentence = Sentence(WORDS, (proposition,))
    if own is not None:
        sentence = replace(sentence, columns={"MISC": (own, "Own=2", own, "Own=3")})
    column = misc_with_meanings(sentence)
    assert not any(set(cell) & set("\t\n\r") for cell in column)
    columns = {"MISC": column} if set(column) != {"_"} else {}  # readers leave out empty columns
    read = without_meanings(replace(sentence, columns=columns))
    assert take_meanings(read) == sentence


def test_a_worked_example():
    argument = Argument("A1", 3, meaning="sum | fee")
    sentence = Sentence(WORDS, (Proposition(1, "pay.01", (argument,), definition="give\tmoney"),))
    entries = r"Definition=give\tmoney|Meaning[A1]=sum \p fee"
    assert misc_with_meanings(sentence) == ("_", entries, "_", "_")


def test_probabilities_tell_two_arguments_of_a_role_apart():
    arguments = (Argument("AM-TMP", 0, 0.25), Argument("AM-TMP", 3, 1e-05), Argument("A0", 2))
    sentence = Sentence(WORDS, (Proposition(1, "pay.01", arguments, 0.5, joint_probability=1.0),))
    column = misc_with_meanings(sentence)
    assert column[1].split("|") == [
        "SenseProbability=0.5",
        "JointProbability=1.0",
        "ArgumentProbability[AM-TMP:1]=0.25",
        "ArgumentProbability[AM-TMP:4]=1e-05",
    ]
    read = replace(without_meanings(sentence), columns={"MISC": column})
    assert take_meanings(read) == sentence


def test_entries_like_ours_stay():
    for entry in ("SenseProbability=high|JointProbability=7", "SenseProbability=0.x=0.76"):
        columns = {"MISC": ("_", entry, "_", "_")}
        sentence = Sentence(WORDS, (Proposition(1, "pay.01"),), columns=columns)
        assert take_meanings(sentence) == sentence


def test_entries_at_other_words_stay():
    columns = {"MISC": ("Definition=x", "_", "_", "_")}
    sentence = Sentence(WORDS, (Proposition(1, "pay.01"),), columns=columns)
    assert take_meanings(sentence) is sentence
