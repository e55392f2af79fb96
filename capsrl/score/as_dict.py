"""Convert Scores to a dictionary, as printed by `capsrl score --json`."""

from collections.abc import Mapping
from typing import Any

from capsrl.score.breakdown import OF_ARGUMENTS, Row
from capsrl.score.counts import PRF, Counts, percent
from capsrl.score.mistakes import Confusion, most_common
from capsrl.score.phrases import PREDICATE, PhraseScores
from capsrl.score.scorer import Scores, official_lines

NONE = "none"  # in place of a role: there is no such argument


def scores_to_dict(scores: Scores) -> dict[str, Any]:
    """Everything in the Scores, by name.

    official   percentages rounded to two decimals, the very numbers the official scorer prints,
               its lines, and the counts they come from
    scores     the same percentages in the mode asked for, not rounded, and their counts
    subtasks, exact_match, duplicate_roles, breakdowns: likewise in that mode, not rounded
    spans      those of the phrases, if they were scored, not rounded
    confusion  if it was counted: `matrix` has the gold role of `roles` as row, the predicted one as
               column; the last stands for no argument
    """
    counts = scores.counts
    report = {
        "mode": scores.mode,
        "sentences": counts.sentences,
        "official": {
            **{name: float(f"{value:.2f}") for name, value in _figures(scores.official).items()},
            "lines": official_lines(scores.official),
            "counts": scores.official.as_dict(),
        },
        "scores": {**_figures(counts), "counts": counts.as_dict()},
        "subtasks": _subtasks(counts),
        "exact_match": {
            "propositions": counts.exact_match,
            "arguments": counts.exact_arguments,
            "sentences": counts.exact_semantic_match,
        },
        "duplicate_roles": {
            "gold": scores.official.gold_repeated,
            "pred": scores.official.pred_repeated,
        },
        "breakdowns": {name: _rows(name, rows) for name, rows in scores.breakdowns.items()},
    }
    if scores.phrases is not None:
        report["spans"] = _phrases(scores.phrases)
    if scores.confusion is not None:
        report["confusion"] = _confusion(scores.confusion)
    return report


def _confusion(confusion: Confusion) -> dict[str, Any]:
    return {
        "roles": [NONE if role is None else role for role in confusion.labels()],
        "matrix": confusion.matrix(),
        "senses": [
            {"gold": gold, "pred": pred, "count": count}
            for gold, pred, count in most_common(confusion.senses)
        ],
    }


def _phrases(scores: PhraseScores) -> dict[str, Any]:
    return {
        **_prf(scores.overall),
        "end_to_end": _prf(scores.end_to_end),
        "exact_propositions": _share(scores.exact_propositions, scores.gold_propositions),
        "boundaries_of_right_heads": _share(scores.same_phrases, scores.same_heads),
        "without_phrase": {"gold": scores.gold_heads, "pred": scores.pred_heads},
        "roles": {role: _prf(prf) for role, prf in scores.by_role().items()},
        "predicates": _prf(scores.roles.get(PREDICATE, PRF())),
    }


def _share(correct: int, of: int) -> dict[str, float]:
    return {"percent": percent(correct, of), "correct": correct, "of": of}


def _figures(counts: Counts) -> dict[str, float]:
    figures = {}
    for name, prf in (
        ("labeled", counts.labeled),
        ("unlabeled", counts.unlabeled),
        ("proposition", counts.propositions),
    ):
        figures[f"{name}_precision"] = prf.precision
        figures[f"{name}_recall"] = prf.recall
        figures[f"{name}_f1"] = prf.f1
    figures["exact_semantic_match"] = counts.exact_semantic_match
    return figures


def _subtasks(counts: Counts) -> dict[str, Any]:
    return {
        "predicate_identification": _prf(counts.predicates),
        "sense_accuracy": counts.sense_accuracy,
        "predicates": _prf(counts.senses),
        "argument_identification": _prf(counts.argument_positions),
        "argument_classification_accuracy": counts.role_accuracy,
        "arguments": _prf(counts.arguments),
        "core_arguments": _prf(counts.core_arguments),
        "context_arguments": _prf(counts.context_arguments),
    }


def _prf(prf: PRF) -> dict[str, float]:
    return {
        "precision": prf.precision,
        "recall": prf.recall,
        "f1": prf.f1,
        "correct": prf.correct,
        "gold": prf.gold,
        "pred": prf.pred,
    }


def _rows(name: str, rows: Mapping[str, Row]) -> dict[str, dict[str, float]]:
    if name in OF_ARGUMENTS:
        return {key: _prf(row) for key, row in rows.items()}
    return {
        key: {
            **_prf(row),
            "exact_match": row.exact_match,
            "exact": row.exact,
            "propositions": row.propositions,
        }
        for key, row in rows.items()
    }
