"""`capsrl calibrate MODEL GOLD`: make the probabilities of a model mean what they say."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

import capsrl
from capsrl.cli.calibration_tables import print_fit
from capsrl.cli.options import Device, FromCorpus, Json, Threads
from capsrl.cli.scoring import read_corpus
from capsrl.errors import DataError
from capsrl.models import shipped_models


def calibrate_command(
    model: Annotated[
        str, typer.Argument(metavar="MODEL", help="A model folder, or the name of a model.")
    ],
    gold: Annotated[
        str,
        typer.Argument(metavar="GOLD", help="File with gold propositions, usually the dev set."),
    ],
    *,
    from_format: FromCorpus = None,
    device: Device = None,
    threads: Threads = None,
    as_json: Json = False,
) -> None:
    """Fit calibrated probabilities and save them in the model folder, as calibration.json.

    Prints the calibration errors on GOLD before and after. Those after are cross-validated: each
    fifth of the file is calibrated by what the others say.
    """
    # Here, so that --help needs no torch.
    from capsrl.train.calibrate import calibrate

    sentences = list(read_corpus(gold, from_format))
    labeler = capsrl.load(model, device=device, threads=threads)
    try:
        fit = calibrate(labeler, sentences)
    except DataError as error:
        raise DataError(f"{gold}: {error}") from None
    folder = shipped_models().get(model, Path(model))
    file = fit.calibration.save(folder)
    if as_json:
        report = {"before": fit.before.to_dict(), "after": fit.after.to_dict()}
        sys.stdout.write(json.dumps(report, indent=1) + "\n")
    else:
        print_fit(fit.before, fit.after)
    sys.stderr.write(f"{file} written\n")
