"""JavaScript clients, installed once from the lock into a cache, and run as processes of their own."""

import asyncio
import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import platformdirs
import pytest

_HERE = Path(__file__).parent
_PACKAGE_FILES = ("package.json", "package-lock.json")
_INSTALL_SECONDS = 180
_RUN_SECONDS = 60


@dataclass(frozen=True, slots=True)
class NodeScripts:
    folder: Path

    async def run(self, script: str, task: dict[str, Any]) -> dict[str, Any]:
        """What the script wrote, for the task it was given."""
        process = await asyncio.create_subprocess_exec(
            "node",
            str(self.folder / script),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            async with asyncio.timeout(_RUN_SECONDS):
                out, errors = await process.communicate(json.dumps(task).encode())
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        assert process.returncode == 0, errors.decode()
        result: dict[str, Any] = json.loads(out)
        return result


def installed_scripts() -> NodeScripts:
    """Skips where there is no Node or no way to the packages; under CI with Node present, that is a failure."""
    if not (shutil.which("node") and shutil.which("npm")):
        pytest.skip("Node and npm are not installed, so the JavaScript clients cannot be run")
    folder = Path(platformdirs.user_cache_dir("achilles-tests")) / f"clients-{_digest()}"
    if not folder.exists():
        _install(folder)
    for script in _HERE.glob("*.mjs"):
        shutil.copy(script, folder)
    return NodeScripts(folder)


def _install(folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    # Another run may install at the same time: the first to finish gives its folder the name.
    building = Path(tempfile.mkdtemp(dir=folder.parent, prefix="installing-"))
    try:
        for name in _PACKAGE_FILES:
            shutil.copy(_HERE / name, building)
        command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
        result = subprocess.run(
            command, cwd=building, capture_output=True, text=True, timeout=_INSTALL_SECONDS, check=False
        )
        if result.returncode == 0:
            _take_the_name(building, folder)
            return
        reason = result.stderr.strip()[-500:]
    except subprocess.TimeoutExpired:
        reason = f"not done within {_INSTALL_SECONDS} s"
    finally:
        shutil.rmtree(building, ignore_errors=True)
    _give_up(f"npm ci failed, so the JavaScript clients cannot be run: {reason}")


def _take_the_name(building: Path, folder: Path) -> None:
    try:
        building.rename(folder)
    except OSError:
        if not folder.exists():
            raise


def _give_up(reason: str) -> None:
    if os.environ.get("CI", "").lower() in ("1", "true"):
        pytest.fail(reason)
    pytest.skip(reason)


def _digest() -> str:
    content = b"".join((_HERE / name).read_bytes() for name in _PACKAGE_FILES)
    return hashlib.sha256(content).hexdigest()[:12]
