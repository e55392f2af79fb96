"""Make capsrl/text/english_forms.txt, the table of the lemmatizer.

    python -m corpora forms lemma_lu.csv.gz capsrl/models/en/frames.tsv

`lemma_lu.csv.gz` is in the resources of LemmInflect 0.2.3 (MIT); it was made from the SPECIALIST
Lexicon of the U.S. National Library of Medicine. Its lines are a form, a part of speech, and the
possible lemmas of the form. The verbs of PropBank's frames are added to those that it has.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Set
from pathlib import Path

from capsrl.frames.index import FrameIndex
from capsrl.text.lemmatizer import find_by_rule

TABLE = Path(__file__).parents[1] / "capsrl" / "text" / "english_forms.txt"
HEADER = (
    "# English lemmas (v verb, n noun, j adjective) and the forms that rules get wrong.",
    "# Made by corpora.english_forms from the SPECIALIST Lexicon of the U.S. National",
    "# Library of Medicine, as in LemmInflect 0.2.3 (MIT), and the verbs of PropBank's frames.",
)
AUXILIARIES = ("be", "have", "do")

Forms = Mapping[str, tuple[str, ...]]  # form -> its possible lemmas, the most frequent first


def read_forms(lines: Iterable[str]) -> dict[str, Forms]:
    """Read the forms of each part of speech, without names and words that are not letters."""
    forms: dict[str, dict[str, tuple[str, ...]]] = defaultdict(dict)
    for line in lines:
        form, pos, found = line.split(",")
        lemmas = tuple(filter(_is_word, found.split("/")))
        if _is_word(form) and lemmas:
            forms[pos][form] = lemmas
    auxiliaries = {form: found for form, found in forms["aux"].items() if found[0] in AUXILIARIES}
    return {**forms, "verb": forms["verb"] | auxiliaries}


def find_verbs(forms: Forms, frames: FrameIndex) -> frozenset[str]:
    """All verbs, without forms of other verbs that the frames have as aliases."""
    aliases = (words for each in frames for pos, words in each.aliases if pos == "v")
    listed = {words.partition("_")[0] for words in aliases}
    listed = {verb for verb in listed if _is_word(verb) and len(verb) > 1}
    verbs = listed | {lemma for lemmas in forms.values() for lemma in lemmas}
    by_rule = {verb: find_by_rule(verb, "verb", verbs) for verb in verbs}
    return frozenset(
        verb
        for verb, lemma in by_rule.items()
        if lemma == verb or lemma not in verbs or verb in forms.get(verb, ())[:1]
    )


def make_lines(forms: Forms, pos: str, lemmas: Set[str]) -> Iterator[str]:
    """Yield a line for each lemma, with the forms for which the rules find another lemma."""
    irregular: dict[str, list[str]] = {lemma: [] for lemma in lemmas}
    for form, (lemma, *others) in sorted(forms.items()):
        is_base = form in (lemma, *others) and (pos != "verb" or form == lemma)
        found = find_by_rule(form, pos, lemmas)
        if not is_base and (found != lemma if pos == "verb" else found not in (lemma, *others)):
            irregular.setdefault(lemma, []).append(form)
    letter = "j" if pos == "adjective" else pos[0]
    for lemma, wrong in sorted(irregular.items()):
        yield " ".join([letter, lemma, *wrong])


def make_table(lines: Iterable[str], frames: FrameIndex) -> Iterator[str]:
    """Yield the lines of the table."""
    forms = read_forms(lines)
    compared = {lemmas[0] for form, lemmas in forms["adj"].items() if form not in lemmas}
    yield from HEADER
    yield from make_lines(forms["verb"], "verb", find_verbs(forms["verb"], frames))
    yield from make_lines(forms["noun"], "noun", frozenset())
    yield from make_lines(forms["adj"], "adjective", compared)


def _is_word(text: str) -> bool:
    return text.isascii() and text.isalpha() and text.islower()
