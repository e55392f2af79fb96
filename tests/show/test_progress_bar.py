from capsrl.show.progress_bar import track_texts


def test_texts_pass_through_and_the_bar_is_on_stderr(capsys):
    for texts in (["a", "b", "c"], (text for text in "abc")):
        assert list(track_texts(texts)) == ["a", "b", "c"]
        captured = capsys.readouterr()
        assert captured.out == "" and captured.err.startswith("texts ")
