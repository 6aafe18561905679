"""What a reader of the page would not see. Hidden text is a way to slip words to a machine, so none of it is kept.

Text in the colour of its background cannot be told without rendering the page, and stays.
"""

import re
from collections.abc import Iterator
from itertools import islice

import soupsieve
from bs4 import BeautifulSoup, Comment, Tag
from bs4.element import PreformattedString

_NEVER_TEXT = (
    *("script", "style", "template", "noscript", "head", "iframe", "object", "embed", "svg", "canvas", "audio"),
    *("video", "map", "dialog", "button", "input", "select", "textarea", "datalist", "progress", "meter"),
)
# What says that it holds no more: a struck-out price must not be found as the price.
_STRUCK = ("del", "s", "strike")
_AROUND = "nav, [role=navigation], [role=banner], [role=contentinfo], [role=search], [role=menu], [role=menubar]"
_HIDING = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|opacity\s*:\s*(?:0*\.?0+)\s*(?:%|;|!|$)"
    r"|font-size\s*:\s*0*\.?0+\s*(?:[a-z%]+)?\s*(?:;|!|$)|(?:left|top|text-indent|margin-left)\s*:\s*-\d{3,}"
    r"|content-visibility\s*:\s*hidden|clip\s*:\s*rect\(\s*0|clip-path\s*:\s*inset\(\s*(?:50|100)%",
    re.IGNORECASE,
)
_CSS_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_OTHER_MEDIA = re.compile(r"@(?:media\s+(?:print|speech)|keyframes|font-face|page)[^{]*\{(?:[^{}]|\{[^{}]*\})*\}", re.I)
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_MAX_CSS_CHARACTERS = 200_000
_MAX_SELECTORS = 500


def remove_unseen(soup: BeautifulSoup) -> None:
    """Drop code, comments, controls, navigation and hidden elements from the tree."""
    selectors = list(_hiding_selectors(soup))
    for text in soup.find_all(string=lambda text: isinstance(text, Comment | PreformattedString)):
        text.extract()
    for tag in soup.find_all((*_NEVER_TEXT, *_STRUCK)):
        tag.decompose()
    for tag in soup.find_all(_is_hidden):
        tag.decompose()
    for selector in (_AROUND, *selectors):
        for tag in soup.select(selector):
            tag.decompose()
    _remove_page_frame(soup)


def _is_hidden(tag: Tag) -> bool:
    hides = "hidden" in tag.attrs or str(tag.get("aria-hidden", "")).strip().lower() == "true"
    return hides or _HIDING.search(str(tag.get("style", ""))) is not None


def _hiding_selectors(soup: BeautifulSoup) -> Iterator[str]:
    """Selectors of the page's own style sheets whose rules hide what they match."""
    css = "\n".join(tag.get_text() for tag in soup.find_all("style"))[:_MAX_CSS_CHARACTERS]
    css = _OTHER_MEDIA.sub("", _CSS_COMMENT.sub("", css))
    hiding = (selector.strip() for selector, rule in _RULE.findall(css) if _HIDING.search(rule))
    for selector in islice(hiding, _MAX_SELECTORS):
        # One part that is not understood, such as ::before, which holds no text of the page, must not save the others.
        yield from [selector] if _is_understood(selector) else filter(_is_understood, selector.split(","))


def _is_understood(selector: str) -> bool:
    try:
        soupsieve.compile(selector)
    except (soupsieve.SelectorSyntaxError, NotImplementedError, ValueError):
        return False
    return True


def _remove_page_frame(soup: BeautifulSoup) -> None:
    """Header and footer of the page; those of an article belong to its text."""
    for tag in soup.find_all(("header", "footer")):
        if tag.find_parent(("article", "main", "section")) is None and tag.find(("h1", "main", "article")) is None:
            tag.decompose()
