"""Look up words and senses in the frames, in any inflected form."""

from difflib import get_close_matches
from pathlib import Path

from capsrl.errors import DataError
from capsrl.frames.english import aliases_of, spellings_of
from capsrl.frames.index import FRAMES_FILE, NO_FRAMES, FrameIndex, Roleset, unnumbered
from capsrl.frames.user import choose_frames
from capsrl.text.lemmatizer import Lemmatizer

_TAGS = ("VBD", "VBG", "VBZ", "NNS", "JJ")  # a form is looked up as if it had each of them


def frames_of(model: Path, given: str | Path | None = None) -> FrameIndex:
    """The frames that explain what a model labels, without loading it; see `choose_frames`."""
    file = model / FRAMES_FILE
    return choose_frames(given, FrameIndex.load(file) if file.is_file() else NO_FRAMES)


def look_up(word: str, frames: FrameIndex) -> list[Roleset]:
    """The rolesets of a sense (sell.01), or of a word in any form: sold, gave up.

    Those named after the word come first, those with particles last; light verb constructions are
    found by their noun alone. Raises DataError for a word or sense that the frames do not have.
    """
    name = "_".join(word.split())
    if frames.has(name) or frames.has(name.lower()):
        return [frames[name if frames.has(name) else name.lower()]]
    forms = _lemmas(unnumbered(name).lower() if "." in name else name.lower())
    senses = dict.fromkeys(
        sense
        for lemma in forms
        for sense in sorted(aliases_of(lemma, frames), key=lambda each: _place(each, lemma))
    )
    if "." in name or not senses:
        known = [sense for sense in senses if unnumbered(sense) in forms]
        alike = known or get_close_matches(forms[0], frames.senses_by_lemma(), n=3)
        fix = f"did you mean {', '.join(alike)}?" if alike else "the frames are of English"
        raise DataError(f"{word}: not in the frames; {fix}")
    return [frames[sense] for sense in senses]


def _lemmas(form: str) -> list[str]:
    """What a form may be a form of: found, find."""
    first, mark, rest = form.partition("_")
    found = (*spellings_of(first), *(Lemmatizer().find(first, tag) for tag in _TAGS))
    return [lemma + mark + rest for lemma in dict.fromkeys(found)]


def _place(sense: str, lemma: str) -> tuple[bool, bool, str]:
    return "_" in sense and sense[: len(lemma)] == lemma, unnumbered(sense) != lemma, sense
