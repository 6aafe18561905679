"""The one way in which a turn ends (docs/spec/query-engine.md, "The turn, in order")."""

from typing import Literal

Outcome = Literal[
    "conversational",
    "grounded",
    "partial",
    "withheld",
    "not_found",
    "clarify",
    "refused",
    "failed",
    "interrupted",
]
EvidenceOutcome = Literal["hits", "empty", "withheld", "mixed"]


def outcome_of_evidence(evidence: EvidenceOutcome, *, answered: bool) -> Outcome:
    """`answered` says whether any sentence passed the gate. A failure never reaches this function."""
    if evidence == "empty":
        return "not_found"
    if evidence == "withheld":
        return "withheld"
    if not answered:
        return "withheld" if evidence == "mixed" else "not_found"
    return "partial" if evidence == "mixed" else "grounded"
