"""The encoding of an HTML file, as a browser finds it; but where a browser guesses, this says so."""

import codecs

from bs4.dammit import EncodingDetector

from services.knowledge_store.domain.errors import UnreadableFileError

_BYTE_ORDER_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
# Names that stand for something wider on the web (WHATWG Encoding), and UTF-16 that was plainly read as ASCII.
_WIDER = {
    "iso8859-1": "cp1252",
    "ascii": "cp1252",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "utf-16": "utf-8",
    "utf-16-le": "utf-8",
    "utf-16-be": "utf-8",
}


def decode_html(content: bytes) -> str:
    """By byte order mark, else by the declared charset, else UTF-8. Raises `UnreadableFileError`."""
    for mark, encoding in _BYTE_ORDER_MARKS:
        if content.startswith(mark):
            return _decode(content, encoding, "a byte order mark")
    if b"\x00" in content:
        raise UnreadableFileError("this is a binary file, not HTML")
    declared = EncodingDetector.find_declared_encoding(content, is_html=True)
    if declared is None:
        return _decode(content, "utf-8", "nothing")
    return _decode(content, _codec_name(declared), f"charset {declared}")


def _codec_name(declared: str) -> str:
    try:
        name = codecs.lookup(declared).name
    except LookupError:
        raise UnreadableFileError(f"the page names an unknown charset ({declared[:40]}); save it as UTF-8") from None
    return _WIDER.get(name, name)


def _decode(content: bytes, encoding: str, declared_by: str) -> str:
    try:
        return content.decode(encoding)
    except (UnicodeDecodeError, LookupError, ValueError):
        if declared_by == "nothing":
            reason = "the page names no charset and is not UTF-8; add <meta charset> or save it as UTF-8"
        else:
            reason = f"the page is not in the encoding that it names ({declared_by}); save it as UTF-8"
        raise UnreadableFileError(reason) from None
