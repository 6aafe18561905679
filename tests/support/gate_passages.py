"""Small packed passages in four languages, and a gate run over a whole answer."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from services.chat_api.domain.grounding.gate import GroundingGate
from services.chat_api.domain.passages import Passage


def make_passage(n: int, title: str, text: str, *, chunk_id: str = "") -> Passage:
    return Passage(n, f"record-{n}", chunk_id or f"chunk-{n}", title, text, f"https://wiki.example/{n}", "wiki")


ENGLISH = (
    make_passage(
        1,
        "Leave policy",
        "# Leave > Annual leave\nFull-time employees receive 28 days of paid annual leave per year. Leave must be "
        "requested at least two weeks in advance through the HR portal. Unused days do not carry over to the next "
        "year. Managers may approve exceptions in writing.",
    ),
    make_passage(
        2,
        "Travel expenses",
        "Travel costs are reimbursed within 30 days. The daily allowance is 1,500 euros for trips to Berlin, and hotel "
        "costs up to $250 per night are covered. Contact Anna Schmidt at travel@acme.example or see form TR-204. The "
        "policy took effect on 3 May 2021.",
    ),
)
GERMAN = (
    make_passage(
        1,
        "Urlaubsregelung",
        "Vollzeitbeschäftigte erhalten 28 Tage bezahlten Jahresurlaub. Der Urlaub muss mindestens zwei Wochen im "
        "Voraus über das Personalportal beantragt werden. Nicht genommene Tage verfallen am 31. März des Folgejahres.",
    ),
    make_passage(
        2,
        "Reisekosten",
        "Die Tagespauschale beträgt 1.500 Euro. Reisekosten werden innerhalb von 30 Tagen erstattet. Ansprechpartnerin "
        "ist Anna Schmidt. Die Richtlinie gilt seit dem 3. Mai 2021.",
    ),
)
RUSSIAN = (
    make_passage(
        1,
        "Отпуск",
        "Штатные сотрудники получают 28 дней оплачиваемого отпуска в год. Заявление необходимо подать не менее чем за "
        "две недели через портал отдела кадров. Неиспользованные дни не переносятся на следующий год.",
    ),
    make_passage(
        2,
        "Командировки",
        "Суточные составляют 1 500 рублей. Расходы возмещаются в течение 30 дней. Контактное лицо — Анна Шмидт. "
        "Правила действуют с 3 мая 2021 года.",
    ),
)
CHINESE = (
    make_passage(
        1,
        "休假制度",
        "全职员工每年享有28天带薪年假。休假必须至少提前两周通过人事系统申请。未使用的假期不能结转到下一年。",
    ),
    make_passage(
        2,
        "差旅费用",
        "每日津贴为1500元。差旅费用在30天内报销。联系人是安娜·施密特。该制度自2021年5月3日起生效。",
    ),
)
QUESTIONS = {
    "en": "How many days of annual leave do I get?",
    "de": "Wie viele Tage Jahresurlaub habe ich?",
    "ru": "Сколько дней отпуска?",
    "zh": "年假有多少天？",
}
PACKED = {"en": ENGLISH, "de": GERMAN, "ru": RUSSIAN, "zh": CHINESE}


@dataclass(frozen=True, slots=True)
class GatedAnswer:
    text: str
    reasons: tuple[str, ...]
    cited: tuple[int, ...]
    gate: GroundingGate


def pass_through(answer: str, passages: Sequence[Passage], question: str, sizes: Iterable[int] = ()) -> GatedAnswer:
    """The answer in deltas of the given sizes; the rest of it, or all of it, in one."""
    gate = GroundingGate(question, passages)
    released = []
    rest = answer
    for size in sizes:
        released += gate.feed(rest[:size])
        rest = rest[size:]
    released += gate.feed(rest) + gate.finish()
    reasons = tuple(rejection.reason.value for rejection in gate.rejections)
    return GatedAnswer("".join(piece.text for piece in released), reasons, gate.cited, gate)
