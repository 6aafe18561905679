"""What must hold once everything has come to rest, each rule as the rows that break it.

Every query yields `subject` (the id whose history explains it) and `found`.
"""

from dataclasses import dataclass

from shared.usage.rollups import sums_of


@dataclass(frozen=True, slots=True)
class Rule:
    name: str
    offenders: str


# Effect, letter and settling are one transaction: an event that is nowhere at any moment is lost for good.
_GONE = """NOT EXISTS (SELECT FROM mesh.outbox o WHERE o.event_id = e.event_id)
           AND NOT EXISTS (SELECT FROM mesh.dead_letters d WHERE d.event_id = e.event_id::text)"""
# A trace goes with its conversation, and one that comes too late is applied as nothing.
_DELETED = "EXISTS (SELECT FROM chaos.deleted g WHERE g.conversation_id = (e.body->>'conversation_id')::uuid)"
LOST = "an event waits, is applied, or is dead-lettered"


def _applied(subject: str, table: str) -> Rule:
    exempt = f" AND NOT {_DELETED}" if table.startswith("traces.") else ""
    return Rule(
        f"{LOST}: {subject}",
        f"""SELECT e.event_id AS subject, e.subject || ' has no row in {table}' AS found FROM chaos.events e
            WHERE e.subject = 'achilles.{subject}' AND {_GONE}
            AND NOT EXISTS (SELECT FROM {table} t WHERE t.event_id = e.event_id){exempt}""",
    )


def _founded(table: str) -> Rule:
    return Rule(
        f"nothing stands in {table} that no event speaks of",
        f"""SELECT t.event_id AS subject, 'a row without an event' AS found FROM {table} t
            WHERE NOT EXISTS (SELECT FROM chaos.events e WHERE e.event_id = t.event_id)""",
    )


_EFFECTS = {
    "signal.v1.accessed": "signals.accesses",
    "signal.v1.usage": "signals.usage",
    "trace.v1.retrieved": "traces.retrievals",
    "trace.v1.run": "traces.runs",
}

LEDGER_RULES = (
    Rule(
        "the ledger is empty",
        "SELECT event_id AS subject, subject || ' waits at epoch ' || epoch AS found FROM mesh.outbox",
    ),
    *(_applied(subject, table) for subject, table in _EFFECTS.items()),
    *(_founded(table) for table in _EFFECTS.values()),
    Rule(
        "the newest canary of each stream has arrived",
        f"""SELECT e.event_id AS subject, 'a canary has not arrived' AS found FROM chaos.events e
            WHERE e.subject LIKE '%.canary' AND {_GONE} AND NOT EXISTS (
                SELECT FROM mesh.canaries c WHERE c.sent_at >= (e.body->>'occurred_at')::timestamptz
                AND c.consumer = CASE WHEN e.subject LIKE '%.signal.%' THEN 'signal_worker' ELSE 'trace_writer' END)""",
    ),
    Rule(
        "what is known of the store is the newest that was announced",
        f"""SELECT e.event_id AS subject, 'a knowledge change was not applied' AS found FROM chaos.events e
            WHERE e.subject LIKE '%.knowledge' AND {_GONE} AND NOT EXISTS (
                SELECT FROM signals.knowledge_state s WHERE s.store_id = e.body->>'store_id'
                AND s.knowledge_version >= (e.body->>'knowledge_version')::bigint)""",
    ),
    Rule(
        "only poison is dead-lettered",
        """SELECT event_id AS subject, subject || ' is a dead letter: ' || reason_class AS found FROM mesh.dead_letters
           WHERE event_id NOT IN (SELECT event_id::text FROM chaos.poison)""",
    ),
    Rule(
        "each poison is one dead letter",
        """SELECT p.event_id AS subject, count(d.id) || ' dead letters' AS found FROM chaos.poison p
           LEFT JOIN mesh.dead_letters d ON d.event_id = p.event_id::text
           GROUP BY p.event_id HAVING count(d.id) <> 1""",
    ),
)

FIGURE_RULES = (
    Rule(
        "access counters are a recount of the accesses",
        """SELECT coalesce(c.record_id, a.record_id) AS subject,
               'counted ' || coalesce(c.total, 0) || ', there are ' || coalesce(a.total, 0) AS found
           FROM signals.access_counters c FULL JOIN (
               SELECT record_id, kind, count(*) AS total, max(occurred_at) AS last_at
               FROM signals.accesses GROUP BY 1, 2) a USING (record_id, kind)
           WHERE (c.total, c.last_at) IS DISTINCT FROM (a.total, a.last_at)""",
    ),
    Rule(
        "the rating with the highest revision stands",
        """SELECT m.id AS subject, 'stands ' || coalesce(m.feedback::text, 'nothing') || ' of revision '
               || coalesce(m.feedback_revision::text, 'none') || ', the last one is '
               || (r.body->>'revision') AS found
           FROM (SELECT DISTINCT ON (body->>'message_id') body FROM chaos.events WHERE subject LIKE '%.rated'
                 ORDER BY body->>'message_id', (body->>'revision')::bigint DESC) r
           JOIN chat.messages m ON m.id = (r.body->>'message_id')::uuid
           WHERE (m.feedback, m.feedback_revision)
               IS DISTINCT FROM ((r.body->>'value')::smallint, (r.body->>'revision')::bigint)""",
    ),
    Rule(
        "every citation is one access, and every cited access a citation",
        """SELECT coalesce(c.message_id, a.message_id) AS subject,
               CASE WHEN a.message_id IS NULL THEN 'cited without an access: ' ELSE 'accessed without a citation: ' END
               || coalesce(c.record_id, a.record_id) AS found
           FROM (SELECT m.id AS message_id, one->>'record_id' AS record_id
                 FROM chat.messages m, jsonb_array_elements(m.citations) one) c
           FULL JOIN (SELECT message_id, record_id FROM signals.accesses WHERE kind = 'cited'
                          AND conversation_id NOT IN (SELECT conversation_id FROM chaos.deleted)) a
               USING (message_id, record_id)
           WHERE c.message_id IS NULL OR a.message_id IS NULL""",
    ),
    Rule(
        "usage and runs tell of the same calls, numbered from one, with the tokens of the message",
        """SELECT m.id AS subject, 'tokens of the message ' || m.tokens_used || ', of usage ' || coalesce(u.tokens, 0)
               || '; calls of usage ' || coalesce(u.calls, '{}')::text || ', of runs ' || coalesce(r.calls, '{}')::text
               AS found
           FROM chat.messages m
           LEFT JOIN (SELECT message_id, array_agg(provider_call ORDER BY provider_call) AS calls,
                          sum(input_tokens + output_tokens) AS tokens FROM signals.usage GROUP BY 1) u
               ON u.message_id = m.id
           LEFT JOIN (SELECT message_id, array_agg(provider_call ORDER BY provider_call) AS calls
                      FROM traces.runs GROUP BY 1) r ON r.message_id = m.id
           WHERE m.role = 'assistant' AND (
               m.tokens_used <> coalesce(u.tokens, 0) OR u.calls IS DISTINCT FROM r.calls
               OR u.calls IS DISTINCT FROM
                   (SELECT array_agg(n::int) FROM generate_series(1, cardinality(u.calls)) n))""",
    ),
    Rule(
        "sums of usage are those of its calls",
        f"""SELECT coalesce(kept.user_id, counted.user_id) AS subject,
               'sums of ' || coalesce(kept.calls, 0) || ' calls, counted ' || coalesce(counted.calls, 0) AS found
           FROM signals.usage_daily AS kept
           FULL JOIN ({sums_of("signals.usage")}) AS counted
               USING (day, user_id, department, provider, model, currency)
           WHERE (kept.calls, kept.answers, kept.cost, kept.input_tokens, kept.output_tokens) IS DISTINCT FROM
               (counted.calls, counted.answers, counted.cost, counted.input_tokens, counted.output_tokens)""",
    ),
    Rule(
        "an answer from knowledge has two calls and one retrieval, talk has one call and none",
        """SELECT m.id AS subject, m.outcome || ' with ' || count(DISTINCT r.event_id) || ' calls and '
               || count(DISTINCT t.event_id) || ' retrievals' AS found
           FROM chat.messages m LEFT JOIN traces.runs r ON r.message_id = m.id
           LEFT JOIN traces.retrievals t ON t.message_id = m.id
           WHERE m.outcome NOT IN ('failed', 'interrupted') GROUP BY m.id
           HAVING (count(DISTINCT r.event_id), count(DISTINCT t.event_id))
               <> CASE WHEN m.outcome = 'conversational' THEN (1::bigint, 0::bigint) ELSE (2::bigint, 1::bigint) END""",
    ),
)

TURN_RULES = (
    Rule(
        "every turn has ended",
        "SELECT message_id AS subject, 'still running' AS found FROM chat.turns WHERE state = 'running'",
    ),
    Rule(
        "every ended turn has its question and one answer of the same outcome",
        """SELECT t.message_id AS subject, t.outcome || ', but the message says ' || coalesce(m.outcome, 'nothing')
               AS found
           FROM chat.turns t LEFT JOIN chat.messages m ON m.id = t.message_id AND m.role = 'assistant'
           LEFT JOIN chat.messages q ON q.id = t.user_message_id AND q.role = 'user'
           WHERE t.state = 'finished' AND (m.outcome IS DISTINCT FROM t.outcome OR q.id IS NULL)""",
    ),
    Rule(
        "every message belongs to a turn",
        """SELECT m.id AS subject, 'a message of nobody: ' || m.role AS found FROM chat.messages m
           WHERE NOT EXISTS (SELECT FROM chat.turns t WHERE m.id IN (t.message_id, t.user_message_id))""",
    ),
)

RULES = (*LEDGER_RULES, *FIGURE_RULES, *TURN_RULES)
