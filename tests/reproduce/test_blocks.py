import xml.etree.ElementTree as ET

from reproduce.blocks import Heading, Items, Picture, Table, Text, to_html, to_markdown

SVG = '<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg" width="9"><g id="a"/></svg>\n'
BLOCKS = [
    Heading(1, "A < B & C"),
    Text("Some **bold** words and `a|b`."),
    Items(["one", "two & three"]),
    Table(["name", "F1"], [["x|y", "1 < 2"], ["z", "**3**"]]),
    Picture("p-q", "What it shows [1, 2] & more.", SVG),
]
XHTML = "{http://www.w3.org/1999/xhtml}"


def test_markdown():
    assert to_markdown(BLOCKS) == (
        "# A &lt; B &amp; C\n\n"
        "Some **bold** words and `a|b`.\n\n"
        "- one\n- two &amp; three\n\n"
        "| name | F1 |\n| --- | --: |\n| x\\|y | 1 &lt; 2 |\n| z | **3** |\n\n"
        "![What it shows](figures/p-q.svg)\n\n"
        "What it shows [1, 2] &amp; more.\n"
    )


def test_html_is_xml_with_the_same_words():
    tree = ET.fromstring(to_html(BLOCKS).removeprefix("<!DOCTYPE html>\n"))
    assert tree.find(f".//{XHTML}title").text == "A < B & C"
    assert tree.find(f".//{XHTML}h1").text == "A < B & C"
    assert [cell.text for cell in tree.iter(f"{XHTML}td")] == ["x|y", "1 < 2", "z", None]
    assert [cell.get("class") for cell in tree.iter(f"{XHTML}th")] == [None, "n"]
    assert [b.text for b in tree.iter(f"{XHTML}b")] == ["bold", "3"]
    assert tree.find(f".//{XHTML}code").text == "a|b"
    [svg] = tree.iter("{http://www.w3.org/2000/svg}svg")
    assert svg.get("aria-label") == "What it shows [1, 2] & more."
    assert svg.get("role") == "img"
    assert tree.find(f".//{XHTML}figcaption").text == "What it shows [1, 2] & more."
