"""`python -m benchmarks`: what can be measured, and how to run it."""

import importlib.util
import pkgutil
from pathlib import Path


def main() -> None:
    print("Each prints one table. Figures are ratios against something measured in the same run, or counts.\n")
    for module in pkgutil.iter_modules([str(Path(__file__).parent)]):
        if not module.name.startswith("_"):
            spec = importlib.util.find_spec(f"benchmarks.{module.name}")
            print(f"  python -m benchmarks.{module.name:<18} {_first_line(spec.origin if spec else None)}")


def _first_line(origin: str | None) -> str:
    if origin is None:
        return ""
    main_file = Path(origin).with_name("__main__.py") if origin.endswith("__init__.py") else Path(origin)
    return main_file.read_text(encoding="utf-8").lstrip('"').splitlines()[0].rstrip('"')


main()
