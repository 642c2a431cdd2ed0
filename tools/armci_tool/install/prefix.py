"""The folder that is installed into: what is there, written and removed one file at a time."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path

from armci_tool.errors import ToolError

MANIFEST = Path("share/armci/manifest")
MPI_FILE = Path("share/armci/mpi")


@dataclass
class Prefix:
    """Files of ours are listed in it: nothing else is replaced or removed."""

    root: Path
    listed: set[Path] = field(default_factory=set)

    @staticmethod
    def open(root: Path) -> "Prefix":
        """A folder that may not be there yet."""
        manifest = root / MANIFEST
        listed = {Path(line) for line in manifest.read_text().splitlines()} if manifest.is_file() else set()
        return Prefix(root, listed)

    @property
    def mpi(self) -> str:
        """The MPI library of what is there; empty if nothing is."""
        path = self.root / MPI_FILE
        return path.read_text().strip() if path.is_file() else ""

    def require_free(self, targets: "list[Path]") -> None:
        """Raises ToolError where a file that is not of ours has one of these names."""
        foreign = [path for path in targets if path not in self.listed and _exists(self.root / path)]
        if foreign:
            raise ToolError(f"{self.root} has other people's files of the same name",
                            where=", ".join(str(path) for path in foreign[:4]),
                            next_step="choose another --prefix")

    def copy(self, source: Path, target: Path, mode: int = 0o644) -> None:
        """Replaces what was there."""
        path = self._make_room(target)
        shutil.copyfile(source, path)
        path.chmod(mode)
        self._list(target)

    def write(self, text: str, target: Path) -> None:
        """Replaces what was there."""
        self._make_room(target).write_text(text)
        self._list(target)

    def link(self, to: str, target: Path) -> None:
        """A symbolic link, relative to its own folder."""
        self._make_room(target).symlink_to(to)
        self._list(target)

    def remove_all(self) -> int:
        """Returns the number of files that were there; folders that are empty then go too."""
        gone = 0
        folders: set[Path] = set()
        for path in sorted(self.listed) + [MANIFEST]:
            if _exists(self.root / path):
                (self.root / path).unlink()
                gone += 1
            folders.update(self.root / parent for parent in path.parents if parent != Path("."))
        for folder in sorted(folders, key=lambda one: -len(one.parts)):
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()
        if self.root.is_dir() and not any(self.root.iterdir()):
            self.root.rmdir()
        self.listed.clear()
        return gone

    def _make_room(self, target: Path) -> Path:
        # A running program may have the old file mapped: the name is given to a new file instead of overwriting it.
        path = self.root / target
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        return path

    def _list(self, target: Path) -> None:
        # At once: what is interrupted can be removed.
        self.listed.add(target)
        manifest = self.root / MANIFEST
        manifest.parent.mkdir(parents=True, exist_ok=True)
        manifest.write_text("".join(f"{path}\n" for path in sorted(self.listed)))


def _exists(path: Path) -> bool:
    return path.exists() or path.is_symlink()
