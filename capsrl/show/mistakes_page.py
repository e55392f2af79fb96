"""Write the mistakes of a prediction: a page of gold beside predicted, with filters, or JSON lines.

The page is one self-contained HTML file. Without its script it shows every proposition that is
wrong; with it they are filtered by kind of mistake, role and text.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from os.path import basename
from pathlib import Path

from capsrl.errors import ConfigError
from capsrl.files.opening import open_writer, suffix_of
from capsrl.score.matching import Arc, Compared
from capsrl.score.mistakes import MISTAKE_KINDS, Comparison, find_argument
from capsrl.sentence import Argument, Sentence
from capsrl.show.colors import role_color
from capsrl.show.formatting import escaped, show_probability, visible

_PAGE, _LINES = (".html", ".htm"), (".jsonl",)
_HOW_TO_READ = (
    "They are below; rows that are not highlighted are right. "
    "Wrong head: the role is right, its word is not."
)


def check_mistakes_file(path: str, option: str) -> None:
    """Raise ConfigError for a file of another suffix, before anything is scored."""
    if suffix_of(path) not in (*_PAGE, *_LINES):
        raise ConfigError(f"{option}: expected a file .html or .jsonl, got {path}")


def write_mistakes(path: str, comparisons: Iterable[Comparison], *, gold: str, pred: str) -> int:
    """Write mistakes to a page or to JSON lines, by the suffix, and return how many there are.

    gold, pred  the files that were compared
    """
    compared = list(comparisons)
    records = [record for each in compared for record in each.records()]
    with open_writer(path) as file:
        if suffix_of(path) in _PAGE:
            title = f"Mistakes of {basename(pred) or pred} on {basename(gold) or gold}"
            file.writelines(mistakes_page(compared, title=title))
        else:
            for record in records:
                text = json.dumps(record, ensure_ascii=False)
                # A word may contain a lone surrogate; its Python escape is also that of JSON.
                file.write(text.encode("utf-8", "backslashreplace").decode("utf-8") + "\n")
    return len(records)


def mistakes_page(comparisons: Sequence[Comparison], *, title: str) -> Iterator[str]:
    """Yield the page in parts; propositions without a mistake are counted, but not shown."""
    wrong = [each for each in comparisons if any(True for _ in each.mistakes())]
    kinds = Counter(kind for each in wrong for kind, _ in each.mistakes())
    pairs = (pair for each in wrong for _, pair in each.mistakes() if pair is not None)
    roles = Counter(role for pair in pairs for role in pair.roles)
    yield _head(title)
    counted = f"{len(wrong):,} of {len(comparisons):,} propositions have a mistake."
    summary = f"{counted} {_HOW_TO_READ}" if wrong else counted
    yield f"<h1>{escaped(title)}</h1>\n<p>{summary}</p>\n"
    if wrong:
        yield _filters(kinds, roles)
        yield '<main id="list">\n'
        for comparison in wrong:
            yield _article(comparison)
        yield f"</main>\n<script>{_asset('js')}</script>\n"
    yield "</body>\n</html>\n"


def _head(title: str) -> str:
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escaped(title)}</title>\n<style>{_asset('css')}</style></head>\n<body>\n"
    )


def _asset(suffix: str) -> str:
    return Path(__file__).with_suffix(f".{suffix}").read_text("utf-8")


def _filters(kinds: Counter[str], roles: Counter[str]) -> str:
    kind_options = [(kind, kinds[kind]) for kind in MISTAKE_KINDS if kinds[kind]]
    return (
        '<form id="filters" hidden>'
        + _select("kind", "Mistake", f"all kinds ({kinds.total():,})", kind_options)
        + _select("role", "Role", "all roles", roles.most_common())
        + '<label>Text <input type="search" name="text" placeholder="word or sense"></label>'
        '<output aria-live="polite"></output></form>\n'
    )


def _select(name: str, label: str, every: str, options: Sequence[tuple[str, int]]) -> str:
    choices = "".join(
        f'<option value="{escaped(value)}">{escaped(value)} ({count:,})</option>'
        for value, count in options
    )
    return (
        f'<label>{label} <select name="{name}"><option value="">{every}</option>{choices}</select>'
        "</label>"
    )


def _article(comparison: Comparison) -> str:
    mistakes = [
        [kind, *map(visible, pair.roles if pair else ())] for kind, pair in comparison.mistakes()
    ]
    sentence = comparison.gold
    name = sentence.id or f"sentence {comparison.number + 1}"
    predicate = comparison.match.predicate
    rows = [_predicate_row(comparison)]
    for pair in comparison.pairs:
        gold = _argument_cell(comparison.gold, predicate, pair.gold)
        pred = _argument_cell(comparison.pred, predicate, pair.pred)
        rows.append(_row(gold, pred, pair.kind))
    return (
        f'<article data-mistakes="{escaped(json.dumps(mistakes, ensure_ascii=False))}">'
        f'<p dir="auto"><small>{escaped(name)}</small> {_sentence_html(comparison)}</p>'
        "<table><thead><tr><th>gold</th><th>predicted</th><th>mistake</th></tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></article>\n"
    )


def _sentence_html(comparison: Comparison) -> str:
    """The sentence, with the predicate and the words of mistakes marked."""
    wrong = {
        word
        for _, pair in comparison.mistakes()
        for arc in ((pair.gold, pair.pred) if pair else ())
        if arc is not None
        for word in arc[1]
    }
    words = [escaped(word) for word in comparison.gold.words]
    for position in wrong:
        words[position] = f"<mark>{words[position]}</mark>"
    predicate = comparison.match.predicate
    words[predicate] = f"<b>{words[predicate]}</b>"
    return " ".join(words)


def _predicate_row(comparison: Comparison) -> str:
    match = comparison.match
    form = f"<b>{escaped(comparison.gold.words[match.predicate])}</b>"
    propositions = comparison.pred.propositions
    found = (each.probability for each in propositions if each.predicate == match.predicate)
    return _row(
        _sense_cell(match.gold, form, None),
        _sense_cell(match.pred, form, next(found, None)),
        comparison.predicate_mistake,
    )


def _sense_cell(reading: Compared | None, form: str, probability: float | None) -> str:
    if reading is None:
        return ""
    return f"<i>{escaped(reading.sense)}</i> {form}{_probability_html(probability)}"


def _argument_cell(sentence: Sentence, predicate: int, arc: Arc | None) -> str:
    if arc is None:
        return ""
    role, words = arc
    of_predicate = (p for p in sentence.propositions if p.predicate == predicate)
    argument = find_argument(next(of_predicate, None), arc)
    style = f"--light:{role_color(role)};--dark:{role_color(role, dark=True)}"
    return (
        f'<span class="role" style="{style}">{escaped(role)}</span> '
        f'<span dir="auto">{_phrase(sentence, words, argument)}</span>'
        f"{_probability_html(None if argument is None else argument.probability)}"
    )


def _phrase(sentence: Sentence, words: tuple[int, ...], argument: Argument | None) -> str:
    """The words of an argument in bold, within its phrase if that is known."""
    if argument is None or argument.phrase is None or len(words) > 1:
        return " … ".join(f"<b>{escaped(sentence.words[word])}</b>" for word in words)
    phrase = range(argument.phrase.first, argument.phrase.last + 1)
    shown = [word for word in phrase if abs(word - argument.word) <= 4]
    parts = [escaped(sentence.words[word]) for word in shown]
    if argument.word in shown:
        parts[shown.index(argument.word)] = f"<b>{escaped(sentence.words[argument.word])}</b>"
    before, after = shown[:1] != [phrase[0]], shown[-1:] != [phrase[-1]]
    return f"{'… ' * before}{' '.join(parts)}{' …' * after}"


def _probability_html(probability: float | None) -> str:
    return "" if probability is None else f" <small>{show_probability(probability)}</small>"


def _row(gold: str, pred: str, kind: str | None) -> str:
    mark = "" if kind is None else ' class="wrong"'
    return f"<tr{mark}><td>{gold}</td><td>{pred}</td><td>{kind or ''}</td></tr>"
