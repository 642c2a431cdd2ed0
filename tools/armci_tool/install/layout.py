"""The files of an installation and their places."""

from __future__ import annotations

import errno
import os
from functools import partial
from pathlib import Path
from typing import Callable, Iterator, Optional, Sequence

from armci_tool import bazel, launch, repository
from armci_tool.errors import ToolError
from armci_tool.install import descriptions
from armci_tool.install.prefix import MPI_FILE, Item, Prefix
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
GENERATED = (Path("spec/armci.f90"), Path("spec/parmci.h"))
LIBRARIES = Path("lib/armci")
# For build systems that take an ARMCI as one folder with include/ and lib/: one for each implementation, of links.
CLASSIC = Path("impl")
# Where it is installed, it is what runs everywhere.
USUAL_DEFAULT = "mpi-rma"

_PROGRAM_MODE = 0o755

Note = Callable[[str], None]


def install(root: Path, names: Sequence[str], default: str, configuration: bazel.Configuration, *,
            verbose: bool = False, on_progress: Optional[Note] = None) -> Prefix:
    """Builds, then copies; implementations that are there already stay, if they have the same MPI library below."""
    if os.pathsep in str(root.absolute()):
        raise ToolError(f"cannot install into {root}", next_step="choose another --prefix",
                        where=f"its path has a {os.pathsep!r}, which ends a path for the loader")
    prefix = Prefix.open(root)
    if prefix.mpi not in ("", configuration.mpi):
        raise ToolError(f"{root} has implementations for {prefix.mpi}, not {configuration.mpi}",
                        next_step="choose another --prefix, or --uninstall it first")
    staying = [name for name in _installed(prefix) if name not in names]
    all_names = [*names, *staying]
    chosen = default or next(name for name in (default_of(root), USUAL_DEFAULT, *all_names) if name in all_names)
    if chosen not in all_names:
        raise ToolError(f"the default {chosen} is not installed", next_step="use one of: " + ", ".join(all_names))
    items = [Item(MPI_FILE, text=lambda: configuration.mpi + "\n"), *_copied(names, configuration),
             *_described(root, names, staying, chosen, configuration)]
    targets = [item.target for item in items]
    prefix.require_free(targets)
    bazel.build(labels(names), configuration, verbose=verbose, label=f"building ({configuration.name})",
                on_progress=on_progress)
    try:
        prefix.claim(targets)
        for item in items:
            prefix.put(item)
        # Files of an earlier version, and files of an interrupted installation.
        prefix.remove(prefix.listed.difference(targets, *map(targets_of, staying)))
    except OSError as error:
        mend = "choose another --prefix, or run with the rights to write there"
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            mend = "make room and repeat it, choose another --prefix, or take away what is there with --uninstall"
        raise ToolError(f"cannot install into {root}", where=str(error), next_step=mend) from error
    return prefix


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


def default_of(root: Path) -> str:
    """The implementation behind -larmci in an installation; empty if there is none."""
    link = root / "lib" / SHARED_NAME
    return link.readlink().parent.name if link.is_symlink() else ""


def hints(root: Path, names: Sequence[str], mpi: str) -> str:
    """How a program comes to what was installed: to the default, if it is among `names`."""
    name = default_of(root) if default_of(root) in names else names[0]
    folder, package = root / LIBRARIES / name, descriptions.pkg_config_names(name)[0]
    line = (f"{launch.mpi_library(mpi).compiler} program.c -o program -I{root}/include -L{folder} "
            f"-Wl,--enable-new-dtags,-rpath,{folder} -larmci")
    return (f"  link    {line}\n"
            f"  or      PKG_CONFIG_PATH={root}/lib/pkgconfig pkg-config --cflags --libs {package}\n"
            f"  or      cmake -DCMAKE_PREFIX_PATH={root}, with find_package(ARMCI COMPONENTS {name})\n"
            f"  or      configure --with-armci={root / CLASSIC / name}, where one folder has include and lib\n"
            f"  run on  {root}/bin/armci-run --impl {name} -n 2 ./program\n"
            f"  read    man -l {root}/share/man/man7/armci.7")


def targets_of(name: str) -> list[Path]:
    """The files that are of one implementation alone."""
    folder = LIBRARIES / name
    return [*(folder / file for file in (SHARED_NAME, LINK_NAME, STATIC_NAME)), *_classic_links(name),
            *map(descriptions.pkg_config_file, descriptions.pkg_config_names(name))]


def _classic_links(name: str) -> dict[Path, str]:
    return {CLASSIC / name / "include": "../../include", CLASSIC / name / "lib": f"../../{LIBRARIES / name}"}


def sources(names: Sequence[str], configuration: bazel.Configuration) -> list[Path]:
    """The files to copy."""
    return [item.source for item in _copied(names, configuration) if item.source is not None]


def labels(names: Sequence[str]) -> tuple[str, ...]:
    """The targets to build before the installation of these."""
    return (ALL,) if set(names) == set(repository.implementations()) else tuple(PART % part for part in (COMMON, *names))


def _installed(prefix: Prefix) -> list[str]:
    """Those of which everything is there."""
    folders = {path.parts[2] for path in prefix.listed if path.parts[:2] == LIBRARIES.parts and len(path.parts) == 4}
    # An earlier version made no classic folders.
    return sorted(name for name in folders if prefix.has(path for path in targets_of(name) if path.parts[0] != CLASSIC.name))


def _copied(names: Sequence[str], configuration: bazel.Configuration) -> Iterator[Item]:
    """Files that are in the sources, or that Bazel makes."""
    built = bazel.folder("bazel-bin", configuration)
    yield Item(Path("bin/armci_info"), built / INFO, mode=_PROGRAM_MODE)
    yield Item(LIBRARIES / PROF.name, built / PROF, mode=_PROGRAM_MODE)
    for generated in GENERATED:
        yield Item(Path("include") / generated.name, built / generated)
    for header in sorted([*(ROOT / "spec").glob("*.h"), ROOT / "spec/armci.hpp"]):
        if not header.name.startswith(("abi_", "api_")):
            yield Item(Path("include") / header.name, header)
    for name in names:
        yield Item(LIBRARIES / name / SHARED_NAME, built / "impl" / name / SHARED_NAME, mode=_PROGRAM_MODE)
        yield Item(LIBRARIES / name / STATIC_NAME, built / "impl" / name / STATIC_NAME)
    for command in sorted((ROOT / "packaging" / "bin").iterdir()):
        yield Item(Path("bin") / command.name, command, mode=_PROGRAM_MODE)
    for page in sorted((ROOT / "packaging" / "man").iterdir()):
        yield Item(Path("share/man") / f"man{page.suffix[1:]}" / page.name, page)


def _described(root: Path, names: Sequence[str], staying: Sequence[str], default: str,
               configuration: bazel.Configuration) -> Iterator[Item]:
    """Links, and files that are about all that are there."""
    mpi = configuration.mpi

    # Known once everything has been built.
    def libs(name: str) -> str:
        if name in staying:
            return descriptions.static_libs(root, name)
        listed = bazel.folder("bazel-bin", configuration) / "impl" / name / FLAGS_NAME
        return descriptions.of_static_program([flag for flag in listed.read_text().split()
                                               if not flag.startswith("-L") and "mpi" not in flag])

    def cmake(file: str) -> str:
        return descriptions.cmake(file, {name: libs(name) for name in sorted([*names, *staying])}, default, mpi)

    def pkg_config(package: str, name: str) -> Item:
        return Item(descriptions.pkg_config_file(package),
                    text=lambda: descriptions.pkg_config(package, name, mpi, libs(name)))

    for name in names:
        yield Item(LIBRARIES / name / LINK_NAME, link=SHARED_NAME)
        yield from (pkg_config(package, name) for package in reversed(descriptions.pkg_config_names(name)))
    for name in (*names, *staying):
        yield from (Item(target, link=link) for target, link in _classic_links(name).items())
    for file in (SHARED_NAME, LINK_NAME, STATIC_NAME):
        yield Item(Path("lib") / file, link=f"armci/{default}/{SHARED_NAME if file == LINK_NAME else file}")
    yield pkg_config(descriptions.DEFAULT_PACKAGE, default)
    for file in descriptions.CMAKE_FILES:
        yield Item(descriptions.CMAKE / file, text=partial(cmake, file))
