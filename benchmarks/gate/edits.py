"""One true sentence to a false one, by one edit. Every edit answers None where it does not apply."""

import random
import re

from services.chat_api.domain.grounding.language_data.loader import LanguageData, fold, load_language

_NUMBER = re.compile(r"(?<![\w.,])\d+(?:[.,]\d+)*(?![\w])")
_HAN_NUMBER = re.compile(r"\d+")
_NAME = re.compile(r"(?<![.!?\"“„«:] )(?<!^)(?<=[\s(])[A-ZÄÖÜА-ЯЁ][\w’'-]{2,}(?: [A-ZÄÖÜА-ЯЁ][\w’'-]{2,})*")
# Only characters that spell foreign names: a dot between them is no word's end.
_SPELLING = "".join(sorted(load_language("zh").transliteration - set("的于在和与是为以")))
_HAN_NAME = re.compile(rf"[{_SPELLING}]{{1,5}}·[{_SPELLING}]{{1,5}}")
COPULAS = {
    "en": (r"\b(is|was|were|are|has|had|can|will|could)\b", r"\1 not"),
    "de": (r"\b(ist|war|waren|sind|hat|hatte|kann|wurde|wurden|wird)\b", r"\1 nicht"),
    "ru": (r"(?<= )(был|была|было|были|является|стал|стала|имеет|может)\b", r"не \1"),
    "zh": (r"(是|有|能|会|在)", r"不\1"),
}
_STRENGTH = {
    "en": ("only", "all of them", "must"),
    "de": ("nur", "ausschließlich"),
    "ru": ("только", "всегда"),
    "zh": ("只", "全部"),
}


def numbers_of(text: str, code: str) -> list[str]:
    return (_HAN_NUMBER if code == "zh" else _NUMBER).findall(text)


def names_of(text: str, code: str) -> list[str]:
    return (_HAN_NAME if code == "zh" else _NAME).findall(text)


def replace_number(sentence: str, code: str, rng: random.Random, pool: list[str] | None = None) -> str | None:
    found = numbers_of(sentence, code)
    if not found:
        return None
    old = rng.choice(found)
    if pool is None:
        digits = [char for char in old if char.isdigit()]
        new = old
        while new == old:
            new = re.sub(r"\d", lambda _match: str(rng.randint(1, 9)), old) if digits else old
    else:
        others = [number for number in pool if number not in sentence]
        if not others:
            return None
        new = rng.choice(others)
    return sentence.replace(old, new, 1)


def replace_name(sentence: str, known: list[str], rng: random.Random, pool: list[str]) -> str | None:
    found = [name for name in known if f" {name}" in sentence or ("·" in name and name in sentence)]
    others = [name for name in pool if fold(name) not in fold(sentence)]
    if not found or not others:
        return None
    return sentence.replace(rng.choice(found), rng.choice(others), 1)


def exchange_names(sentence: str, known: list[str]) -> str | None:
    found = list(dict.fromkeys(name for name in known if name in sentence))
    if len(found) < 2:
        return None
    first, second = found[0], found[-1]
    if first in second or second in first:
        return None
    return sentence.replace(first, "\0").replace(second, first).replace("\0", second)


def add_negation(sentence: str, code: str) -> str | None:
    pattern, negated = COPULAS[code]
    if re.search(r"\b(not|nicht|kein\w*|не|no)\b|不|没|无", sentence):
        return None
    changed = re.sub(pattern, negated, sentence, count=1)
    return None if changed == sentence else changed


def drop_negation(sentence: str, code: str) -> str | None:
    pattern = {
        "en": r" (?:not|never)\b(?! only)",
        "de": r" (?:nicht|nie)\b(?! nur)",
        "ru": r" не (?!только|менее|более)",
        "zh": r"(?<!毫)(?:没有|不(?!仅|但|同|断|过|久|少|论|管|列|可))",
    }[code]
    changed = re.sub(pattern, "" if code == "zh" else " " if code == "ru" else "", sentence, count=1)
    return None if changed == sentence else changed


def add_strength(sentence: str, code: str, rng: random.Random) -> str | None:
    pattern, _ = COPULAS[code]
    word = rng.choice(_STRENGTH[code])
    if word in sentence:
        return None
    changed = re.sub(pattern, (word + r"\1") if code == "zh" else (r"\1 " + word), sentence, count=1)
    return None if changed == sentence else changed


def turn_polarity(sentence: str, data: LanguageData) -> str | None:
    if data.code == "zh":
        for word, others in data.polar.items():
            if len(word) > 1 and word in sentence:
                return sentence.replace(word, min(others), 1)
        return None
    opposites = {
        "increased": "decreased",
        "before": "after",
        "north": "south",
        "largest": "smallest",
        "first": "last",
        "higher": "lower",
        "more": "fewer",
        "größte": "kleinste",
        "größten": "kleinsten",
        "nördlich": "südlich",
        "mehr": "weniger",
        "höher": "niedriger",
        "ersten": "letzten",
        "westlichen": "östlichen",
        "больше": "меньше",
        "северной": "южной",
        "увеличение": "уменьшение",
        "первый": "последний",
        "выше": "ниже",
        "высокий": "низкий",
        "более": "менее",
    }
    for word, other in opposites.items():
        changed = re.sub(rf"\b{word}\b", other, sentence, count=1)
        if changed != sentence:
            return changed
    return None


def change_unit(sentence: str, code: str) -> str | None:
    swaps = {
        "en": [
            ("million", "billion"),
            ("percent", "dollars"),
            ("%", " km"),
            ("years", "days"),
            ("miles", "kilometres"),
            ("km", "miles"),
            ("feet", "metres"),
            ("$", "€"),
            ("acres", "hectares"),
        ],
        "de": [
            ("Millionen", "Milliarden"),
            ("Prozent", "Euro"),
            ("%", "km"),
            ("Jahre", "Tage"),
            ("Meilen", "Kilometer"),
            ("km", "Meilen"),
            ("Fuß", "Meter"),
            ("Dollar", "Euro"),
        ],
        "ru": [
            ("миллионов", "миллиардов"),
            ("процентов", "рублей"),
            ("%", "км"),
            ("лет", "дней"),
            ("миль", "километров"),
            ("км", "миль"),
            ("футов", "метров"),
            ("долларов", "рублей"),
        ],
        "zh": [
            ("亿", "万"),
            ("万", "亿"),
            ("%", "公里"),
            ("英里", "公里"),
            ("公里", "英里"),
            ("英尺", "米"),
            ("美元", "欧元"),
            ("年", "天"),
        ],
    }
    for old, new in swaps[code]:
        pattern = rf"(?<=\d)(\s?){re.escape(old)}" if old != "$" else r"()\$(?=\d)"
        changed = re.sub(pattern, rf"\g<1>{new}", sentence, count=1)
        if changed != sentence:
            return changed
    return None
