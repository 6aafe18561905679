"""Every table of the product's own database; importing this package fills the metadata."""

from shared.database.tables import administration, chat, logins, mesh, signals, traces, usage

__all__ = ["administration", "chat", "logins", "mesh", "signals", "traces", "usage"]
