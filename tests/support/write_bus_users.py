"""Write the users of the bus as NATS reads them, for deployments: `python -m tests.support.write_bus_users`.

Passwords are variables that `passwords.conf` beside it sets, so that the file itself holds no secret.
"""

import json
import re
from pathlib import Path

from shared.embedded.nats import NatsUser, user_entry
from shared.messaging.bus_users import BUS_USERS

BUS_USERS_FILE = Path(__file__).parents[2] / "deploy/helm/achilles/files/bus-users.conf"
_HEADER = """# Written by `python -m tests.support.write_bus_users` from shared/messaging/bus_users.py.
include passwords.conf
"""


def password_variable(user: NatsUser) -> str:
    return f"BUS_PASSWORD_{user.name.upper()}"


def bus_users_text() -> str:
    users = [user_entry(user, f"${password_variable(user)}") for user in BUS_USERS]
    text = json.dumps({"authorization": {"users": users}}, indent=2)
    # A quoted name would be the password itself.
    inner = re.sub(r'"(\$BUS_PASSWORD_\w+)"', r"\1", text).removeprefix("{\n").removesuffix("\n}")
    return _HEADER + inner.replace('"authorization": {', "authorization {", 1) + "\n"


if __name__ == "__main__":
    BUS_USERS_FILE.write_text(bus_users_text())
