"""Markup that a model may write: reduced to its text, so that no link or tag of its own gets out."""

import html
import re

_IMAGE = re.compile(r"!\[[^\]\n]*\](?:\([^)\n]*\)|\[[^\]\n]*\])")
_NUMBER_LINK = re.compile(r"\[+\^?(\d{1,4})\]+\((?:[^()\n]|\([^()\n]*\))*\)")
_LINK = re.compile(r"\[([^\[\]\n]*)\]\((?:[^()\n]|\([^()\n]*\))*\)")
_REFERENCE_LINK = re.compile(r"\[([^\[\]\n]*[^\W\d][^\[\]\n]*)\]\[[^\[\]\n]*\]")
_DEFINITION = re.compile(r"\[\^?[^\[\]\n]+\]:")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_AUTOLINK = re.compile(r"<((?:https?://|mailto:)?[^<>\s]+[@/.][^<>\s]*)>")
_TAG = re.compile(r"</?[A-Za-z!?][^<>]*(?:>|\Z)")
_IN_NUMBER = re.compile(r"(?<=\d)(?:[*_~`]+|\\)(?=\d)")
_EMPHASIS = re.compile(r"\*\*|__|(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)|~~")


def reduce_markup(text: str) -> str:
    """Links become their text, images and comments go, tags are stripped, entities are read."""
    if "&" in text:
        text = html.unescape(text)
    if "<" in text:
        text = _TAG.sub("", _AUTOLINK.sub(r"\1", _COMMENT.sub("", text)))
    if "](" in text or "][" in text:
        text = _IMAGE.sub("", text)
        text = _NUMBER_LINK.sub(r"[\1]", text)
        text = _REFERENCE_LINK.sub(r"\1", _LINK.sub(r"\1", text))
    if "*" in text or "_" in text or "~" in text or "`" in text or "\\" in text:
        text = _IN_NUMBER.sub("", text)
    return text


def is_definition(text: str) -> bool:
    """A link or footnote definition line ("[1]: https://…")."""
    return bool(_DEFINITION.match(text))


def plain(text: str) -> str:
    """Without emphasis marks and backticks, for the checks."""
    if "*" in text or "_" in text or "~" in text:
        text = _EMPHASIS.sub("", text)
    return text.replace("`", " ")


def balance_brackets(text: str) -> str:
    """Drops square brackets without a partner: two halves of a marker must not meet in the answer."""
    for opening, closing in ("[]", "【】"):
        if text.count(opening) != text.count(closing):
            text = text.replace(opening, "").replace(closing, "")
    return text
