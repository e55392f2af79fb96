import pytest

from corpora.text.markup import CUT, read_comment, read_html, read_markdown, without_formulas

PAGE = """---
title: Boats
---
# A header

Mira **sold** the [old *boat*](https://example.org/a_(b)) to Ann.[^1]
It `leaks` a little, but `rm -rf x` ends that.

> Somebody else wrote this.

* Ropes are *cheap* &amp; useful{{< note >}}
2. Second, tie the knot.

| a | b |
```
code = 1
```
<p>A tag</p><pre>x</pre>
"""


def paragraphs(text):
    return [" ".join(each.split()) for each in text.split("\n\n") if each.strip()]


def test_markdown():
    assert paragraphs(read_markdown(PAGE)) == [
        f"Mira sold the old boat to Ann. It leaks a little, but {CUT} ends that.",
        "Ropes are cheap & useful",
        "Second, tie the knot.",
        "A tag",
    ]


def test_html():
    body = (
        "<p>Use <code>grep</code>, not <code>a | b</code>, she said.</p>\n"
        "<blockquote><p>Quoted.</p></blockquote><h2>Head</h2>"
        "<ul><li>One &lt; two</li><li>It&#39;s <b>bold</b></li></ul><pre><code>x</code></pre>"
    )
    assert paragraphs(read_html(body)) == [
        f"Use grep, not {CUT}, she said.",
        "One < two",
        "It's bold",
    ]


def test_comment():
    text = "@Ann: see [the _rules_](https://example.org), `ls` and `a b`"
    assert read_comment(text) == f"see the rules, ls and {CUT}"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (r"Let $x^2$ be \(y\) or $$z$$.", f"Let {CUT} be {CUT} or {CUT}."),
        ("It costs $5 or $6 now.", "It costs $5 or $6 now."),
        ("See https://example.org/x now.", f"See {CUT} now."),
    ],
)
def test_formulas_and_addresses(text, found):
    assert without_formulas(text) == found
