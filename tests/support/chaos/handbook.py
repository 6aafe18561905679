"""The few pages that are asked about under faults, and the one right answer to each question."""

from dataclasses import dataclass

GREETING = "Hello"
GREETING_ANSWER = "Hello! Ask me something."


@dataclass(frozen=True, slots=True)
class HandbookPage:
    topic: str
    record_id: str
    title: str
    sentence: str


PAGES = (
    HandbookPage("leave", "handbook/leave.md", "Annual leave", "Every employee has 28 days of annual leave."),
    HandbookPage("leave", "handbook/carry.md", "Carrying leave over", "Unused leave of five days may be carried over."),
    HandbookPage("travel", "handbook/travel.md", "Business travel", "Trips by train are booked in second class."),
    HandbookPage("travel", "handbook/meals.md", "Travel meals", "Meals on travel are paid up to 40 euros a day."),
    HandbookPage("laptop", "handbook/laptop.md", "Laptops", "A laptop is replaced after four years of use."),
    HandbookPage("laptop", "handbook/disk.md", "Laptop disks", "The disk of each laptop is encrypted."),
)
QUESTIONS = tuple(f"What are the rules for {topic}?" for topic in dict.fromkeys(page.topic for page in PAGES))


def is_greeting(message: str) -> bool:
    return message.startswith(GREETING)


def pages_for(query: str) -> tuple[HandbookPage, ...]:
    return tuple(page for page in PAGES if page.topic in query)


def answer_to(question: str) -> str:
    """What the model says; every sentence is a page's own, so that all of it passes the gate."""
    if is_greeting(question):
        return GREETING_ANSWER
    return " ".join(f"{page.sentence} [{n}]" for n, page in enumerate(pages_for(question), start=1))
