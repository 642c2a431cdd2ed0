"""Where sources of applications are found, and where each is built once."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
from contextlib import contextmanager
from pathlib import Path
from typing import Callable, Iterator, Optional, Sequence, TextIO

from armci_tool import launch, leak_check, process
from armci_tool.errors import ToolError
from armci_tool.repository import ROOT

# Looked at, as the cache is, when no --source is given.
BESIDE_CHECKOUT = ROOT.parent / "shared" / "sources"
_DONE = ".armci-built"
_DIGITS = 12
# Folders that `once` makes: applications on a library and an MPI library, the baseline, and sources of Debian.
_BUILD = re.compile(rf"(?:\S+-(?:{'|'.join(launch.MPI_LIBRARIES)})|debian-\S+)-[0-9a-f]{{{_DIGITS}}}")

Note = Callable[[str], None]


class NoSource(ToolError):
    """None was given, and none is where it would be looked for."""


def cache() -> Path:
    """The folder of this user in which applications are built. Their Makefiles take no blanks, and search paths no colons."""
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    folder = (given if given.is_absolute() else Path.home() / ".cache") / "armci" / "applications"
    if re.search(r"[\s:]", str(folder)):
        raise ToolError(f"applications cannot be built in {folder}", where="the path has a blank or a colon",
                        next_step="set XDG_CACHE_HOME to another folder")
    return folder


def find(pattern: str, given: Optional[Path]) -> Path:
    """An archive or a folder: the one that is given, else the only one of that name."""
    if given is not None:
        if not given.exists():
            raise ToolError(f"there is no source {given}", where="the link leads nowhere" if given.is_symlink() else "",
                            next_step="give --source an archive or an unpacked folder")
        return given.absolute()
    folders = (BESIDE_CHECKOUT, cache())
    found = {path.name: path for folder in folders for path in sorted(folder.glob(pattern)) if path.suffix not in (".asc", ".sig")}
    if len(found) > 1:
        raise ToolError(f"there is more than one source {pattern}", where=", ".join(map(str, found.values())),
                        next_step="name one with --source")
    if not found:
        raise NoSource(f"there is no source {pattern}", where="looked in " + ", ".join(map(str, folders)),
                        next_step=f"put an archive into {cache()}, or name one with --source")
    return next(iter(found.values()))


def digest(*parts: str) -> str:
    """A few digits that change when one of these does."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:_DIGITS]


def content(path: Path) -> str:
    """The digest of an archive, whatever its name, or of all files of a folder."""
    if path.is_file():
        return digest(hashlib.sha256(path.read_bytes()).hexdigest())
    files = sorted(file for file in path.rglob("*") if file.is_file() and ".git" not in file.parts)
    return digest(*(f"{file.relative_to(path.parent)} {hashlib.sha256(file.read_bytes()).hexdigest()}" for file in files))


def check(source: Path, title: str, has_files: Sequence[str]) -> None:
    """Raises ToolError unless it is an archive, or a folder, of the application of that title, in which nothing was built. Takes
    seconds, and writes nothing."""
    another = f"give --source an archive of {title}, or its unpacked folder"
    if not source.is_dir() and not source.is_file():
        raise ToolError(f"{source} is neither a file nor a folder", next_step=another)
    listed = None if source.is_dir() else _listed(source, another)
    if not (any(source.iterdir()) if listed is None else listed):
        raise ToolError(f"{source} is empty", next_step=another)

    def has(file: str) -> bool:
        return (source / file).exists() if listed is None else any(name == file or name.startswith(f"{file}/") for name in listed)
    # All names of a folder are read only once it is a source: `/` has too many.
    if missing := next((file for file in has_files if not has(file)), ""):
        raise ToolError(f"{source} is no source of {title}", where=f"{source} has no {missing}", next_step=another)
    names = [str(path.relative_to(source)) for path in source.rglob("*")] if listed is None else listed
    if made := next((name for name in names if name.endswith(".o") or Path(name).name == "config.status"), ""):
        raise ToolError(f"{source} has been built in", where=made,
                        next_step="run make distclean there, or give another archive: what another compiler or MPI library made does not fit")


def _listed(archive: Path, another: str) -> list[str]:
    """Names of an archive, without the one folder that it begins with."""
    listed = process.run(["tar", "-tf", str(archive)])
    if not listed.ok:
        raise ToolError(f"{archive} is damaged, or no archive of tar", where=listed.tail(5), next_step=another)
    paths = [path for path in map(Path, listed.output.splitlines()) if path.parts]
    if len(first := sorted({path.parts[0] for path in paths})) > 1:
        raise ToolError(f"{archive} does not begin with one folder", where=f"{archive.name} has {', '.join(first[:5])}",
                        next_step="unpack the archive into a folder, and give --source that folder")
    return [str(Path(*path.parts[1:])) for path in paths]


def unpack(source: Path, folder: Path) -> None:
    """The source in `folder`, without the one folder that an archive begins with."""
    if source.is_dir():
        shutil.copytree(source, folder, symlinks=True)
        must(["chmod", "-R", "u+w", str(folder)], folder, f"cannot make the copy of {source} writable")
        return
    # Names of an archive may begin with ./, which --strip-components would count as a folder.
    outer = folder.with_name(f"{folder.name}.outer")
    outer.mkdir(parents=True)
    must(["tar", "-xf", str(source), "-C", str(outer), "--mode=u+rwX"], outer, f"cannot unpack the source {source}",
         next_step="get the archive again: this file is damaged, or no archive of tar")
    next(outer.iterdir()).rename(folder)
    outer.rmdir()


def stage(title: str, note: Note) -> Note:
    """A note for the lines of a step that takes long. A line is shown behind the title, so that a user sees its step."""
    note(title)
    return lambda line: note(f"{title}: {line.strip()}")


def must(command: Sequence[str], folder: Path, what: str, note: Optional[Note] = None, next_step: str = "see the first error in that log",
         **environment: str) -> process.Result:
    """A step of a build; its whole output is kept beside, and a failure shows its end."""
    made = process.run(command, cwd=folder, environment=environment, on_line=note)
    if not made.ok:
        log = folder / "armci-failed.log"
        log.write_text(made.output)
        raise ToolError(what, where=f"{made.tail(15)}\nlog: {log}", next_step=next_step)
    return made


def is_built(name: str, key: str) -> bool:
    """Whether `once` would do nothing."""
    return (cache() / f"{name}-{key}" / _DONE).is_file()


def once(name: str, key: str, build: Callable[[Path], None]) -> Path:
    """The folder in which `build` has done its work: done anew only when the key changes. An earlier build of the same
    application and library goes then, for they are large. The caller holds the lock."""
    folder = cache() / f"{name}-{key}"
    if is_built(name, key):
        return folder
    _remove(folder)
    folder.mkdir(parents=True)
    build(folder)
    (folder / _DONE).touch()
    for other in cache().glob(f"{name}-{'?' * _DIGITS}"):
        if other != folder:
            _remove(other)
    return folder


def _remove(folder: Path) -> None:
    """First the file that says that the build is whole: a removal may be broken off."""
    (folder / _DONE).unlink(missing_ok=True)
    if folder.exists():
        shutil.rmtree(folder)


def _make_cache() -> None:
    try:
        cache().mkdir(parents=True, exist_ok=True)
    except OSError as error:
        given = os.environ.get("XDG_CACHE_HOME", "")
        raise ToolError(f"applications cannot be built in {cache()}", where=f"XDG_CACHE_HOME={given}: {error}",
                        next_step="set XDG_CACHE_HOME to a folder that can be written to") from error


def _remove_broken() -> None:
    """Removes builds that failed or were interrupted: no later run uses them."""
    for folder in cache().iterdir():
        if _BUILD.fullmatch(folder.name) and folder.is_dir() and not (folder / _DONE).is_file():
            _remove(folder)


class InUse(ToolError):
    """Another run uses the cache."""


@contextmanager
def locked() -> Iterator[None]:
    """One run at a time uses what is built in the cache; it also exchanges the installed libraries.

    The lock of a run that was killed is free at once, but the reaper gives the run's jobs a few seconds to end, and they still write
    to the cache. The file of the lock holds the marker of the jobs and the id of the process; the next run waits for the jobs' end."""
    _make_cache()
    path = cache() / "lock"
    with path.open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            file.seek(0)
            holder = file.read().split()[1:]
            raise InUse("another tools/armci application or test runs", where=" ".join(["process", *holder, "holds", str(path)]),
                            next_step="wait for its end, or set XDG_CACHE_HOME to another folder") from error
        file.seek(0)
        for killed in file.read().split()[:1]:
            leak_check.surviving_processes(killed, leak_check.Ending().patience_s)
            leak_check.kill_marked(killed)
        _remove_broken()
        with leak_check.common_marker() as marker:
            _overwrite(file, f"{marker} {os.getpid()}")
            yield
            _overwrite(file, "")  # not after an exception: a job may have outlived it


def _overwrite(file: TextIO, text: str) -> None:
    file.truncate(0)
    file.write(text)
    file.flush()
