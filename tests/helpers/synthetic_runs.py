"""Synthetic results for tests of the report: random counts around chosen scores."""

import random
from dataclasses import replace

from capsrl.config import ROUTED
from capsrl.score import Counts, Row
from reproduce.results import NO_ROLE, Change, Measured, RunResult, Slips

SIZE = 1000  # gold propositions of each set, two arguments each
ROLES = {"A1": 800, "A0": 600, "AM-TMP": 200, "A2": 180, "AM-LOC": 90, "R-A0": 60, "A4": 50}
LENGTHS = ("0-9", "10-19", "20-29", "30-39", "40-49", "50-59", "60-69", "70-79")
SETTINGS = {
    "train.epochs": 4,
    "model.capsules.initial_agreement": 0.1,
    "model.capsules.initial_scale": 10.0,
}
GAINS = {"baseline": 0, "word": 5, "capsule": 25, "capsule+global": 35}  # right arguments


def counts(right_arguments, *, wrong=300, senses=900, exact=600, repeated=60, size=SIZE):
    """Counts of a set with these numbers of right and wrong arguments, and so on."""
    return Counts(
        sentences=size // 2,
        gold_predicates=size,
        pred_predicates=size,
        found_predicates=size,
        correct_senses=senses,
        gold_arguments=2 * size,
        pred_arguments=right_arguments + wrong,
        found_arguments=right_arguments,
        correct_arguments=right_arguments,
        correct_propositions=exact,
        gold_repeated=50,
        pred_repeated=repeated,
    )


def measured(variant, draw, *, ood=True, gain=None, iterations=2, size=SIZE):
    """Plausible measurements of a variant, with noise of a few counts."""
    gain = GAINS[variant] if gain is None else gain

    def noisy(value, width=3):
        return value + draw.randint(-width, width)

    names = ("dev", "test", "ood") if ood else ("dev", "test")
    sets = {
        name: counts(
            noisy(1700 + gain), exact=noisy(600 + gain), repeated=noisy(100 - gain), size=size
        )
        for name in names
    }
    rows = {
        name: Row(correct=noisy(160 + gain // 5), gold=200, pred=200, propositions=80, exact=50)
        for name in LENGTHS
    }
    arguments = {
        str(n): Row(correct=noisy(150 + gain // 5), gold=200, pred=200, propositions=90 - 10 * n)
        for n in range(8)
    }
    sweep, transitions = {}, {}
    if variant in ROUTED:
        sweep = {n: _at(n, iterations, gain, noisy, variant) for n in range(1, 7)}
        sweep[iterations] = sets["dev"]
        transitions = {n: _changes(n, variant, noisy) for n in range(1, 6)}
    return Measured(
        sets,
        rows,
        arguments,
        sweep,
        transitions,
        ROLES,
        decoded={
            name: replace(found, correct_propositions=found.correct_propositions + 5)
            for name, found in sets.items()
        },
        slips={name: Slips(3, 12, 0, 5) for name in sets},
        parameters={"routing": 15_104 if variant in ROUTED else 0, "all": 1_000_000},
        train_propositions=10 * size,
    )


def _at(n, iterations, gain, noisy, variant):
    off = abs(n - iterations)
    last = 45 + 60 // n if variant == "capsule" else 60 + 6 * n
    return counts(
        noisy(1700 + gain - 20 * off),
        wrong=noisy(500 - 50 * n) if variant == "capsule" else noisy(250 + 20 * n),
        exact=noisy(600 + gain - 20 * off),
        repeated=noisy(last),
    )


def _changes(n, variant, noisy):
    roles = [NO_ROLE, *ROLES]
    found = []
    for i, before in enumerate(roles):
        for j, after in enumerate(roles):
            many = 300 // (1 + i + j) // n
            if before != after and many > 5:
                toward = variant == "capsule" and after == NO_ROLE
                right = noisy(many * (3 if toward else 1))
                found.append(Change(before, after, right, max(0, noisy(many // 3)), many // 5))
    return tuple(found)


def run(corpus="en_web", variant="baseline", seed=1, **given):
    """One run; `measured` and any field of RunResult may be given."""
    iterations = given.get("iterations", 2)
    draw = random.Random(f"{corpus} {variant} {seed} {iterations} {given.get('uniqueness')}")
    extra = {name: given.pop(name) for name in ("gain", "ood", "size") if name in given}
    fields = {
        "name": f"{corpus}_{variant}_n{iterations}_{given.get('uniqueness')}_seed{seed}_{corpus}",
        "language": "English",
        "annotation": "PropBank",
        "encoder": "gte-small, fine-tuned",
        "paper": "en",
        "iterations": iterations,
        "uniqueness": 0.0,
        "best_epoch": 3,
        "dev_f1": (70.0, 80.0, 85.0, 84.0),
        "seconds": 900.0,
        "device": "a GPU",
        "commit": "abc1234",
        "settings": SETTINGS,
    } | given
    if "measured" not in fields:
        fields["measured"] = measured(variant, draw, iterations=iterations, **extra)
    return RunResult(corpus=corpus, variant=variant, seed=seed, **fields)


def full_plan():
    """The runs of a whole plan: an ablation, a grid of η and iterations, several languages."""
    runs = [run(variant=variant, seed=seed) for variant in GAINS for seed in (1, 2, 3)]
    runs += [
        run(variant="capsule", uniqueness=eta, iterations=n, gain=25 - int(30 * eta))
        for eta in (1.0, 0.1, 0.0)
        for n in (1, 2, 3)
        if (eta, n) != (0.0, 2)  # is there with three seeds
    ]
    others = (
        ("zh_one", "Chinese", "zh", 3, 30),
        ("zh_two", "Chinese", "zh", 3, 8),
        ("de_up", "German", "de", 3, 1),
        ("fi_up", "Finnish", "", 1, 12),
        ("cs_up", "Czech", "cs", 3, -15),
        ("ja_web", "Japanese", "ja", 3, 22),
    )
    for i, (name, language, paper, n_seeds, gain) in enumerate(others):
        words = {"language": language, "paper": paper, "encoder": "XLM-R, frozen"}
        words["size"] = SIZE + 100 * i
        for seed in range(1, n_seeds + 1):
            runs.append(run(name, "baseline", seed, ood=False, **words))
            runs.append(run(name, "capsule+global", seed, ood=False, gain=gain, **words))
    return runs


def scored(variant, seed, right, *, exact=600, sets=("dev", "test"), **given):
    """A run without noise: 3,000 gold and predicted arcs, with 900 right senses.

    right  number of right arguments: F1 = P = R = (900 + right) / 30 percent
    exact  number of right propositions: EM = exact / 10 percent
    """
    found = {name: counts(right, wrong=2 * SIZE - right, exact=exact) for name in sets}
    return run(given.pop("corpus", "en_web"), variant, seed, measured=Measured(found), **given)
