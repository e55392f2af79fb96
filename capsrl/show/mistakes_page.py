"""Show the mistakes of a prediction: a page of gold beside predicted, with filters.

The page is one self-contained HTML file. Without its script it shows every proposition that is
wrong; with it they are filtered by kind of mistake, role and text.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from capsrl.score.matching import Arc, Compared
from capsrl.score.mistakes import Comparison, find_argument
from capsrl.sentence import Argument, Sentence
from capsrl.show.colors import role_color
from capsrl.show.formatting import escaped, phrase_words, show_probability, visible

_HOW_TO_READ = (
    "They are below; rows that are not highlighted are right. "
    "Wrong head: the role is right, its word is not."
)
_FILTERS = (  # the script adds the kinds and the roles
    '<form id="filters" hidden><label>Mistake <select name="kind"></select></label>'
    '<label>Role <select name="role"></select></label>'
    '<label>Text <input type="search" name="text" placeholder="word or sense"></label>'
    '<output aria-live="polite"></output></form>\n'
)


def mistakes_page(comparisons: Sequence[Comparison], *, title: str) -> Iterator[str]:
    """Yield the page in parts; propositions without a mistake are counted, but not shown."""
    wrong = [each for each in comparisons if any(True for _ in each.mistakes())]
    counted = f"{len(wrong):,} of {len(comparisons):,} propositions have a mistake."
    yield (
        '<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escaped(title)}</title>\n<style>{_asset('css')}</style></head>\n<body>\n"
        f"<h1>{escaped(title)}</h1>\n<p>{counted}{f' {_HOW_TO_READ}' if wrong else ''}</p>\n"
    )
    if wrong:
        yield f'{_FILTERS}<main id="list">\n'
        yield from map(_article, wrong)
        yield f"</main>\n<script>{_asset('js')}</script>\n"
    yield "</body>\n</html>\n"


def _asset(suffix: str) -> str:
    return Path(__file__).with_suffix(f".{suffix}").read_text("utf-8")


def _article(comparison: Comparison) -> str:
    mistakes = [
        [kind, *map(visible, pair.roles if pair else ())] for kind, pair in comparison.mistakes()
    ]
    gold, pred, match = comparison.gold, comparison.pred, comparison.match
    name = gold.id or f"sentence {comparison.number + 1}"
    form = f"<b>{escaped(gold.words[match.predicate])}</b>"
    sure = {each.predicate: each.probability for each in pred.propositions}.get(match.predicate)
    senses = _sense_cell(match.gold, form, None), _sense_cell(match.pred, form, sure)
    rows = _row(*senses, comparison.predicate_mistake)
    for pair in comparison.pairs:
        ours = _argument_cell(gold, match.predicate, pair.gold)
        theirs = _argument_cell(pred, match.predicate, pair.pred)
        rows += _row(ours, theirs, pair.kind)
    return (
        f'<article data-mistakes="{escaped(json.dumps(mistakes, ensure_ascii=False))}">'
        f'<p dir="auto"><small>{escaped(name)}</small> {_sentence_html(comparison)}</p>'
        "<table><thead><tr><th>gold</th><th>predicted</th><th>mistake</th></tr></thead>"
        f"<tbody>{rows}</tbody></table></article>\n"
    )


def _sentence_html(comparison: Comparison) -> str:
    """The sentence, with the predicate and the words of mistakes marked."""
    pairs = [pair for _, pair in comparison.mistakes() if pair is not None]
    arcs = [arc for pair in pairs for arc in (pair.gold, pair.pred) if arc is not None]
    words = [escaped(word) for word in comparison.gold.words]
    for position in {word for arc in arcs for word in arc[1]}:
        words[position] = f"<mark>{words[position]}</mark>"
    predicate = comparison.match.predicate
    words[predicate] = f"<b>{words[predicate]}</b>"
    return " ".join(words)


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
    phrase = phrase_words(argument)
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
