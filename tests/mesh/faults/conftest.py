"""Seeds and length of the chaos runs."""

import pytest


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "chaos_seed" in metafunc.fixturenames:
        first, count = (metafunc.config.getoption(name) for name in ("--chaos-first-seed", "--chaos-seeds"))
        metafunc.parametrize("chaos_seed", range(first, first + count))


@pytest.fixture
def chaos_seconds(request: pytest.FixtureRequest) -> float:
    """How long faults happen."""
    seconds: float = request.config.getoption("--chaos-seconds")
    return seconds
