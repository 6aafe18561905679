"""Texts about nothing in particular: how near a question is to them is how near it is to any text at all."""

from collections.abc import Mapping, Sequence

from services.knowledge_store.domain.language import LANGUAGES, Language
from services.knowledge_store.domain.records import Vector

BACKGROUND_TEXTS: dict[Language, tuple[str, ...]] = {
    "en": (
        "The river flows through a wide valley and reaches the sea after three hundred kilometres.",
        "The committee met on Tuesday and approved the budget for the coming year.",
        "Bake the dough at 200 degrees for half an hour and let it cool down.",
        "The software reads a file, checks each line and writes the result to a table.",
        "The team won the match in the last minute and moved up to second place.",
        "Patients with a fever should drink a lot and see a doctor if it lasts longer than three days.",
        "The painter was born in a small village and studied at the academy of arts.",
        "Customers can return the goods within fourteen days if the packaging is not damaged.",
    ),
    "de": (
        "Der Fluss fließt durch ein breites Tal und erreicht nach dreihundert Kilometern das Meer.",
        "Der Ausschuss tagte am Dienstag und genehmigte den Haushalt für das kommende Jahr.",
        "Den Teig bei 200 Grad eine halbe Stunde backen und abkühlen lassen.",
        "Das Programm liest eine Datei, prüft jede Zeile und schreibt das Ergebnis in eine Tabelle.",
        "Die Mannschaft gewann das Spiel in der letzten Minute und rückte auf den zweiten Platz vor.",
        "Patienten mit Fieber sollten viel trinken und zum Arzt gehen, wenn es länger als drei Tage dauert.",
        "Der Maler wurde in einem kleinen Dorf geboren und studierte an der Akademie der Künste.",
        "Kunden können die Ware innerhalb von vierzehn Tagen zurückgeben, wenn die Verpackung unbeschädigt ist.",
    ),
    "ru": (
        "Река течёт по широкой долине и через триста километров впадает в море.",
        "Комитет собрался во вторник и утвердил бюджет на следующий год.",
        "Выпекайте тесто при 200 градусах полчаса и дайте ему остыть.",
        "Программа читает файл, проверяет каждую строку и записывает результат в таблицу.",
        "Команда выиграла матч на последней минуте и поднялась на второе место.",
        "Пациентам с температурой следует много пить и обратиться к врачу, если она держится дольше трёх дней.",
        "Художник родился в небольшой деревне и учился в академии художеств.",
        "Покупатели могут вернуть товар в течение четырнадцати дней, если упаковка не повреждена.",
    ),
    "cjk": (
        "这条河流经宽阔的山谷，三百公里后流入大海。",
        "委员会星期二开会，批准了明年的预算。",
        "面团在200度下烤半小时，然后放凉。",
        "程序读取文件，检查每一行，并把结果写入表格。",
        "球队在最后一分钟赢得比赛，升至第二名。",
        "发烧的病人应多喝水，如果超过三天应去看医生。",
        "这位画家出生在一个小村庄，曾在艺术学院学习。",
        "如果包装没有损坏，顾客可以在十四天内退货。",
    ),
}

# The language that stands in for those without texts of their own.
_STAND_IN: Language = "en"

Background = Mapping[Language, Vector]


def mean_vector(vectors: Sequence[Vector]) -> Vector:
    return tuple(sum(values) / len(vectors) for values in zip(*vectors, strict=True))


def nearness(query: Vector, background: Background) -> dict[Language, float]:
    """The mean cosine of a question to the background texts of each language."""
    return {
        language: sum(a * b for a, b in zip(query, background.get(language, background[_STAND_IN]), strict=True))
        for language in LANGUAGES
    }
