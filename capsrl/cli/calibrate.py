"""`capsrl calibrate MODEL GOLD`: calibrate the probabilities of a model."""

import json
import sys
from pathlib import Path

import capsrl
from capsrl.cli.options import (
    COPY,
    DEVICE,
    FROM_CORPUS,
    JSON,
    THREADS,
    argument,
    changing,
    command,
    option,
)
from capsrl.cli.score_tables import print_fit
from capsrl.errors import DataError
from capsrl.formats.formats import read_corpus
from capsrl.train.calibrate import calibrate

FORCE = option("--force", "Save it also if it makes probabilities worse.")


@command(
    {
        "Arguments": [
            argument("model", "MODEL", "Name or folder of a model."),
            argument("gold", "GOLD", "File with gold propositions, usually the dev set."),
        ],
        "Options": [FROM_CORPUS, COPY, FORCE, DEVICE, THREADS, JSON],
    }
)
def calibrate_command(
    model: str,
    gold: str,
    *,
    from_format: str | None,
    out: str | None,
    force: bool,
    device: str | None,
    threads: int | None,
    as_json: bool,
) -> None:
    """Fit calibrated probabilities and save them in the model folder, as calibration.json.

    Prints the calibration errors on GOLD before and after; those after are 5-fold cross-validated.
    """
    with changing(model, out) as folder:
        sentences = list(read_corpus(gold, from_format))
        labeler = capsrl.load(folder, device=device, threads=threads)
        try:
            fit = calibrate(labeler, sentences)
        except DataError as error:
            raise DataError(f"{gold}: {error}") from None
        if as_json:
            report = {"before": fit.before.to_dict(), "after": fit.after.to_dict()}
            sys.stdout.write(json.dumps(report, indent=1) + "\n")
        else:
            print_fit(fit.before, fit.after)
        if fit.worse and not force:
            raise DataError(
                f"{gold}: the probabilities of {' and '.join(fit.worse)} got worse, so nothing is "
                "saved; give more sentences, or --force"
            )
        file = fit.calibration.save(folder)
    sys.stderr.write(f"{Path(out or folder, file.name)} written\n")
