"""A hook for schemathesis: offsets of predicates must be inside words, which no schema can say."""

import schemathesis

from capsrl.text.sentences import read_text


@schemathesis.hook
def map_body(context, body):
    """Move offsets that the schema allows into words; leave everything else as it is."""
    if not isinstance(body, dict) or not isinstance(text := body.get("text"), str):
        return body
    offsets = body.get("at")
    if not isinstance(offsets, list) or not all(map(_is_offset, offsets)):
        return body
    starts = [start for sentence in read_text(text) for start, _ in sentence.offsets]
    moved = [starts[int(offset) % len(starts)] for offset in offsets] if starts else []
    return body | {"at": moved}


def _is_offset(value):
    return type(value) in (int, float) and value >= 0 and value == int(value)
