"""Rights declarations: what is written is what is meant, and what cannot be understood is an error."""

import pytest

from services.knowledge_store.adapters.access_settings import parse_access_file, split_front_matter
from services.knowledge_store.domain.access import Access, AccessSettings, principals_of
from services.knowledge_store.domain.errors import InvalidAccessError
from shared.identity import Identity

pytestmark = [pytest.mark.unit, pytest.mark.p0]


def test_access_file_names_readers_and_contact() -> None:
    settings = parse_access_file(
        "access: {users: [hana], groups: [hr, hr]}\nauthor: hana\ncontact: hana@example.com\n"
        "source_system: HR handbook\nhint: false\n"
    )
    assert settings == AccessSettings(
        access=Access(users=("hana",), groups=("hr", "hr")),
        author="hana",
        contact="hana@example.com",
        source_system="HR handbook",
        hint=False,
    )
    assert settings.access is not None
    assert settings.access.readers == ("group:hr", "user:hana")


@pytest.mark.parametrize(
    ("declaration", "line"),
    [
        ("access: [hr", 1),
        ("access: {groups: [hr]}\nauthor: [x\n", 3),
        ("acces: {groups: [hr]}", None),
        ("access: {group: [hr]}", None),
        ("access: hr", None),
        ("access: {}", None),
        ("access: {public: yes please}", None),
        ("access: {public: true, groups: [hr]}", None),
        ("access: {groups: hr}", None),
        ("access: {groups: [7]}", None),
        ("hint: 'no'", None),
        ("- access", None),
        ("just words", None),
        ("access: &a [*a]", None),
        ("access: {groups: [hr]}\naccess: {public: true}", 1),
        ("access: {groups: [hr], groups: [all]}", 1),
    ],
)
def test_declaration_that_is_not_understood_is_an_error(declaration: str, line: int | None) -> None:
    with pytest.raises(InvalidAccessError) as caught:
        parse_access_file(declaration)
    if line is not None:
        assert caught.value.line == line


def test_empty_lists_close_to_everybody() -> None:
    settings = parse_access_file("access: {users: []}")
    assert settings.access == Access()


def test_front_matter_overrides_the_folder_key_by_key() -> None:
    folder = parse_access_file("access: {groups: [hr]}\nauthor: hana\nhint: false")
    own, text = split_front_matter("---\ntitle: Pay\naccess: {public: true}\ntags: [a, b]\n---\nBody\n")
    merged = own.over(folder)
    assert (merged.access, merged.author, merged.hint, merged.title) == (Access(is_public=True), "hana", False, "Pay")
    assert text == "Body\n"


def test_title_may_look_like_a_number_or_a_date() -> None:
    assert split_front_matter("---\ntitle: 2026\n---\n")[0].title == "2026"
    assert split_front_matter("---\ntitle: 2026-01-31\n---\n")[0].title == "2026-01-31"


def test_front_matter_that_is_never_closed_is_an_error() -> None:
    with pytest.raises(InvalidAccessError, match="never closed"):
        split_front_matter("---\naccess: {groups: [hr]}\n\n# Salaries\n")


def test_broken_front_matter_names_its_line_in_the_file() -> None:
    with pytest.raises(InvalidAccessError) as caught:
        split_front_matter("---\ntitle: x\naccess: {groups: [hr}\n---\n")
    assert caught.value.line == 3


@pytest.mark.parametrize("url", ["javascript:alert(1)", "//evil.example/x", "data:text/html,x", "notes.md"])
def test_link_that_a_browser_might_run_is_an_error(url: str) -> None:
    with pytest.raises(InvalidAccessError):
        split_front_matter(f"---\nurl: '{url}'\n---\ntext")


def test_anonymous_caller_has_no_principal() -> None:
    assert principals_of(None) == ()


def test_user_and_group_of_one_name_are_different_principals() -> None:
    assert principals_of(Identity(user_id="hr", display_name="H", groups=("hana",))) == ("user:hr", "group:hana")
    assert Access(users=("hana",)).readers == ("user:hana",)
