"""How the parts beside the answers are doing, from what the database knows of them."""

from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncEngine

from shared.messaging.loop_health import OUR_CONSUMERS, HealthPolicy, Leg, judge, read_figures


@dataclass(frozen=True, slots=True)
class ReadLoopHealth:
    engine: AsyncEngine
    policy: HealthPolicy

    async def execute(self) -> tuple[Leg, ...]:
        async with self.engine.connect() as connection:
            figures = await read_figures(connection)
        return judge(figures, OUR_CONSUMERS, self.policy)
