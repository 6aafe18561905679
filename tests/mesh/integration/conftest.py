"""One watched deployment for all that look at traces, figures and logs."""

from collections.abc import Iterator

import pytest

from tests.support.watched import Watched, watching


@pytest.fixture(scope="package")
def watched() -> Iterator[Watched]:
    with watching() as found:
        yield found
