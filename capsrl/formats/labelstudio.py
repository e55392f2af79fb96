"""Write and read tasks of Label Studio: a JSON array with a task for each sentence.

Predicates and phrases are labeled regions, roles are the labels of regions and of the relations
that lead to them. The sense is the text of a predicate, in the field `sense`. `LABELING` is the
configuration of a project. The `score` of a task is the joint probability of its least certain
proposition, so that tasks sort by doubt.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from capsrl.errors import DataError
from capsrl.formats.blocks import Watch
from capsrl.formats.fields import Plain
from capsrl.formats.json_check import shown
from capsrl.formats.jsonl import format_object
from capsrl.formats.standoff import Marked, mark, place
from capsrl.frames.roles import MODIFIERS, NUMBERED
from capsrl.sentence import Sentence

_PREDICATE = "Predicate"
_ROLES = [role for role in (*NUMBERED, *MODIFIERS) if role != "V"]
LABELING = f"""<View>
  <Labels name="label" toName="text">
    {"".join(f'<Label value="{label}"/>' for label in (_PREDICATE, *_ROLES))}
  </Labels>
  <Relations>{"".join(f'<Relation value="{role}"/>' for role in _ROLES)}</Relations>
  <Text name="text" value="$text"/>
  <TextArea name="sense" toName="text" perRegion="true" whenLabelValue="{_PREDICATE}"
            displayMode="region-list" placeholder="sense, such as sell.01"/>
</View>
"""


def labelstudio_parts(sentences: Iterable[Sentence]) -> Iterator[str]:
    """Yield the text of a file of tasks, a task at a time."""
    before = "[\n"
    for sentence in sentences:
        yield before + format_object(_task(sentence)).removesuffix("\n")
        before = ",\n"
    yield "[]\n" if before == "[\n" else "\n]\n"


def read_labelstudio(
    lines: Iterable[str], *, source: str = "<lines>", watch: Watch | None = None
) -> Iterator[Sentence]:
    """Yield the sentences of tasks: of their first annotation, or prediction where there is none.

    Annotations that were cancelled are skipped. Raises DataError naming file and task.
    """
    try:
        tasks = json.loads("".join(lines))
    except (ValueError, RecursionError) as error:
        raise DataError(f"{source}: expected JSON as Label Studio exports it: {error}") from None
    for number, task in enumerate(tasks if isinstance(tasks, list) else [tasks], start=1):
        where = f"{source}: task {number}"
        try:
            bare, answers = task["data"].get("sentence"), task.get("annotations") or []
            answers = [each for each in answers if not each.get("was_cancelled")]
            results = [*answers, *(task.get("predictions") or []), {"result": []}][0]["result"]
            spans = _propositions(results, where)
            marked = Marked(task["data"]["text"], None if bare is None else [bare], spans)
        except (KeyError, TypeError, AttributeError, IndexError) as error:
            said = f"{where}: expected a task of Label Studio, got {shown(task)}"
            raise DataError(f"{said}, without {error}") from None
        yield from place(marked, source=where)


def _task(sentence: Sentence) -> Plain:
    text, bare, spans = mark([sentence])
    results: list[Plain] = []
    for span in spans:
        results.append(_region(len(results), text, span, _PREDICATE))
        predicate = results[-1]
        if span["sense"] is not None:
            place = {name: predicate["value"][name] for name in ("start", "end")}
            sense = {"type": "textarea", "value": {**place, "text": [span["sense"]]}}
            results.append({**predicate, "from_name": "sense", **sense})
        for each in span["arguments"]:
            results.append(_region(len(results), text, each, each["role"]))
            ends = {"from_id": predicate["id"], "to_id": results[-1]["id"]}
            relation = {"type": "relation", "direction": "right", "labels": [each["role"]]}
            results.append(relation | ends)
    sure = [p.joint_probability for p in sentence.propositions if p.joint_probability is not None]
    score = {"score": min(sure)} if sure else {}
    assert bare is not None
    prediction = {"model_version": "capsrl", **score, "result": results}
    return {"data": {"text": text, "sentence": bare[0]}, "predictions": [prediction]}


def _region(number: int, text: str, span: Plain, label: str) -> Plain:
    start, end = span["start"], span["end"]
    value = {"start": start, "end": end, "text": text[start:end], "labels": [label]}
    names = {"from_name": "label", "to_name": "text", "type": "labels"}
    return {"id": f"r{number}", **names, "value": value, "meta": {"capsrl": span["details"]}}


def _propositions(results: list[Any], where: str) -> list[Plain]:
    regions: dict[str, Plain] = {}
    for each in results:
        if each["type"] == "labels":
            value = each["value"]
            details = (each.get("meta") or {}).get("capsrl", {})
            span = {name: value[name] for name in ("start", "end")}
            regions[each["id"]] = span | {"label": value["labels"][0], "details": details}
    found = {
        name: region | {"sense": None, "arguments": []}
        for name, region in regions.items()
        if region["label"] == _PREDICATE
    }
    for each in results:
        if each["type"] == "textarea" and each["id"] in found:
            found[each["id"]]["sense"] = each["value"]["text"][-1]
        elif each["type"] == "relation":
            ends = each["from_id"], each["to_id"]
            predicate, argument = ends if ends[0] in found else ends[::-1]
            if predicate not in found or argument not in regions:
                raise DataError(f"{where}: expected a relation of a predicate, got one of {ends}")
            label = [*(each.get("labels") or []), regions[argument]["label"]][0]
            found[predicate]["arguments"].append(regions[argument] | {"role": label})
    return list(found.values())
