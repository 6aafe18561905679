import pytest

from tests.support.metric_names import asked_names, shown_names

pytestmark = [pytest.mark.unit, pytest.mark.p1]


@pytest.mark.parametrize(
    ("expression", "names"),
    [
        ("max(a_rows) > 60", {"a_rows"}),
        ('sum by (le, consumer) (rate(a_bucket{result="denied",x=~"b.*"}[5m])) > 0.5', {"a_bucket"}),
        ("a_sum / a_count and on () (max(b) == 0)", {"a_sum", "a_count", "b"}),
        ("c * on (instance) group_left (service) d", {"c", "d"}),
        ('absent(up{job="e"}) or f', {"up", "f"}),
    ],
    ids=["plain", "labels", "ratio", "joined", "absent"],
)
def test_the_series_of_an_expression_are_found(expression: str, names: set[str]) -> None:
    assert asked_names(expression) == names


def test_a_histogram_is_three_series_and_shown_before_anything_is_counted() -> None:
    scrape = "# HELP a x\n# TYPE a histogram\n# TYPE b_total counter\n# TYPE c gauge\nc 1.0\n"
    assert shown_names(scrape) == {"a_bucket", "a_sum", "a_count", "b_total", "c"}
