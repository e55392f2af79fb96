"""PropBank's roles: their names in CoNLL-2009 and in PropBank, and what they mean."""

import re

_PROPBANK = re.compile(r"((?:[CR]-)*)A(?:RG)?(M-.+|[\dA])(-.+)?")

# Roles that mean the same for every sense.
MODIFIERS = {
    "AA": "causer of the action",
    "AM-ADJ": "adjectival",
    "AM-ADV": "adverbial",
    "AM-CAU": "cause",
    "AM-COM": "companion",
    "AM-CXN": "construction",
    "AM-DIR": "direction",
    "AM-DIS": "discourse",
    "AM-DSP": "direct speech",
    "AM-EXT": "extent",
    "AM-GOL": "goal",
    "AM-LOC": "location",
    "AM-LVB": "light verb",
    "AM-MNR": "manner",
    "AM-MOD": "modal",
    "AM-NEG": "negation",
    "AM-PNC": "purpose",
    "AM-PRD": "secondary predicate",
    "AM-PRP": "purpose",
    "AM-PRR": "predicating relation",
    "AM-REC": "reciprocal",
    "AM-TMP": "time",
    "V": "part of the predicate",
}

# What a modifier answers, or words that are one; for readers who do not know the terms above.
ANSWERED = {
    "AM-ADJ": "adjective of a noun",
    "AM-ADV": "if, although, ...",
    "AM-CAU": "why",
    "AM-COM": "with whom",
    "AM-CXN": "as ... as, more than, ...",
    "AM-DIS": "however, and, please, ...",
    "AM-EXT": "how much",
    "AM-GOL": "where to or for whom",
    "AM-LOC": "where",
    "AM-LVB": "the verb of a noun predicate",
    "AM-MNR": "how",
    "AM-PRD": "state of a participant",
    "AM-PRP": "what for",
    "AM-REC": "each other",
    "AM-TMP": "when",
}

# What the others mean for most predicates; the frame of a sense says it exactly.
NUMBERED = {
    "A0": "usually who or what acts",
    "A1": "usually who or what is acted on",
    "A2": "depends on the predicate: often recipient, instrument or result",
    "A3": "depends on the predicate: often starting point or beneficiary",
    "A4": "depends on the predicate: often end point",
    "A5": "depends on the predicate",
}

# All that annotators may need: also references, and arguments that are continued.
EVERY = [
    prefix + role for prefix in ("", "C-", "R-") for role in (*NUMBERED, *MODIFIERS) if role != "V"
] + ["C-V"]


def conll09_role(role: str) -> str:
    """Return the CoNLL-2009 name of a PropBank role: ARGM-TMP is AM-TMP, C-ARG1-DSP is C-A1.

    -DSP, which marks an argument as direct speech, is dropped. CoNLL-2009 names stay as they are.
    """
    found = _PROPBANK.fullmatch(role)
    if not found:
        return role
    prefixes, name, suffix = found.groups(default="")
    return f"{prefixes}A{name}" + (suffix if suffix != "-DSP" else "")


def propbank_role(role: str) -> str:
    """Return the PropBank name of a CoNLL-2009 role: AM-TMP is ARGM-TMP, C-A1 is C-ARG1."""
    found = _PROPBANK.fullmatch(role)
    if not found:
        return role
    prefixes, name, suffix = found.groups(default="")
    return f"{prefixes}ARG{name}{suffix}"
