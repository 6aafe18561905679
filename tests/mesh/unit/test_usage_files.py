"""Files of usage: what a spreadsheet must not calculate, what must stay exact, and what Parquet gives back."""

import csv
import io
from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.chat_api.adapters.csv_file import CsvFile, harmless
from services.chat_api.adapters.parquet_file import ParquetFile
from services.chat_api.domain.table_columns import Column, TableFile, TableRow
from services.chat_api.domain.usage_row import decimal_text

pytestmark = [pytest.mark.unit, pytest.mark.p1]
_COLUMNS = (
    Column("day", "day"),
    Column("at", "instant"),
    Column("name", "text"),
    Column("cost", "amount"),
    Column("calls", "count"),
    Column("share", "share"),
)
_ROWS: list[TableRow] = [
    (date(2026, 11, 30), datetime(2026, 11, 30, tzinfo=UTC), "Ada", Decimal("0.0000000001"), 3, 0.25),
    (date(2026, 12, 1), None, None, None, -1, None),
    (date(2026, 12, 2), None, "研发", Decimal("-12345678901234567890.5000000000"), 9_007_199_254_740_993, 1.0),
]


def _file(file: TableFile, *batches: list[TableRow]) -> bytes:
    return file.begin() + b"".join(file.add(batch) for batch in batches) + file.end()


def _read(content: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")))


@pytest.mark.req("MESH-13")
@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("=1+1", "'=1+1"),
        ("+49 30 1234", "'+49 30 1234"),
        ("-2+3+cmd|' /C calc'!A0", "'-2+3+cmd|' /C calc'!A0"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t'=1"),
        ("\r=1", "'\r'=1"),
        ("  =1", "'  =1"),
        ("＝1", "'＝1"),
        ("a;=1+1", "a;'=1+1"),
        ('x",=1', "x\",'=1"),
        ("a\n=1", "a\n'=1"),
        ("Smith-Jones", "Smith-Jones"),
        ("R&D = fun", "R&D = fun"),
        ("anna@example.org", "anna@example.org"),
        ("", ""),
    ],
    ids=range(15),
)
def test_no_text_is_a_formula(hostile: str, shown: str) -> None:
    assert harmless(hostile) == shown
    cell = _read(_file(CsvFile([Column("name", "text")], for_people=True), [(hostile,)]))[1:]
    assert cell == [[shown]]


@pytest.mark.req("MESH-13")
@given(st.text(max_size=30))
def test_nothing_that_comes_out_begins_a_formula_at_any_separator(text: str) -> None:
    for separator in ",;\t|\"'\r\n":
        for cell in harmless(text).split(separator):
            begins = cell.lstrip(" \u00a0\u3000")[:1]
            assert begins not in ("=", "+", "-", "@", "＝", "＋", "－", "＠") or separator == "'"


def test_numbers_stay_numbers_and_unknown_is_empty() -> None:
    content = _file(CsvFile(_COLUMNS, for_people=False), _ROWS)
    assert content.endswith(b"\r\n")
    assert not content.startswith(b"\xef\xbb\xbf")
    assert _read(content) == [
        ["day", "at", "name", "cost", "calls", "share"],
        ["2026-11-30", "2026-11-30T00:00:00Z", "Ada", "0.0000000001", "3", "0.25"],
        ["2026-12-01", "", "", "", "-1", ""],
        ["2026-12-02", "", "研发", "-12345678901234567890.5", "9007199254740993", "1.0"],
    ]


def test_a_file_for_people_says_that_it_is_utf_8() -> None:
    assert _file(CsvFile(_COLUMNS, for_people=True)).startswith("\ufeffday,".encode())


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**20), max_value=10**20, places=10))
def test_a_decimal_is_written_with_every_digit_and_no_exponent(amount: Decimal) -> None:
    text = decimal_text(amount)
    assert Decimal(text) == amount
    assert "E" not in text.upper()


@pytest.mark.req("MESH-13")
def test_parquet_is_read_back_exactly_however_it_was_written() -> None:
    content = _file(ParquetFile(_COLUMNS, {"achilles.from": "2026-11-30"}), _ROWS[:1], [], _ROWS[1:])
    table = pq.read_table(io.BytesIO(content))
    assert table.schema.field("day").type == pa.date32()
    assert table.schema.field("at").type == pa.timestamp("us", tz="UTC")
    assert table.schema.field("cost").type == pa.decimal128(38, 10)
    assert table.schema.field("calls").type == pa.int64()
    assert table.schema.metadata[b"achilles.from"] == b"2026-11-30"
    assert [tuple(row.values()) for row in table.to_pylist()] == _ROWS


def test_many_rows_are_written_in_groups_and_none_is_lost() -> None:
    row = _ROWS[0]
    content = _file(ParquetFile(_COLUMNS, {}), *([[row] * 9_000] * 5))
    read = pq.ParquetFile(io.BytesIO(content))
    assert (read.metadata.num_rows, read.metadata.num_row_groups) == (45_000, 2)


def test_a_table_without_rows_is_a_file_with_its_columns() -> None:
    assert pq.read_table(io.BytesIO(_file(ParquetFile(_COLUMNS, {})))).column_names == [one.name for one in _COLUMNS]
    assert _read(_file(CsvFile(_COLUMNS, for_people=True), [])) == [[one.name for one in _COLUMNS]]
