"""Every sentence of ours exists in every language."""

import string
from typing import get_args

import pytest

from services.chat_api.domain.grounding.language import Language
from services.chat_api.domain.texts import TextKey, texts_in

pytestmark = [pytest.mark.unit, pytest.mark.p1]


@pytest.mark.parametrize("language", get_args(Language))
def test_every_text_exists_with_the_same_placeholders(language: Language) -> None:
    english = texts_in("en")
    assert set(texts_in(language)) == set(get_args(TextKey)) == set(english)
    for key, text in texts_in(language).items():
        assert _placeholders(text) == _placeholders(english[key]), key
        assert text.strip() == text != ""


def _placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}
