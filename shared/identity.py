"""Who is asking, as every service of Achilles passes it on."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Role = Literal["user", "reviewer", "finance", "admin"]


class Identity(BaseModel):
    """The authenticated caller. It is handed to the Knowledge Store as it is and never taken from a request body.

    `groups` are sorted and unique, so that two equal identities are equal bytes.
    """

    model_config = ConfigDict(frozen=True)

    user_id: str = Field(min_length=1, max_length=200)
    display_name: str = Field(min_length=1, max_length=200)
    groups: tuple[str, ...] = ()
    department: str | None = None
    roles: tuple[Role, ...] = ("user",)

    def model_post_init(self, _context: object) -> None:
        object.__setattr__(self, "groups", tuple(sorted(set(self.groups))))
