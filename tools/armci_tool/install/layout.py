"""What goes where."""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Callable, Iterator, Optional, Sequence

from armci_tool import bazel, launch, repository
from armci_tool.errors import ToolError
from armci_tool.install import descriptions
from armci_tool.install.prefix import MPI_FILE, Prefix
from armci_tool.repository import ROOT

SHARED_NAME = "libarmci.so.1"
LINK_NAME = "libarmci.so"
STATIC_NAME = "libarmci.a"
FLAGS_NAME = "libarmci.a.flags"
# All that is copied, for Bazel: packaging/BUILD. The parts are what all implementations share, and each of them.
ALL = "//packaging:install"
PART = "//packaging:%s"
COMMON = "common"
# Below bazel-bin.
INFO = Path("tools/armci_info_shared")
PROF = Path("tools/prof/libarmci-prof.so")
LIBRARIES = Path("lib/armci")
# Where it is installed, it is what runs everywhere.
USUAL_DEFAULT = "mpi-rma"

_PROGRAM_MODE = 0o755

Note = Callable[[str], None]


@dataclass(frozen=True)
class Item:
    """A file of an installation; `put` writes it, from `source` if it is copied."""

    target: Path
    put: Callable[[Prefix, Path], None]
    source: Optional[Path] = None


def install(root: Path, names: Sequence[str], default: str, configuration: bazel.Configuration, *,
            verbose: bool = False, on_progress: Optional[Note] = None) -> Prefix:
    """Builds, then copies; implementations that are there already stay, if they have the same MPI library below."""
    if os.pathsep in str(root.absolute()):
        raise ToolError(f"cannot install into {root}", where=f"its path has a {os.pathsep!r}, which ends a path for the loader",
                        next_step="choose another --prefix")
    prefix = Prefix.open(root)
    if prefix.mpi not in ("", configuration.mpi):
        raise ToolError(f"{root} has implementations for {prefix.mpi}, not {configuration.mpi}",
                        next_step="choose another --prefix, or --uninstall it first")
    staying = [name for name in _installed(prefix) if name not in names]
    all_names = [*names, *staying]
    chosen = default or _first_of((_present_default(root), USUAL_DEFAULT, *all_names), all_names)
    if chosen not in all_names:
        raise ToolError(f"the default {chosen} is not installed", next_step="use one of: " + ", ".join(all_names))
    items = [_text(lambda: configuration.mpi + "\n", MPI_FILE), *_copied(names, configuration),
             *_described(root, names, staying, chosen, configuration)]
    targets = [item.target for item in items]
    prefix.require_free(targets)
    bazel.build(labels(names), configuration, verbose=verbose, label=f"building ({configuration.name})",
                on_progress=on_progress)
    try:
        prefix.claim(targets)
        for item in items:
            item.put(prefix, item.target)
        # What an earlier version had, and what an installation that was interrupted did not finish.
        prefix.remove(prefix.listed.difference(targets, *map(targets_of, staying)))
    except OSError as error:
        raise ToolError(f"cannot install into {root}", where=str(error), next_step=_mend(error)) from error
    return prefix


def _mend(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "make room and repeat it, choose another --prefix, or take away what is there with --uninstall"
    return "choose another --prefix, or run with the rights to write there"


def uninstall(root: Path) -> int:
    """Removes what install() wrote, and nothing else; returns how many files."""
    prefix = Prefix.open(root)
    if not prefix.listed:
        raise ToolError(f"nothing is installed in {root}", where="there is no list of files in it",
                        next_step="give the --prefix that was installed into")
    try:
        return prefix.remove_all()
    except OSError as error:
        raise ToolError(f"cannot uninstall {root}", where=str(error),
                        next_step="run with the rights to write there") from error


def compile_line(mpi: str, root: Path, name: str, source: str, program: str) -> list[str]:
    """The plain compiler line of a program that uses an implementation installed into `root`."""
    folder = root / LIBRARIES / name
    return [launch.mpi_library(mpi).compiler, source, "-o", program, f"-I{root}/include", f"-L{folder}",
            f"-Wl,--enable-new-dtags,-rpath,{folder}", "-larmci"]


def targets_of(name: str) -> list[Path]:
    """The files that are of one implementation alone."""
    folder = LIBRARIES / name
    return [folder / SHARED_NAME, folder / LINK_NAME, folder / STATIC_NAME, descriptions.pkg_config_file(name),
            descriptions.static_pkg_config_file(name)]


def sources(names: Sequence[str], configuration: bazel.Configuration) -> list[Path]:
    """What is copied."""
    return [item.source for item in _copied(names, configuration) if item.source is not None]


def labels(names: Sequence[str]) -> tuple[str, ...]:
    """What is built before the installation of these."""
    return (ALL,) if set(names) == set(repository.implementations()) else tuple(PART % part for part in (COMMON, *names))


def _first_of(wanted: Sequence[str], there: Sequence[str]) -> str:
    return next(name for name in wanted if name in there)


def _installed(prefix: Prefix) -> list[str]:
    """Those of which everything is there."""
    folders = {path.parts[2] for path in prefix.listed if path.parts[:2] == LIBRARIES.parts and len(path.parts) == 4}
    return sorted(name for name in folders if prefix.has(targets_of(name)))


def _present_default(root: Path) -> str:
    link = root / "lib" / SHARED_NAME
    return link.readlink().parent.name if link.is_symlink() else ""


def _copied(names: Sequence[str], configuration: bazel.Configuration) -> Iterator[Item]:
    """Files that are in the sources, or that Bazel makes."""
    built = bazel.folder("bazel-bin", configuration)
    yield _copy(built / INFO, Path("bin/armci_info"), _PROGRAM_MODE)
    yield _copy(built / PROF, LIBRARIES / PROF.name, _PROGRAM_MODE)
    for header in sorted((ROOT / "spec").glob("*.h")):
        if not header.name.startswith("abi_"):
            yield _copy(header, Path("include") / header.name)
    for name in names:
        folder, made = LIBRARIES / name, built / "impl" / name
        yield _copy(made / SHARED_NAME, folder / SHARED_NAME, _PROGRAM_MODE)
        yield _copy(made / STATIC_NAME, folder / STATIC_NAME)
    for command in sorted((ROOT / "packaging" / "bin").iterdir()):
        yield _copy(command, Path("bin") / command.name, _PROGRAM_MODE)
    for page in sorted((ROOT / "packaging" / "man").iterdir()):
        yield _copy(page, Path("share/man") / f"man{page.suffix[1:]}" / page.name)


def _described(root: Path, names: Sequence[str], staying: Sequence[str], default: str,
               configuration: bazel.Configuration) -> Iterator[Item]:
    """Links, and files that are about all that are there."""
    mpi = configuration.mpi

    # Known once everything has been built.
    def static_libs(name: str) -> str:
        if name in staying:
            return descriptions.static_libs(root, name)
        listed = bazel.folder("bazel-bin", configuration) / "impl" / name / FLAGS_NAME
        return descriptions.of_static_program([flag for flag in listed.read_text().split()
                                               if not flag.startswith("-L") and "mpi" not in flag])

    def pkg_config(name: str) -> str:
        return descriptions.pkg_config(name, mpi, static_libs(name))

    def static_pkg_config(name: str) -> str:
        return descriptions.static_pkg_config(name, mpi, static_libs(name))

    def cmake(file: str) -> str:
        return descriptions.cmake(file, {name: static_libs(name) for name in sorted([*names, *staying])}, default, mpi)

    for name in names:
        yield _link(SHARED_NAME, LIBRARIES / name / LINK_NAME)
        yield _text(partial(static_pkg_config, name), descriptions.static_pkg_config_file(name))
        yield _text(partial(pkg_config, name), descriptions.pkg_config_file(name))
    for file in (SHARED_NAME, LINK_NAME, STATIC_NAME):
        yield _link(f"armci/{default}/{SHARED_NAME if file == LINK_NAME else file}", Path("lib") / file)
    yield _text(lambda: descriptions.pkg_config_of_default(default, mpi, static_libs(default)),
                descriptions.pkg_config_file(""))
    for file in descriptions.CMAKE_FILES:
        yield _text(partial(cmake, file), descriptions.CMAKE / file)


def _copy(source: Path, target: Path, mode: int = 0o644) -> Item:
    return Item(target, lambda prefix, to: prefix.copy(source, to, mode), source)


def _text(made: Callable[[], str], target: Path) -> Item:
    return Item(target, lambda prefix, to: prefix.write(made(), to))


def _link(to: str, target: Path) -> Item:
    return Item(target, lambda prefix, place: prefix.link(to, place))
