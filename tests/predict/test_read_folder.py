"""What identifies a model folder."""

from capsrl.predict.read_folder import fingerprint
from tests.helpers.tiny_networks import make_labeler


def test_fingerprint(tmp_path):
    make_labeler().save(tmp_path / "a")
    make_labeler().save(tmp_path / "b")
    first = fingerprint(tmp_path / "a")
    assert len(first) == 16 and fingerprint(tmp_path / "b") == first  # the same network elsewhere
    (tmp_path / "b" / "README.md").write_text("A card.")
    assert fingerprint(tmp_path / "b") == first
    for file in sorted(each for each in (tmp_path / "b").iterdir() if each.suffix != ".md"):
        content = file.read_bytes()
        file.write_bytes(content + b" ")
        assert fingerprint(tmp_path / "b") != first, file.name
        file.write_bytes(content)
    assert fingerprint(tmp_path / "b") == first
