import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capsrl.errors import DataError
from capsrl.formats.conllu import format_conllup
from capsrl.formats.universal_propbank import read_up1, read_up2
from capsrl.sentence import Argument, Proposition


def tabs(text):
    return "\n".join(
        line if line.startswith("#") else "\t".join(line.split()) for line in text.split("\n")
    )


# As in the English files: ten columns, roleset, one column per predicate with V on it.
DOCUMENTED = tabs("""\
# sent_id = en-1
# text = Dogs that bark seldom bite.
1 Dogs dog NOUN NNS Number=Plur 5 nsubj 5:nsubj _ _ ARG0 ARG0
2 that that PRON WDT _ 3 nsubj 3:nsubj _ _ R-ARG0 _
3 bark bark VERB VBP _ 1 acl:relcl 1:acl _ bark.01 V _
4 seldom seldom ADV RB _ 5 advmod 5:advmod _ _ _ ARGM-TMP
4.1 they they PRON PRP _ _ _ 5:nsubj CopyOf=1
5 bite bite VERB VBP _ 0 root 0:root SpaceAfter=No bite.01 C-V V|A1
6 . . PUNCT . _ 5 punct 5:punct _ _ _ _

""")
# As in the projected files: eight columns, Y and roleset in the place of DEPS and MISC.
PROJECTED = tabs("""\
# sent_id dev-s1/de
1 Sie sie PRON PPER _ 2 nsubj _ _ A0 A0
2 kam kommen VERB VVFIN _ 0 root Y come.01 _ _
3-4 zum _ _ _ _ _ _ _ _ _ _ _ _
3 zu zu ADP APPR _ 5 case _ _ _ _
4 dem der DET ART _ 5 det _ _ _ _
5 Essen essen NOUN NN _ 2 nmod Y eat.01 AM-PRP _

# sent_id dev-s2/de
1 Nein nein INTJ ITJ _ 0 root _ _

""")


def read(text):
    return list(read_up1(text.split("\n"), source="x"))


def test_documented_layout():
    (sentence,) = read(DOCUMENTED)
    assert sentence.id == "en-1"
    assert [(p.predicate, p.sense) for p in sentence.propositions] == [
        (2, "bark.01"),
        (4, "bite.01"),
    ]
    bark, bite = (
        [(argument.role, argument.word) for argument in proposition.arguments]
        for proposition in sentence.propositions
    )
    assert bark == [("A0", 0), ("R-A0", 1), ("C-V", 4)]
    assert bite == [("A0", 0), ("AM-TMP", 3), ("A1", 4)]
    assert sentence.propositions[1].arguments[1].start == 15
    assert sentence.columns["DEPS"][0] == "5:nsubj"
    assert sentence.columns["NODES_BEFORE"][4] == "\t".join(
        "4.1 they they PRON PRP _ _ _ 5:nsubj CopyOf=1".split()
    )


def test_projected_layout():
    first, second = read(PROJECTED)
    assert first.id == "dev-s1/de"
    assert first.propositions == (
        Proposition(1, "come.01", (Argument("A0", 0), Argument("AM-PRP", 4))),
        Proposition(4, "eat.01", (Argument("A0", 0),)),
    )
    assert "MISC" not in first.columns
    assert first.columns["NODES_BEFORE"][2] == "3-4\tzum" + "\t_" * 8
    assert second.propositions == ()
    assert "\n3-4\tzum" in format_conllup(first)


def test_empty_cells_of_english_sentences_without_predicates():
    row = "1\tOuch\touch\tINTJ\tUH\t_\t0\troot\t0:root\tSpaceAfter=No"
    for extra in ("", "\t_", "\t_\t", "\t\t"):
        (sentence,) = read(row + extra)
        assert sentence.propositions == ()
        assert sentence.columns["MISC"] == ("SpaceAfter=No",)


def test_a_marked_predicate_without_roleset():
    (sentence,) = read("\t".join("1 Go go VERB VB _ 0 root Y _ _".split()))
    assert sentence.propositions == (Proposition(0, None),)


def test_direct_speech_has_no_role_of_its_own():
    """A1 and A1-DSP of one word are one argument, in 1.0 and in 2.0."""
    (first,) = read(
        "\t".join("1 Go go VERB VB _ 0 root _ _ go.01 ARG1|ARG1-DSP|C-ARG1-DSP".split())
    )
    second = merge(COLUMNS + C.replace("A2:2\t", "A1-DSP:1|A1:1|C-A1-DSP:1\t"))[2]
    for sentence in (first, second):
        assert sentence.propositions[0].arguments == (Argument("A1", 0), Argument("C-A1", 0))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            DOCUMENTED.replace("ARGM-TMP", "ARGM-TMP\t_"),
            r"x:6: expected 13 columns \(10 plain, roleset, 2 for the predicates .*\), got 14",
        ),
        (
            PROJECTED.replace("AM-PRP\t_", "AM-PRP"),
            r"x:7: expected 12 columns \(8 plain, Y, roleset, 2 for the predicates .*\), got 11",
        ),
        ("1\tGo\t_\t_", r"x:1: expected 10 columns, got 4"),
        ("1\tGo" + "\t_" * 9 + "\tA0", r"x:1: expected 10 columns, got 12"),
        (PROJECTED.replace("\n5\t", "\n6\t"), r"x:7: expected ID 5 .*, got '6'"),
    ],
)
def test_bad_rows_of_1_0(text, message):
    with pytest.raises(DataError, match=message):
        read(text)


# Nodes: 0.1 1 2 2.1 3 4: a number n in the 2.0 file is the n-th of these.
TREEBANK = tabs("""\
# sent_id = a
# text = Quiere comer ya pan
0.1 _ _ PRON _ _ _ _ _ _
1 Quiere querer VERB _ _ 0 root _ _
2 comer comer VERB _ _ 1 xcomp _ _
2.1 _ _ PRON _ _ _ _ _ _
3 ya ya ADV _ _ 2 advmod _ _
4 pan pan NOUN _ _ 2 obj _ _

# sent_id = b
1 No no INTJ _ _ 0 root _ _

# sent_id = c
1-2 dámelo _ _ _ _ _ _ _ _
1 da dar VERB _ _ 0 root _ _
2 me yo PRON _ _ 1 iobj _ _

""")
COLUMNS = "# global.columns = ID UP:PRED UP:ARGHEADS UP:ARGSPANS\n"
A = tabs("""\
# source_sent_id = conllu somewhere a
# sent_id = a
# text = Quiere..........
0.1 _ _ _
1 _ _ _
2 want.01 A0:1|A1:3 A0:1-1|A1:3-6
2.1 _ _ _
3 eat.01 A1:6|ARGM-TMP:5|A0:4 A1:6-6
4 know.01 A0:3 A0:3-3

""")
C = tabs("""\
# sent_id = c
1-2 _ _ _
1 give.01 A2:2 A2:2-2
2 _ _ _

""")


def merge(up, conllu=TREEBANK):
    return list(read_up2(up.split("\n"), conllu.split("\n"), source="up", conllu_source="treebank"))


def test_numbers_count_empty_nodes():
    a, b, c = merge(COLUMNS + A + C)
    assert [p.sense for p in a.propositions] == ["want.01", "eat.01"]  # know.01 is on node 2.1
    want, eat = a.propositions
    assert a.words[want.predicate] == "Quiere"
    assert want.arguments == (Argument("A1", 1, start=7, end=12),)  # A0 is on node 0.1
    assert a.words[eat.predicate] == "comer"
    assert [(argument.role, a.words[argument.word]) for argument in eat.arguments] == [
        ("AM-TMP", "ya"),
        ("A1", "pan"),
    ]
    assert b.propositions == ()  # not in the stand-off file
    assert c.propositions == (Proposition(0, "give.01", (Argument("A2", 1),)),)
    assert a.comments == ("# sent_id = a", "# text = Quiere comer ya pan")


def test_any_order():
    assert merge(COLUMNS + C + A) == merge(COLUMNS + A + C)


def test_stand_off_is_read_no_further_than_needed():
    def lines():
        yield from (COLUMNS + A).split("\n")
        pytest.fail("read past the first sentence")

    found = read_up2(lines(), TREEBANK.split("\n"))
    assert next(found).id == "a"


@pytest.mark.parametrize(
    ("up", "conllu", "message"),
    [
        (
            COLUMNS + A + C.replace("= c", "= d"),
            TREEBANK,
            r"up:13: treebank has no sentence with sent_id 'd'; merge",
        ),
        (COLUMNS + C + C + A, TREEBANK, r"up:8: expected every sent_id once, got 'c' again"),
        (
            COLUMNS + C + A,
            TREEBANK[: TREEBANK.index("# sent_id = c")],
            r"up:3: treebank .*sent_id 'c'",
        ),
        (
            COLUMNS + C.replace("= c", "= b"),
            TREEBANK,
            r"up:3: expected 'b' to be as long as in treebank, 1, got 2 words; take the release",
        ),
        (
            COLUMNS + C,
            TREEBANK.replace("# sent_id = b\n", ""),
            r"treebank: the sentence 'No' has no line '# sent_id = ...' .*; .*up is merged",
        ),
        (
            COLUMNS + C[len("# sent_id = c\n") :],
            TREEBANK,
            r"up:2: the sentence has no line '# sent_id = ...'",
        ),
        (C, TREEBANK, r"up: expected the columns ID UP:PRED UP:ARGHEADS .*, got ID FORM LEMMA"),
        (COLUMNS + C.replace("A2:2\t", "A2:3\t"), TREEBANK, r"up:4: expected arguments .*'A2:3'"),
        (COLUMNS + C.replace("\tA2:2-2", ""), TREEBANK, r"up:4: expected 4 columns, got 3"),
        (COLUMNS + C.replace("\n2\t", "\n3\t"), TREEBANK, r"up:5: expected ID 2 .*, got '3'"),
    ],
)
def test_bad_merges(up, conllu, message):
    with pytest.raises(DataError, match=message):
        merge(up, conllu)


FILES = {"up1": DOCUMENTED + PROJECTED, "up2": COLUMNS + A + C}


@pytest.mark.parametrize("format", sorted(FILES))
@settings(deadline=None, max_examples=150)
@given(
    st.integers(0, 600),
    st.integers(0, 3),
    st.text(max_size=2) | st.sampled_from("\t\n#-.|:Y_0123456789"),
)
def test_damage_is_refused_or_read(format, place, n_deleted, inserted):
    text = FILES[format]
    place %= len(text)
    damaged = text[:place] + inserted + text[place + n_deleted :]
    try:
        found = read(damaged) if format == "up1" else merge(damaged)
    except DataError as error:
        assert str(error).startswith(("x:", "up"))
    else:
        for sentence in found:
            words = range(len(sentence))
            assert all(p.predicate in words for p in sentence.propositions)
            assert all(a.word in words for p in sentence.propositions for a in p.arguments)
