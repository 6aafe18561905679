"""A folder of documents as a person would keep it, built file by file."""

from pathlib import Path


class KnowledgeFolder:
    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(parents=True, exist_ok=True)

    def write(self, path: str, content: str | bytes) -> Path:
        """Write a file, making its folders."""
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content if isinstance(content, bytes) else content.encode())
        return target

    def remove(self, path: str) -> None:
        (self.root / path).unlink()
