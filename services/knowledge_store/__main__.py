"""`python -m services.knowledge_store`: serve until stopped."""

import uvicorn

from services.knowledge_store.main import create_app
from services.knowledge_store.settings import KnowledgeStoreSettings
from shared.settings import settings_or_exit
from shared.telemetry import configure_logging
from shared.trace_export import start_tracing


def main() -> None:
    settings = settings_or_exit(KnowledgeStoreSettings)
    configure_logging("knowledge_store", settings.log_level)
    start_tracing("knowledge_store")
    uvicorn.run(
        create_app(settings),
        host=settings.knowledge_host,
        port=settings.knowledge_port,
        log_config=None,
        access_log=False,
    )


if __name__ == "__main__":
    main()
