"""The numbers of the paper (Chen, Lyu and Titov, 2019), measured on CoNLL-2009."""

from collections.abc import Mapping

DATA = "CoNLL-2009"
COLUMNS = ("P", "R", "F1", "EM")
Scores = tuple[float, float, float, float]  # in the order of COLUMNS

# Table 1: (η, iterations) -> scores on English dev, without the global node.
UNIQUENESS: Mapping[tuple[float, int], Scores] = {
    (1.0, 1): (89.31, 88.31, 88.80, 63.21),
    (1.0, 2): (88.34, 88.92, 88.63, 62.80),
    (1.0, 3): (88.92, 88.97, 88.94, 63.51),
    (0.1, 1): (89.16, 87.99, 88.57, 62.94),
    (0.1, 2): (88.70, 88.89, 88.80, 63.00),
    (0.1, 3): (89.75, 89.40, 89.57, 66.01),
    (0.0, 1): (89.59, 90.06, 89.82, 66.74),
    (0.0, 2): (89.88, 89.97, 89.92, 66.93),
    (0.0, 3): (89.25, 89.61, 89.43, 65.98),
}
# Tables 2 and 3: (variant, set) -> scores on English.
ABLATION: Mapping[tuple[str, str], Scores] = {
    ("capsule+global", "dev"): (89.63, 90.25, 89.94, 67.15),
    ("capsule+global", "test"): (90.74, 91.38, 91.06, 69.90),
    ("capsule+global", "ood"): (82.66, 82.78, 82.72, 53.14),
    ("capsule", "dev"): (89.88, 89.97, 89.92, 66.93),
    ("capsule", "test"): (90.95, 91.15, 91.05, 69.65),
    ("capsule", "ood"): (82.45, 82.27, 82.36, 51.95),
    ("word", "dev"): (89.95, 89.64, 89.80, 66.70),
    ("word", "test"): (90.82, 90.66, 90.74, 68.46),
    ("word", "ood"): (82.26, 81.64, 81.95, 50.75),
    ("baseline", "dev"): (89.47, 89.61, 89.54, 66.17),
    ("baseline", "test"): (90.31, 90.68, 90.49, 68.27),
    ("baseline", "ood"): (82.16, 81.74, 81.95, 50.75),
}
# Table 2: F1 of earlier systems on English test and out of domain; * with ELMo.
SYSTEMS: Mapping[str, tuple[float, float | None]] = {
    "Lei et al. 2015": (86.60, 75.60),
    "FitzGerald et al. 2015": (87.70, 75.50),
    "Foland and Martin 2015": (86.00, 75.90),
    "Roth and Lapata 2016": (87.90, 76.50),
    "Swayamdipta et al. 2016": (85.00, None),
    "Marcheggiani et al. 2017": (87.70, 77.70),
    "Marcheggiani and Titov 2017": (89.10, 78.90),
    "He et al. 2018": (89.50, 79.30),
    "Li et al. 2018": (89.80, 79.80),
    "Cai et al. 2018": (89.60, 79.00),
    "Mulcaire et al. 2018": (87.24, None),
    "Li et al. 2019*": (90.40, 81.50),
}
# Table 4: propositions of the English test set by words in the sentence, and by arguments.
LENGTHS: Mapping[str, int] = dict(
    zip(
        ("0-9", "10-19", "20-29", "30-39", "40-49", "50-59", "60-69"),
        (181, 1806, 3514, 3102, 1383, 391, 121),
        strict=True,
    )
)
ARGUMENTS: Mapping[str, int] = dict(
    zip("1234567", (2591, 4497, 2189, 889, 259, 39, 7), strict=True)
)
GROUPS = {"lengths": LENGTHS, "arguments": ARGUMENTS}
# Table 5: language -> F1 of the baseline and of CapsuleNet on the CoNLL-2009 test sets.
LANGUAGES: Mapping[str, tuple[float, float]] = {
    "ja": (80.12, 81.26),
    "es": (81.00, 81.32),
    "ca": (81.39, 81.65),
    "de": (76.01, 76.44),
    "cs": (87.79, 88.08),
    "zh": (81.05, 81.65),
    "en": (90.49, 91.06),
}
LANGUAGE_NAMES = dict(
    zip(
        LANGUAGES,
        ("Japanese", "Spanish", "Catalan", "German", "Czech", "Chinese", "English"),
        strict=True,
    )
)
LANGUAGES_AVERAGE = (82.55, 83.07)
# Table 5: the best single model before the paper, and the average of these.
PREVIOUS_BEST: Mapping[str, float] = {
    "ja": 78.69,
    "es": 80.50,
    "ca": 80.32,
    "de": 80.10,
    "cs": 86.02,
    "zh": 84.30,
    "en": 90.40,
}
PREVIOUS_AVERAGE = 82.90
# The paper's names of our variants.
NAMES: Mapping[str, str] = {
    "baseline": "Baseline",
    "word": "w/o role capsule layer",
    "capsule": "w/o global node",
    "capsule+global": "CapsuleNet",
}
