import csv
import io
import json

import pytest

from corpora.text import readers


def read(reader, text):
    return [" ".join(sentence.words) for sentence in reader(text)]


def as_csv(*rows):
    file = io.StringIO()
    writer = csv.DictWriter(file, rows[0])
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue()


def test_lines():
    text = "__label__rope __label__knot How do I tie it?\nTie it. Twice.\n"
    assert read(readers.lines, text) == ["How do I tie it ?", "Tie it .", "Twice ."]


def test_markdown_without_ingredients():
    text = "# Soup\n## Ingredients\n- two old boots\n## Directions\n1. Boil the boots.\n2. Serve.\n"
    assert read(readers.markdown, text) == ["Boil the boots .", "Serve ."]


def test_words_of_conllu():
    columns = "\t_" * 8
    text = f"# text = low-pH soup\n1\tlow-pH{columns}\n2\tsoup{columns}\n\n"
    assert read(readers.words, text) == ["low-pH soup"]


def test_a_column_of_a_table():
    text = as_csv({"id": "1", "text": "Hi Ann.\nHow are you?"}, {"id": "2", "text": "Fine."})
    assert read(readers.table("text"), text) == ["Hi Ann .", "How are you ?", "Fine ."]
    assert read(readers.table("text", str.upper), text)[-1] == "FINE ."


@pytest.mark.parametrize(
    ("keys", "data"),
    [
        (("text",), [{"text": "Book it."}, {"text": "Not now."}]),
        (("user", "text"), [{"user": {"text": "Book it."}}, {"user": {"text": "Not now."}}]),
        (("turns", "text"), [{"turns": [{"text": "Book it."}]}, {"turns": [{"text": "Not now."}]}]),
    ],
)
def test_records(keys, data):
    assert read(readers.records(*keys), json.dumps(data)) == ["Book it .", "Not now ."]


def test_stack_exchange():
    text = """<posts>
      <row PostTypeId="1" Title="Is $x$ a boat?" Body="&lt;p&gt;I have&#10;one.&lt;/p&gt;"/>
      <row PostTypeId="4" Body="&lt;p&gt;About a tag.&lt;/p&gt;"/>
      <row Text="@Ann it *is* one."/>
    </posts>"""
    assert read(readers.stack_exchange, text) == [
        "Is \ue000 a boat ?",
        "I have one .",
        "it is one .",
    ]


def test_self_dialogue():
    row = {"Reject": "", "AssignmentStatus": "Approved", "Answer.sentence10": "Me too."}
    row |= {"Answer.sentence2": "I like boats.", "Answer.sentence3": "{}"}
    rejected = row | {"Reject": "x"}, row | {"AssignmentStatus": "Rejected"}
    assert read(readers.self_dialogue, as_csv(row, *rejected)) == ["I like boats .", "Me too ."]


def test_medical_answers():
    text = "<d><Answer>Signs are:   - a cough  - a   fever</Answer><Answer/></d>"
    assert read(readers.medical_answers, text) == ["Signs are :", "a cough", "a fever"]


DAY = """Date: '2020-01-01'
Source_URI: Portal:Current events/2020 January 1
Intelligence_Payload:
  Sports:
  - 'Ann''s boat wins the long race across the
    lake. (The Harbor Times)'
  Law and crime:
  - "A court in the old town frees the \\
    sailor. (AP) (Reuters)"
  - Trials of the old sailors
  - A new harbor opens in the north of the lake.
"""


@pytest.mark.parametrize(
    ("sport", "found"),
    [
        (True, ["Ann 's boat wins the long race across the lake ."]),
        (
            False,
            [
                "A court in the old town frees the sailor .",
                "A new harbor opens in the north of the lake .",
            ],
        ),
    ],
)
def test_current_events(sport, found):
    assert read(readers.current_events(sport=sport), DAY) == found


def test_current_events_that_were_written_by_others():
    read_news = readers.current_events(sport=False)
    assert read(read_news, DAY.replace("Portal", "Portals")) == []
    assert read(read_news, DAY + "  - It is so.\n" * 1000) == []


def test_an_article_without_date_and_credits():
    text = "Monday, May 4, 2020 \nThe boat sank.\nImage: Ann.\n((Bob)) Why did it?"
    assert readers.clean_article(text).split("\n") == [
        "",
        "The boat sank.",
        "",
        "",
        "",
        "Why did it?",
    ]


def test_a_dialogue_without_speakers():
    text = "Doctor: does n't it hurt ?\n[patient] i 'm gon na rest ."
    assert readers.clean_dialogue(text).split("\n") == [
        "",
        "doesn't it hurt?",
        "",
        "i'm gonna rest.",
    ]


def test_a_note_without_headings():
    text = "PHYSICAL EXAM\nHeart: It is sound.\n- Left knee: It is sore."
    assert [line for line in readers.clean_note(text).split("\n") if line] == [
        "It is sound.",
        "It is sore.",
    ]
