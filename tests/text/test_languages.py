"""Raw text of other languages to sentences; every text here was written for the test."""

import sys
from importlib.util import find_spec

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsrl.errors import ConfigError
from capsrl.text import Layout
from capsrl.text.languages import sentence_spans
from capsrl.text.sentences import MAX_WORDS, read_text

GERMAN = """
Das Konzert findet am 3. Mai statt.
Der Laden schließt z. B. am Sonntag um 18 Uhr.
Prof. Dr. Keller hält die Rede.
Im 19. Jahrhundert war das anders.
Er wohnt in der Gartenstr. 5 in Ulm.
Sie kaufte Äpfel, Birnen usw. auf dem Markt.
Das gilt u. a. für Kinder.
Herr Schulz z.B. kam zu spät.
Ludwig XIV. regierte lange.
Die Sitzung am 12.03.2024 fiel aus.
Bitte melden Sie sich bis Mo., den 4. Juni.
Ca. 30 Gäste kamen.
Nr. 7 gewann.
»Komm her!«, rief sie.
Er fragte: »Wo warst du?«
Das Haus wurde 1898 gebaut.
Sie verdient 3.500 Euro im Monat.
Vgl. dazu Abb. 4 im Anhang.
Die Firma Holz & Co. liefert morgen.
Mein Bruder ist am 1. April geboren.
Der 2. Platz ging an Lena.
Das ist evtl. falsch.
""".strip().splitlines()
SPANISH = """
El Sr. Ramos llegó ayer.
La Dra. Soto vive en la Av. Libertad.
Compró pan, leche, etc. en la tienda.
¿Cuándo viene Ud. a vernos?
¡Qué bonito!
Nació en EE. UU. en 1990.
Véase la pág. 12 del informe.
El concierto es el 3 de mayo a las 8 p. m. en la plaza.
Pagó 3.500 euros por el coche.
El art. 5 de la ley lo prohíbe.
La empresa Ruiz S. A. cerró en junio.
D. Manuel y D.ª Rosa se casaron.
El núm. 7 ganó la carrera.
Llegaron aprox. veinte personas.
Vive en el s. XX, dijo ella.
El Prof. Gil explicó el tema.
""".strip().splitlines()
DE, ES = Layout(language="de"), Layout(language="es")


needs_sentencex = pytest.mark.skipif(find_spec("sentencex") is None, reason="needs sentencex")


def texts(sentences, layout):
    return [each.standalone().text for each in read_text(" ".join(sentences), layout)]


@needs_sentencex
@pytest.mark.parametrize(
    ("layout", "wanted", "right"), [(DE, GERMAN, 20), (ES, SPANISH, 13)], ids=["de", "es"]
)
def test_abbreviations_and_ordinals_end_no_sentence(layout, wanted, right):
    found, by_english = texts(wanted, layout), texts(wanted, Layout())
    assert sum(each in found for each in wanted) >= right
    assert sum(each in by_english for each in wanted) < right / 2 + 2


@needs_sentencex
def test_examples():
    assert texts(GERMAN[:2], DE) == GERMAN[:2]
    assert texts(SPANISH[:4], ES) == SPANISH[:4]
    assert texts(GERMAN[:1], Layout()) == ["Das Konzert findet am 3.", "Mai statt."]


@needs_sentencex
def test_spans_count_from_the_beginning_of_the_text():
    text = "👍 Vorher. Am 3. Mai. Danach."
    spans = sentence_spans(text, 10, len(text), "de")
    assert [text[start:end].strip() for start, end in spans] == ["Am 3. Mai.", "Danach."]


@needs_sentencex
def test_wrapped_lines_are_joined_and_lines_may_be_sentences():
    text = "Das Spiel beginnt am Nachmittag um halb drei und\nendet am 3. Mai.\nSchluss."
    assert len(read_text(text, DE)) == 2
    lines = read_text(text, Layout(one_sentence_per_line=True, language="de"))
    assert [len(each.words) for each in lines] == [9, 6, 2]


@needs_sentencex
def test_html():
    [first, second] = read_text(
        "<p>Am 3.&nbsp;Mai. <b>Gut.</b></p>", Layout(html=True, language="de")
    )
    assert (first.words[-2:], second.words) == (("Mai", "."), ("Gut", "."))


@needs_sentencex
def test_long_sentences_are_cut():
    lengths = [len(each) for each in read_text("und " * 2 * MAX_WORDS, DE)]
    assert max(lengths) <= MAX_WORDS and sum(lengths) == 2 * MAX_WORDS


@needs_sentencex
@given(st.text("aB1 .!?\n\r\t,;:-'\")(…é漢👍\u200d\x00\ud800\u2028", max_size=200))
def test_every_visible_character_is_in_one_word(text):
    found = [span for each in read_text(text, DE) for span in each.offsets]
    assert found == sorted(found)
    plain = [span for each in read_text(text) for span in each.offsets]
    covered, expected = ({at for span in spans for at in range(*span)} for spans in (found, plain))
    assert covered == expected


def test_the_package_may_be_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "sentencex", None)
    message = r"^text: .* the language 'de' .* needs sentencex: pip install 'capsrl\[languages\]'"
    with pytest.raises(ConfigError, match=message):
        read_text("Hallo.", DE)
    assert len(read_text("Hallo. Gut.")) == 2
    assert len(read_text("Hallo.\nGut.", Layout(one_sentence_per_line=True, language="de"))) == 2
