"""`/livez` and `/readyz` for every service: alive means the loop turns, ready says what is not and why."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

Check = Callable[[], Awaitable[None]]
_CHECK_SECONDS = 3.0


class NotReadyError(Exception):
    """Raised by a check; its text is for an operator and holds no secret."""


async def _outcome(check: Check) -> str:
    try:
        async with asyncio.timeout(_CHECK_SECONDS):
            await check()
    except NotReadyError as fault:
        return str(fault)
    except TimeoutError:
        return f"no answer within {_CHECK_SECONDS:.0f} s"
    except Exception as fault:  # noqa: BLE001 (a check must never break the health page)
        return f"unreachable ({type(fault).__name__})"
    return "ok"


async def run_checks(checks: Mapping[str, Check]) -> dict[str, str]:
    """Every check's name with `ok` or the reason, all run at once."""
    outcomes = await asyncio.gather(*(_outcome(check) for check in checks.values()))
    return dict(zip(checks, outcomes, strict=True))


def health_routes(checks: Mapping[str, Check]) -> list[Route]:
    """`GET /livez` answers 200 while the process serves; `GET /readyz` 200 or 503 with each part's state."""

    async def livez(_request: Request) -> Response:
        return JSONResponse({"status": "alive"})

    async def readyz(_request: Request) -> Response:
        outcomes = await run_checks(checks)
        ready = all(outcome == "ok" for outcome in outcomes.values())
        body = {"status": "ready" if ready else "not ready", "checks": outcomes}
        return JSONResponse(body, status_code=200 if ready else 503, headers={"cache-control": "no-store"})

    return [Route("/livez", livez), Route("/readyz", readyz)]


def database_check(engine: AsyncEngine) -> Check:
    async def check() -> None:
        async with engine.connect() as connection:
            await connection.execute(text("SELECT 1"))

    return check
