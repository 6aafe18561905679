"""Files in the encodings people have; the others are refused with a sentence that says what to do."""

import pytest

from services.knowledge_store.adapters.text_decoding import decode_text
from services.knowledge_store.domain.errors import UnreadableFileError

pytestmark = [pytest.mark.unit, pytest.mark.p1]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_known_encodings_are_read(encoding: str) -> None:
    assert decode_text("Straße\r\nотпуск 年假".encode(encoding)) == "Straße\nотпуск 年假"


def test_other_encoding_is_named_with_its_line() -> None:
    with pytest.raises(UnreadableFileError, match=r"0xDF.*save the file as UTF-8") as caught:
        decode_text("one\ntwo\nStraße".encode("latin-1"))
    assert caught.value.line == 3


@pytest.mark.parametrize("content", [b"\x89PNG\r\n\x1a\n\x00\x00", b"\xff\xfea\x00\x00\x00"])
def test_binary_content_is_refused(content: bytes) -> None:
    with pytest.raises(UnreadableFileError, match="binary"):
        decode_text(content)


def test_damaged_utf_16_is_refused() -> None:
    with pytest.raises(UnreadableFileError, match="UTF-16"):
        decode_text(b"\xff\xfea\x00b")
