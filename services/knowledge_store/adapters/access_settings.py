"""`_access.yaml` and front matter, from YAML to `AccessSettings`; what is not understood is an error, never a guess."""

from collections.abc import Hashable
from datetime import date
from typing import Annotated, TypeVar

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from services.knowledge_store.domain.access import Access, AccessSettings
from services.knowledge_store.domain.errors import InvalidAccessError

ACCESS_FILE_NAME = "_access.yaml"

_FENCE = "---"


class _StrictLoader(yaml.SafeLoader):
    """YAML that declares a key twice says two things at once: that is an error, not a choice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, object]:
        keys = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        twice = next((key for n, key in enumerate(keys) if key in keys[:n]), None)
        if twice is not None:
            raise yaml.constructor.ConstructorError(
                problem=f"{twice!r} stands here twice", problem_mark=node.start_mark
            )
        return super().construct_mapping(node, deep)


def _as_text(value: object) -> object:
    """A title may look like a number or a date to YAML."""
    return str(value) if isinstance(value, int | float | date) else value


_Name = Annotated[str, Field(min_length=1, max_length=200)]
# Nothing that a browser would run: the link is shown beside the answer.
_Link = Annotated[str, Field(pattern=r"^(https?://|/[^/\s])\S*$", max_length=2_000)]


class _AccessDeclaration(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    public: bool = False
    users: list[_Name] = []
    groups: list[_Name] = []

    @model_validator(mode="after")
    def _says_one_thing(self) -> "_AccessDeclaration":
        if not self.model_fields_set:
            raise ValueError("say 'public: true', or name users or groups (empty lists close it to everybody)")
        if self.public and (self.users or self.groups):
            raise ValueError("'public: true' and users or groups exclude each other")
        return self


class _FolderDeclaration(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    access: _AccessDeclaration | None = None
    author: _Name | None = None
    contact: _Name | None = None
    source_system: _Name | None = None
    hint: bool | None = None


class _FileDeclaration(_FolderDeclaration):
    # Front matter carries many other keys (tags, dates) that are none of ours.
    model_config = ConfigDict(extra="ignore", strict=True)

    title: Annotated[_Name | None, BeforeValidator(_as_text)] = None
    url: _Link | None = None


_Declaration = TypeVar("_Declaration", bound=_FolderDeclaration)


def parse_access_file(text: str) -> AccessSettings:
    """The settings of a folder; an empty file declares nothing."""
    return _settings(_validated(_FolderDeclaration, _load_yaml(text, first_line=1)))


def split_front_matter(text: str) -> tuple[AccessSettings, str]:
    """The settings in the leading `---` block, and the text after it."""
    lines = text.split("\n")
    if lines[0].rstrip() != _FENCE:
        return AccessSettings(), text
    end = next((n for n, line in enumerate(lines[1:], start=1) if line.rstrip() in (_FENCE, "...")), None)
    if end is None:
        # A rule as the first line of a text is legal; a key right below it means an unclosed declaration.
        if len(lines) > 1 and ":" in lines[1]:
            raise InvalidAccessError("the front matter is opened with --- and never closed", line=1)
        return AccessSettings(), text
    declaration = _validated(_FileDeclaration, _load_yaml("\n".join(lines[1:end]), first_line=2))
    return _settings(declaration), "\n".join(lines[end + 1 :])


def _load_yaml(text: str, first_line: int) -> object:
    try:
        return yaml.load(text, Loader=_StrictLoader)  # noqa: S506 (a SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        line = mark.line + first_line if mark is not None else None
        raise InvalidAccessError(f"broken YAML: {error.problem or 'cannot be parsed'}", line) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise InvalidAccessError("broken YAML: cannot be parsed") from error


def _validated(model: type[_Declaration], content: object) -> _Declaration:
    if content is None:
        return model()
    if not isinstance(content, dict):
        raise InvalidAccessError("expected keys and values such as 'access: {groups: [hr]}'")
    try:
        return model.model_validate(content)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise InvalidAccessError(f"{place or 'declaration'}: {first['msg']}") from error


def _settings(declaration: _FolderDeclaration) -> AccessSettings:
    own = declaration if isinstance(declaration, _FileDeclaration) else None
    access = declaration.access
    return AccessSettings(
        access=None if access is None else Access(access.public, tuple(access.users), tuple(access.groups)),
        author=declaration.author,
        contact=declaration.contact,
        source_system=declaration.source_system,
        hint=declaration.hint,
        title=own.title if own else None,
        url=own.url if own else None,
    )
