"""Counts turn by turn and event by event, and tells each violation with its history."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import asyncpg

from tests.support.chaos.chronicle import Chronicle, Entry, SeenTurn
from tests.support.chaos.handbook import answer_to
from tests.support.chaos.journal import journal_of
from tests.support.chaos.rules import RULES

_SHOWN_AT_MOST = 5


@dataclass(frozen=True, slots=True)
class Violation:
    rule: str
    subject: str
    found: str


@dataclass(frozen=True, slots=True)
class StoredTurn:
    message_id: str
    question: str
    outcome: str
    content: str


_STORED = """
SELECT m.id::text AS message_id, q.content AS question, m.outcome, m.content
FROM chat.turns t JOIN chat.messages m ON m.id = t.message_id JOIN chat.messages q ON q.id = t.user_message_id
"""


async def find_violations(connection: asyncpg.Connection, chronicle: Chronicle) -> list[Violation]:
    found = [Violation("no process ends by itself", "", text) for text in chronicle.self_ended]
    for rule in RULES:
        for row in await connection.fetch(rule.offenders):
            found.append(Violation(rule.name, str(row["subject"]), row["found"]))
    stored = {row["message_id"]: StoredTurn(**row) for row in await connection.fetch(_STORED)}
    found.extend(_half_written(stored))
    deleted = {str(row[0]) for row in await connection.fetch("SELECT conversation_id FROM chaos.deleted")}
    found.extend(Violation("a deleted conversation is gone", one, "") for one in chronicle.deletions - deleted)
    found.extend(_told_otherwise(stored, [seen for seen in chronicle.turns if seen.conversation_id not in deleted]))
    found.extend(await _accepted_and_lost(connection, chronicle))
    return found


def _half_written(stored: dict[str, StoredTurn]) -> Iterator[Violation]:
    """An ended answer is the whole one; an interrupted or failed one holds a beginning of it, or nothing."""
    for turn in stored.values():
        whole = answer_to(turn.question)
        complete = turn.outcome in ("grounded", "conversational")
        unfinished = turn.outcome in ("interrupted", "failed")
        if complete and turn.content != whole:
            yield Violation("no message is half-written", turn.message_id, f"{turn.outcome}: {turn.content!r}")
        elif unfinished and not _begins(whole, turn.content):
            yield Violation("an unfinished message is a beginning", turn.message_id, repr(turn.content))
        elif not complete and not unfinished:
            yield Violation("no outcome but those that the model can cause", turn.message_id, turn.outcome)


def _begins(whole: str, content: str) -> bool:
    """The front closes what it released with a sentence of its own, after an empty line."""
    return whole.startswith(content.partition("\n\n")[0].rstrip())


def _told_otherwise(stored: dict[str, StoredTurn], turns: Sequence[SeenTurn]) -> Iterator[Violation]:
    for seen in turns:
        turn = stored.get(seen.message_id)
        if turn is None:
            yield Violation("what a client was told of is stored", seen.message_id, seen.closing)
        elif not _agree(seen, turn):
            said = f"told {seen.closing} {seen.outcome or seen.error_code}: {seen.text!r}"
            yield Violation(
                "what a client was told is what is stored",
                seen.message_id,
                f"{said}; stored {turn.outcome}: {turn.content!r}",
            )


def _agree(seen: SeenTurn, turn: StoredTurn) -> bool:
    """A stream that broke off, or that said itself that nothing was saved, promised nothing."""
    if seen.closing == "none" or seen.error_code == "not_saved":
        return True
    outcome = seen.outcome if seen.closing == "finished" else seen.closing
    return turn.outcome == outcome and (seen.closing == "failed" or turn.content == seen.text)


async def _accepted_and_lost(connection: asyncpg.Connection, chronicle: Chronicle) -> list[Violation]:
    """An accepted rating or click is in the ledger's journal; and nobody clicked what stands there as clicked."""
    revisions = {row[0] for row in await connection.fetch("SELECT (body->>'revision')::bigint FROM chaos.events")}
    clicks = {row[0] for row in await connection.fetch("SELECT click_id FROM signals.accesses WHERE kind = 'clicked'")}
    lost_ratings = [one for one in chronicle.ratings if one.revision not in revisions]
    lost_clicks = [one for one in chronicle.clicks if one.click_id not in clicks]
    return [
        *(Violation("an accepted rating is an event", one.message_id, str(one.revision)) for one in lost_ratings),
        *(Violation("an accepted click is an access", one.message_id, one.click_id) for one in lost_clicks),
        *(Violation("a click was made by somebody", "", one) for one in clicks - chronicle.clicks_tried),
    ]


async def told(connection: asyncpg.Connection, chronicle: Chronicle, violations: list[Violation]) -> str:
    """Each violation with what people and the ledger saw of it, and the faults near it in time."""
    lines = [f"{len(violations)} violations"]
    for violation in violations[:_SHOWN_AT_MOST]:
        lines.append(f"* {violation.rule}: {violation.subject} {violation.found}")
        lines.extend(f"    {entry}" for entry in await _history(connection, chronicle, violation.subject))
    lines.extend(f"* {one.rule}: {one.subject} {one.found}" for one in violations[_SHOWN_AT_MOST:50])
    return "\n".join(lines)


async def _history(connection: asyncpg.Connection, chronicle: Chronicle, subject: str) -> list[Entry]:
    ledger = await journal_of(connection, chronicle, [subject])
    chronicle.entries.extend(ledger)
    return chronicle.history_of([subject, *(one for entry in ledger for one in entry.subjects)])
