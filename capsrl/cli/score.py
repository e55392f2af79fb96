"""`capsrl score GOLD PRED`: score a prediction, and compare it with another."""

from typing import Annotated

import typer

from capsrl.cli.options import with_fields
from capsrl.cli.scoring import ScoreOptions, check_standard_input, report_scores


@with_fields("options", ScoreOptions)
def score_command(
    gold: Annotated[
        str, typer.Argument(metavar="GOLD", help="File with gold propositions; - is stdin.")
    ],
    pred: Annotated[
        str, typer.Argument(metavar="PRED", help="The same sentences, predicted; - is stdin.")
    ],
    *,
    options: ScoreOptions,
) -> None:
    """Score predicted propositions against gold ones.

    Prints the official CoNLL-2009 scores to the last digit, those of the sub-tasks, exact match,
    repeated roles and a 95% confidence interval. Files are in any format that `capsrl convert`
    reads.
    """
    check_standard_input([gold, pred, options.compare, options.train])
    names = {"gold": gold, "pred": pred}
    report_scores(names, options.read(gold), options.read(pred), options)
