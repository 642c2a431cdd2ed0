"""The folder that is installed into: what is there, written and removed one file at a time."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable, Iterable, Optional

from armci_tool.errors import ToolError

MANIFEST = Path("share/armci/manifest")
MPI_FILE = Path("share/armci/mpi")
# All users can read installed files, under every umask of the installing user.
_FILE_MODE = 0o644
_FOLDER_MODE = 0o755


@dataclass(frozen=True)
class Item:
    """A file of an installation: a link, relative to its own folder; or a copy of `source`; or what `text` returns when
    everything has been built."""

    target: Path
    source: Optional[Path] = None
    text: Callable[[], str] = str
    link: str = ""
    mode: int = _FILE_MODE


@dataclass
class Prefix:
    """Files of ours are listed in it, and the folders that were made for them: nothing else is replaced or removed."""

    root: Path
    listed: set[Path] = field(default_factory=set)
    folders: set[Path] = field(default_factory=set)  # Path(".") is the root itself

    @staticmethod
    def open(root: Path) -> "Prefix":
        """A folder that may not be there yet."""
        prefix = Prefix(root)
        manifest = root / MANIFEST
        for line in manifest.read_text().splitlines() if manifest.is_file() else []:
            path = Path(line)
            is_folder = line.endswith("/")
            if not line or path.is_absolute() or ".." in path.parts or (not is_folder and not path.parts):
                raise ToolError(f"the list of what is installed in {root} is damaged", where=f"{manifest}: {line!r}",
                                next_step="choose another --prefix; or mend the list, which has paths from there, or "
                                          "remove it and the files by hand")
            (prefix.folders if is_folder else prefix.listed).add(path)
        return prefix

    @property
    def mpi(self) -> str:
        """The MPI library of what is there; empty if nothing is."""
        path = self.root / MPI_FILE
        name, newline, _ = (path.read_text() if path.is_file() else "").partition("\n")
        # Without the end of the line the installation was interrupted while it wrote this, its first file.
        return name if newline else ""

    def has(self, targets: Iterable[Path]) -> bool:
        """Whether all these are ours, and there."""
        return all(target in self.listed and _exists(self.root / target) for target in targets)

    def require_free(self, targets: Iterable[Path]) -> None:
        """Raises ToolError where something that is not of ours has one of these names, or stands where a folder has to
        be."""
        foreign = {path for target in (*targets, MANIFEST) for path in self._in_the_way(target)}
        if foreign:
            raise ToolError(f"{self.root} has other people's files of the same name",
                            where=", ".join(str(path) for path in sorted(foreign)[:4]),
                            next_step="choose another --prefix")

    def claim(self, targets: Iterable[Path]) -> None:
        """Lists them, and the folders that will be made for them, before any is written: what is interrupted can be
        removed or repeated."""
        claimed = set(targets)
        self.folders |= {folder for target in (*claimed, MANIFEST) for folder in target.parents
                         if not (self.root / folder).exists()}
        self.listed |= claimed
        self._write_manifest()

    def put(self, item: Item) -> None:
        """Writes it in place of what was there. A running program may have the old file mapped: the name is given to a
        new file instead of overwriting it."""
        path = self._make_room(item.target)
        if item.link:
            path.symlink_to(item.link)
            return
        if item.source is not None:
            shutil.copyfile(item.source, path)
        else:
            path.write_text(item.text())
        path.chmod(item.mode)

    def remove(self, targets: Iterable[Path]) -> None:
        """Files of ours that are there no more."""
        for target in targets:
            (self.root / target).unlink(missing_ok=True)
            self.listed.discard(target)
        self._write_manifest()

    def remove_all(self) -> int:
        """Returns the number of files that were there; folders that were made for them go too, if they are empty."""
        gone = 0
        # The list last: what is interrupted can be repeated.
        for path in [*sorted(self.listed), MANIFEST]:
            if _exists(self.root / path):
                (self.root / path).unlink()
                gone += 1
        for folder in sorted(self.folders, key=lambda one: -len(one.parts)):
            path = self.root / folder
            if path.is_dir() and not path.is_symlink() and not any(path.iterdir()):
                path.rmdir()
        self.listed.clear()
        self.folders.clear()
        return gone

    def _in_the_way(self, target: Path) -> "list[Path]":
        path = self.root / target
        in_folders = [folder for folder in target.parents
                      if _exists(self.root / folder) and not (self.root / folder).is_dir()]
        is_ours = (target in self.listed or target == MANIFEST) and (path.is_symlink() or not path.is_dir())
        return in_folders if in_folders or is_ours or not _exists(path) else [target]

    def _make_room(self, target: Path) -> Path:
        assert target in self.listed, f"{target} is written before it is claimed"
        path = self.root / target
        _make_folder(path.parent)
        path.unlink(missing_ok=True)
        return path

    def _write_manifest(self) -> None:
        path = self.root / MANIFEST
        _make_folder(path.parent)
        # All of the old one or all of the new one.
        written = path.with_name(path.name + ".new")
        lines = [*map(str, self.listed), *(f"{folder}/" for folder in self.folders)]
        written.write_text("".join(f"{line}\n" for line in sorted(lines)))
        written.chmod(_FILE_MODE)
        os.replace(written, path)


def _make_folder(path: Path) -> None:
    if path.exists():
        return
    _make_folder(path.parent)
    path.mkdir()
    path.chmod(_FOLDER_MODE)


def _exists(path: Path) -> bool:
    return path.exists() or path.is_symlink()
