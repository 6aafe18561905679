"""Who may read a record, and what may be said of it to those who may not."""

from dataclasses import dataclass

from shared.identity import Identity


@dataclass(frozen=True, slots=True)
class Access:
    """The readers of a record. Not public and without readers: closed to everybody."""

    is_public: bool = False
    users: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()

    @property
    def readers(self) -> tuple[str, ...]:
        """The principals that may read, sorted: `user:<id>` and `group:<name>`."""
        return tuple(sorted({f"user:{user}" for user in self.users} | {f"group:{group}" for group in self.groups}))


PUBLIC = Access(is_public=True)
CLOSED = Access()


@dataclass(frozen=True, slots=True)
class AccessSettings:
    """What an access file or a front matter declares; `None` means not declared there."""

    access: Access | None = None
    author: str | None = None
    contact: str | None = None
    source_system: str | None = None
    hint: bool | None = None
    title: str | None = None
    url: str | None = None

    def over(self, inherited: "AccessSettings") -> "AccessSettings":
        """These settings, with what they leave out taken from `inherited` (title and url are a file's own)."""
        return AccessSettings(
            access=self.access if self.access is not None else inherited.access,
            author=self.author if self.author is not None else inherited.author,
            contact=self.contact if self.contact is not None else inherited.contact,
            source_system=self.source_system if self.source_system is not None else inherited.source_system,
            hint=self.hint if self.hint is not None else inherited.hint,
            title=self.title,
            url=self.url,
        )


def principals_of(identity: Identity | None) -> tuple[str, ...]:
    """The principals of a caller; an anonymous one has none and reads only what is public."""
    if identity is None:
        return ()
    return (f"user:{identity.user_id}", *(f"group:{group}" for group in identity.groups))
