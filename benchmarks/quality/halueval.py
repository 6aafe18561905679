"""QUAL-3: right and hallucinated answers of HaluEval in like full sentences, with plain substring search beside."""

from benchmarks.gate.corpus import Fusion, read_fusions
from benchmarks.quality.answering import answer
from benchmarks.quality.report import Case, Finding, Row
from services.chat_api.use_cases.judged_release import Judging

RIGHT = Row("QUAL-3", "HaluEval: right answers released", 0.95, at_most=False)
WRONG = Row("QUAL-3", "HaluEval: hallucinated ones released", 0.10)
JUDGED_RIGHT = Row("QUAL-3", "HaluEval past the judge: right released", 0.95, at_most=False)
JUDGED_WRONG = Row("QUAL-3", "HaluEval past the judge: hallucinated released", 0.05)
PLAIN_RIGHT = Row("QUAL-3", "  substring search: right as they stand")
PLAIN_WRONG = Row("QUAL-3", "  substring search: hallucinated as they stand")


async def measure_halueval(limit: int, judging: Judging | None = None) -> list[Finding]:
    fusions = read_fusions()[:limit]
    rows = (JUDGED_RIGHT, JUDGED_WRONG) if judging else (RIGHT, WRONG)
    found = [
        Finding(rows[0], "en", [await _try(fusion, fusion.right, judging) for fusion in fusions]),
        Finding(rows[1], "en", [await _try(fusion, fusion.hallucinated, judging) for fusion in fusions]),
    ]
    if judging is None:
        found += [
            Finding(PLAIN_RIGHT, "en", [_search(fusion, fusion.right) for fusion in fusions]),
            Finding(PLAIN_WRONG, "en", [_search(fusion, fusion.hallucinated) for fusion in fusions]),
        ]
    return found


async def _try(fusion: Fusion, told: str, judging: Judging | None) -> Case:
    said = f"{fusion.question.rstrip('? ')}: {told.rstrip('.')}."
    got = await answer(fusion.question, (fusion.knowledge,), f"{said} [1]", judging)
    released = not got.quoted and not got.reasons and bool(got.text)
    return Case(released, fusion.question, said, got.text, ", ".join(got.reasons), -len(told))


def _search(fusion: Fusion, told: str) -> Case:
    stands = told.strip(" .").casefold() in fusion.knowledge.text.casefold()
    return Case(stands, fusion.question, told)
