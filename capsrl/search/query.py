"""Queries: terms with blanks between them, all of which must hold for a proposition.

sell.01  sell|buy  give*    its sense, its lemma; * is any text
A0  AM-*  A0:company        it has the role; with this head word
A0:"the company"  "soup"    these words are in the argument; in the sentence
negated  p>=0.8             it is denied; its joint probability
-A2                         the term does not hold
"""

import re
from dataclasses import dataclass

from capsrl.errors import ConfigError
from capsrl.frames.roles import conll09_role

_TERM = re.compile(r'(-?)(?:([^\s":]+):)?(?:"([^"]+)"|((?!-)[^\s"]*[^\s":]))(?:\s+|$)')
_ROLE = re.compile(r"([CR]-)*A(RG)?([0-5A*]|M-[A-Z*]+)")
_PROBABILITY = re.compile(r"p(>=|<=|>|<)(\d*\.?\d+)")


@dataclass(frozen=True, slots=True)
class Query:
    """A query as SQL.

    where   what holds of each row of a proposition
    having  what holds of its rows together
    roles   the roles that are named
    """

    where: str
    having: str
    roles: tuple[str, ...]


def parse_query(text: str) -> Query:
    """Parse a query; raises ConfigError for a mistake in it."""
    where, having, roles, predicates = ["true"], ["true"], list[str](), list[str]()
    text, at = text.strip(), 0
    while at < len(text):
        found = _TERM.match(text, at)
        if found is None:
            raise ConfigError(
                f"query: expected a term, with its quotes in pairs, got {text[at:][:40]!r}"
            )
        at = found.end()
        negation, (name, quoted, word) = "NOT " * bool(found[1]), found.groups()[1:]
        named = (name or word or "").split("|")
        if name or all(map(_ROLE.fullmatch, named)):
            roles += (named := [*map(conll09_role, named)])
            value = _contains("phrase", quoted) if quoted else _head(word if name else "*")
            having.append(f"{negation}bool_or({match('role', '|'.join(named))} AND {value})")
        elif quoted:
            where.append(negation + _contains("text", quoted))
        elif word == "negated":
            having.append(f"{negation}bool_or(negated)")
        elif compared := _PROBABILITY.fullmatch(word):
            where.append(f"{negation}coalesce(probability {compared[1]} {compared[2]}, false)")
        elif re.fullmatch(r"[A-Z][A-Z0-9-]+", word):
            raise ConfigError(f"query: {word}: not a role of PropBank; write {word}:* for your own")
        else:
            where.append(negation + _predicate(word))
            predicates += [] if negation or word == "*" else [word]
    if not text:
        raise ConfigError("query: expected a term, got none; * is any predicate")
    if len(predicates) > 1:
        fix = f"for either write {'|'.join(predicates)}, for an argument A0:{predicates[0]}"
        raise ConfigError(f"query: expected one predicate, got {' and '.join(predicates)}; {fix}")
    return Query(" AND ".join(where), " AND ".join(having), tuple(roles))


def match(column: str, value: str) -> str:
    """SQL: whether a column is one of the values with | between them, in which * is any text."""
    exact = [quote(each) for each in value.split("|") if "*" not in each]
    tests = [f"{column} IN ({', '.join(exact)})"] if exact else []
    patterns = (quote(_pattern(each, ".*")) for each in value.split("|") if "*" in each)
    return f"({' OR '.join([*tests, *(f'regexp_full_match({column}, {p})' for p in patterns)])})"


def quote(text: str) -> str:
    """A string of SQL."""
    return "'" + text.replace("'", "''") + "'"


def _predicate(word: str) -> str:
    if re.fullmatch(r".+\.[^.]+", word):
        return match("sense", word)
    columns = ("lower(lemma)", "lemma_of(sense, predicate)")
    return f"({' OR '.join(match(column, word.lower()) for column in columns)})"


def _head(word: str) -> str:
    # Tables with a row per proposition have no heads of modifiers.
    inside = " OR ".join(_contains("phrase", each) for each in word.split("|"))
    exact = match("lower(head)", word.lower())
    return "true" if word == "*" else f"CASE WHEN head IS NULL THEN {inside} ELSE {exact} END"


def _contains(column: str, words: str) -> str:
    letter, exact = r"[^\pL\pN]", words.lower()
    pattern = quote(f"(^|{letter}){_pattern(exact, '[^ ]*')}({letter}|$)")
    longest = quote(max(exact.split("*"), key=len))  # is found faster than the pattern
    column = f"lower({column})"
    return f"(contains({column}, {longest}) AND regexp_matches({column}, {pattern}))"


def _pattern(value: str, any_text: str) -> str:
    return any_text.join(map(re.escape, value.split("*")))
