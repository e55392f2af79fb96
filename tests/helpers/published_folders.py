"""Small hand-written corpora in the layout of the published ones."""

from pathlib import Path

_SKELETON = "google/ewt/{genre}/00/{name}.xml {sentence} {word} [WORD] {tag} * {lemma} {rest}"


def conllu(sent_id: str, words: str, *, document: str | None = None) -> str:
    """Make a CoNLL-U block of lines of FORM LEMMA UPOS XPOS HEAD DEPREL."""
    lines = [f"# newdoc id = {document}"] if document else []
    lines.append(f"# sent_id = {sent_id}")
    for number, line in enumerate(words.strip().splitlines(), start=1):
        form, lemma, upos, xpos, head, relation = line.split()
        lines.append(f"{number}\t{form}\t{lemma}\t{upos}\t{xpos}\t_\t{head}\t{relation}\t_\t_")
    return "\n".join(lines) + "\n\n"


def skeleton(genre: str, name: str, sentence: int, words: str) -> str:
    """Make a gold_skel block of lines of TAG LEMMA SENSE and spans."""
    lines = []
    for word, line in enumerate(words.strip().splitlines()):
        tag, lemma, *rest = line.split()
        lines.append(
            _SKELETON.format(
                genre=genre,
                name=name,
                sentence=sentence,
                word=word,
                tag=tag,
                lemma=lemma,
                rest="  ".join(rest),
            )
        )
    return "\n".join(lines) + "\n\n"


# An auxiliary, a relative clause, a tag that was corrected since (bark: VBP).
DOGS = """
Dogs   dog   NOUN  NNS 6 nsubj
that   that  PRON  WDT 3 nsubj
bark   bark  VERB  VBP 1 acl:relcl
have   have  AUX   VBP 6 aux
never  never ADV   RB  6 advmod
bitten bite  VERB  VBN 0 root
me     I     PRON  PRP 6 obj
.      .     PUNCT .   6 punct
"""
DOGS_SKELETON = """
NNS - -          (ARG0*)   *   (ARG0*
WDT - -          (R-ARG0*) *   *
VB  bark bark.01 (V*)      *   *)
VBP have have.01 *        (V*) *
RB  - -          *         *   (ARGM-TMP*)
VBN bite bite.01 *         *   (V*)
PRP - -          *         *   (ARG1*)
.   - -          *         *   *
"""
# Im was one word when PropBank was annotated; not at the start, so that it has a word before it.
MOVING = """
Now      now      ADV   RB  4 advmod
I        I        PRON  PRP 4 nsubj
m        be       AUX   VBP 4 aux
moving   move     VERB  VBG 0 root
tomorrow tomorrow NOUN  NN  4 obl:tmod
.        .        PUNCT .   4 punct
"""
MOVING_SKELETON = """
RB  - -          (ARGM-DIS*)
NNP - -          (ARG0*)
VBG move move.01 (V*)
NN  - -          (ARGM-TMP*)
.   - -          *
"""
# 4-ever was three words; GW marks the first as going with the next.
GRATEFUL = """
We       we       PRON  PRP 4 nsubj
will     will     AUX   MD  4 aux
4-ever   forever  ADV   RB  4 advmod
thank    thank    VERB  VB  0 root
him      he       PRON  PRP 4 obj
"""
GRATEFUL_SKELETON = """
PRP - -            (ARG0*)
MD  - -            (ARGM-MOD*)
GW  - -            (ARGM-TMP*
HYPH - -           *
RB  - -            *)
VB  thank thank.01 (V*)
PRP - -            (ARG1*)
"""
# One sentence for PropBank; in UD the words after the exclamation mark are another.
RUN = """
Look look VERB  VB 0 root
out  out  ADP   RP 1 compound:prt
!    !    PUNCT .  1 punct
"""
THEY = """
They they PRON  PRP 2 nsubj
shoot shoot VERB VBP 0 root
.    .    PUNCT .   2 punct
"""
RUN_SKELETON = """
VB  look look_out.03  (V*)   *
RP  - -            (C-V*)    *
.   - -            *         *
PRP - -            (ARG1*    (ARG0*)
VBP shoot shoot.01 *)        (V*)
.   - -            *         *
"""
BYE = """
Bye  bye  INTJ  UH 0 root
"""
BYE_SKELETON = """
UH  - -
"""


def make_ewt(folder: Path) -> tuple[Path, Path]:
    """Make folders like UD_English-EWT and propbank-release: three documents, one of UD only."""
    ud, propbank = folder / "UD_English-EWT", folder / "propbank-release"
    ud.mkdir()
    first = conllu("reviews-001-0001", DOGS, document="reviews-001")
    first += conllu("reviews-001-0002", MOVING) + conllu("reviews-001-0003", GRATEFUL)
    second = conllu("weblog-a.com_b-0001", BYE, document="weblog-a.com_b")
    second += conllu("weblog-a.com_b-0002", RUN) + conllu("weblog-a.com_b-0003", THEY)
    second += conllu("weblog-a.com_b-0004", BYE)
    unknown = conllu("reviews-009-0001", BYE, document="reviews-009")
    (ud / "en_ewt-ud-train.conllu").write_text(first + unknown)
    for split in ("dev", "test"):
        (ud / f"en_ewt-ud-{split}.conllu").write_text(second)
    write_skeletons(propbank, "reviews", "001", [DOGS_SKELETON, MOVING_SKELETON, GRATEFUL_SKELETON])
    write_skeletons(propbank, "weblog", "a.com_b", [BYE_SKELETON, RUN_SKELETON, BYE_SKELETON])
    return ud, propbank


def write_skeletons(propbank: Path, genre: str, name: str, sentences: list[str]) -> Path:
    """Write a document of propbank-release."""
    path = propbank / "data/google/ewt" / genre / "00" / f"{name}.xml.gold_skel"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        "".join(skeleton(genre, name, number, words) for number, words in enumerate(sentences))
    )
    return path


def make_up(folder: Path) -> tuple[Path, Path]:
    """Make folders like UD_Finnish-TDT and UP_Finnish-TDT: two splits, one with an empty node."""
    ud, up = folder / "UD_Xx-Yy", folder / "UP_Xx-Yy"
    ud.mkdir()
    up.mkdir()
    header = "# global.columns = ID UP:PRED UP:ARGHEADS UP:ARGSPANS\n"
    dogs = conllu("a", DOGS)
    (ud / "xx_yy-ud-train.conllu").write_text(dogs + conllu("b", BYE))
    (up / "xx_yy-up-train.conllup").write_text(
        header + "# sent_id = a\n1\t_\t_\t_\n2\t_\t_\t_\n3\tbark.01\tA0:1|R-A0:2\t_\n"
        "4\thave.01\t_\t_\n5\t_\t_\t_\n6\tbite.01\tA0:1|AM-TMP:5|A1:7\t_\n7\t_\t_\t_\n8\t_\t_\t_\n\n"
    )
    empty = "0.1\t_\t_\t_\t_\t_\t_\t_\t2:nsubj\t_\n"
    (ud / "xx_yy-ud-test.conllu").write_text(
        conllu("c", THEY).replace("1\tThey", f"{empty}1\tThey")
    )
    (up / "xx_yy-up-test.conllup").write_text(
        header + "# sent_id = c\n0.1\t_\t_\t_\n1\t_\t_\t_\n2\t_\t_\t_\n3\tshoot.01\tA0:2\t_\n"
    )
    return ud, up
