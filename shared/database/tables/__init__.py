"""Every table of the product's own database; importing this package fills the metadata."""

from shared.database.tables import chat, logins, mesh, signals, traces

__all__ = ["chat", "logins", "mesh", "signals", "traces"]
