"""Bytes to text, or a sentence that names what is wrong with them."""

import codecs

from services.knowledge_store.domain.errors import UnreadableFileError

_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def decode_text(content: bytes) -> str:
    """UTF-8 with or without a byte order mark, or UTF-16 with one; line ends become "\\n"."""
    text = _decode(content)
    if "\x00" in text:
        raise UnreadableFileError("this is a binary file, not text")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _decode(content: bytes) -> str:
    if content.startswith(_UTF16_MARKS):
        try:
            return content.decode("utf-16")
        except UnicodeDecodeError as error:
            raise UnreadableFileError("the file says that it is UTF-16 but is cut off or damaged") from error
    if b"\x00" in content:
        raise UnreadableFileError("this is a binary file, not text")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        reason = f"not UTF-8 (byte 0x{content[error.start]:02X}); save the file as UTF-8"
        raise UnreadableFileError(reason, line) from error
