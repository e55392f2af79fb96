"""Names of roles."""

import re

_PROPBANK = re.compile(r"((?:[CR]-)*)A(?:RG)?(M-.+|[\dA])(-.+)?")


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
