"""docs/settings.md, written from the catalog."""

from services.achilles_cli.settings_catalog import SettingEntry

_HEAD = """# Settings

Written by `achilles settings --markdown`; do not edit by hand. Each setting is an environment variable. A duration is a
number of seconds or an ISO 8601 duration (`30`, `PT30S`). `NAME_FILE` names a file that holds the value, which suits
secrets (🔒). An empty default means: not set. What is wrong with a setting is said on standard error when a process
starts, and it exits with status 2.

| variable | what it is | default | kind | read by |
|---|---|---|---|---|
"""
_TAIL = """
## Variables of the command

| variable | what it is |
|---|---|
| `ACHILLES_DATA_DIR` | where `achilles up` keeps everything, and where other commands find it |
| `ACHILLES_RUN_AS` | the user that `achilles up`, started by root, runs servers and services as |
| `ACHILLES_URL` | the front that `achilles ask` and `achilles keys` speak to, if it is not the one that runs here |
| `ACHILLES_TOKEN` | bearer token that `achilles ask` and `achilles keys` send, where there is no demo login |
| `ACHILLES_DEBUG` | `1` shows the traceback of a fault instead of one line |

`achilles` also reads `ACHILLES_DATABASE_URL`, `ACHILLES_KNOWLEDGE_DATABASE_URL`, `ACHILLES_NATS_URL`,
`ACHILLES_REDIS_URL`, `ACHILLES_KNOWLEDGE_URL`, `ACHILLES_KNOWLEDGE_TOKEN`, `ACHILLES_HOST` and `ACHILLES_PORT`, where
servers of one's own replace the embedded ones.

The Knowledge Store's own consumer of access signals reads `ACHILLES_BATCH_SIZE`, `ACHILLES_FETCH_WAIT`,
`ACHILLES_ACK_WAIT`, `ACHILLES_MAX_DELIVER` and `ACHILLES_CONSUMER_CHECK_EVERY` as the workers do.

`PGSSLMODE` and `PGSSLROOTCERT` rule TLS to PostgreSQL, `SSL_CERT_FILE` the certificates that are trusted elsewhere.
"""


def settings_page(entries: tuple[SettingEntry, ...]) -> str:
    return _HEAD + "".join(_row(entry) for entry in entries) + _TAIL


def _row(entry: SettingEntry) -> str:
    lock = " 🔒" if entry.is_secret else ""
    default = "**required**" if entry.default is None else f"`{entry.default}`" if entry.default else ""
    meaning = f"{entry.meaning}; else `{entry.alternative}`" if entry.alternative else entry.meaning
    cells = (f"`{entry.variable}`{lock}", meaning, default, entry.kind, ", ".join(entry.services))
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"
