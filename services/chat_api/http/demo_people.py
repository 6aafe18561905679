"""The people of the demo login, from a file. Only served on loopback and without an issuer."""

from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict

from shared.identity import Identity, Role

DEMO_PEOPLE_FILE = Path(__file__).parent.parent / "demo_people.yaml"


class DemoPerson(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    user_id: str
    display_name: str
    department: str | None = None
    groups: tuple[str, ...] = ()
    roles: tuple[Role, ...] = ("user",)
    description: str = ""

    @property
    def identity(self) -> Identity:
        return Identity(
            user_id=self.user_id,
            display_name=self.display_name,
            groups=self.groups,
            department=self.department,
            roles=self.roles,
        )


class DemoPeople(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    people: tuple[DemoPerson, ...]

    def find(self, user_id: str) -> DemoPerson | None:
        return next((person for person in self.people if person.user_id == user_id), None)


def read_demo_people(path: Path = DEMO_PEOPLE_FILE) -> DemoPeople:
    return DemoPeople.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
