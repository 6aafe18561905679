"""Documents become chunks that keep their headings, their tables and a size one embedding can stand for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.knowledge_store.domain.chunking import MAX_WORDS, chunk_markdown, chunk_plain_text, measure

pytestmark = [pytest.mark.unit, pytest.mark.p1]

SENTENCE = "The quick brown fox jumps over the lazy dog near the river bank. "


def test_chunk_starts_with_the_path_of_its_headings() -> None:
    text = "# Leave\n\n## Annual leave\n\n28 days.\n\n### Carrying over\n\nUntil March.\n\n## Sick leave\n\nCall."
    assert chunk_markdown("Leave", text) == [
        "# Leave > Annual leave\n28 days.",
        "# Leave > Annual leave > Carrying over\nUntil March.",
        "# Leave > Sick leave\nCall.",
    ]


def test_title_that_is_no_heading_leads_the_path() -> None:
    assert chunk_markdown("Handbook", "## Leave\n28 days") == ["# Handbook > Leave\n28 days"]


def test_underlined_heading_is_a_heading() -> None:
    assert chunk_markdown("T", "Leave\n=====\n28 days\n\nSick\n----\nCall") == [
        "# T > Leave\n28 days",
        "# T > Leave > Sick\nCall",
    ]


def test_hash_in_a_code_block_is_no_heading() -> None:
    chunks = chunk_markdown("T", "# T\n```sh\n# not a heading\nrm x\n```\n")
    assert chunks == ["# T\n```sh\n# not a heading\nrm x\n```"]


def test_long_section_is_split_between_paragraphs() -> None:
    paragraphs = [f"Paragraph {n}. " + SENTENCE * 5 for n in range(8)]
    chunks = chunk_markdown("T", "# T\n\n" + "\n\n".join(paragraphs))
    assert len(chunks) > 1
    assert all(measure(chunk) <= MAX_WORDS + 10 for chunk in chunks)
    assert all(sum(f"Paragraph {n}." in chunk for chunk in chunks) == 1 for n in range(8))


def test_table_is_kept_whole() -> None:
    rows = "\n".join(f"| step {n} | {n * 1000} |" for n in range(30))
    table = f"| band | salary |\n|---|---|\n{rows}"
    chunks = chunk_markdown("Pay", f"# Pay\n\n{SENTENCE * 10}\n\n{table}\n\n{SENTENCE * 10}")
    assert sum(table in chunk for chunk in chunks) == 1


def test_long_table_repeats_its_header_in_every_part() -> None:
    rows = "\n".join(f"| step {n} of the pay scale | {n * 1000} euros a year |" for n in range(200))
    chunks = chunk_markdown("Pay", f"# Pay\n\n| band | salary |\n|---|---|\n{rows}")
    assert len(chunks) > 3
    assert all("| band | salary |\n|---|---|" in chunk for chunk in chunks)


def test_chinese_is_counted_by_characters() -> None:
    chunks = chunk_plain_text("假期", "员工每年享有二十八天年假。" * 100)
    assert len(chunks) > 3
    assert all(measure(chunk) <= MAX_WORDS + 10 for chunk in chunks)
    assert all(chunk.endswith("。") for chunk in chunks)


def test_text_without_any_break_is_still_split() -> None:
    chunks = chunk_plain_text("T", "x" * 50_000)
    assert max(len(chunk) for chunk in chunks) < 6_000


def test_empty_text_has_no_chunk() -> None:
    assert chunk_markdown("T", "# T\n\n\n") == []


@given(st.text(alphabet="abc #|-\n.。员`*1", max_size=400))
def test_no_word_is_lost(text: str) -> None:
    chunks = "".join(chunk_plain_text("T", text))
    for character in "abc员1":
        assert chunks.count(character) >= text.count(character)
