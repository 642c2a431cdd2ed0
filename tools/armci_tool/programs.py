"""Finds the file to launch for what the user calls a program."""

from __future__ import annotations

import os
import shlex
import shutil
from pathlib import Path
from typing import Optional

from armci_tool import bazel, process, repository
from armci_tool.errors import ToolError
from armci_tool.install import layout
from armci_tool.install.prefix import Prefix
from armci_tool.placement import Placement

# The implementation that a label is linked with on one node.
DEFAULT = "shmem"
LIBRARY = "libarmci.so.1"
_MAGIC_BYTES = 64
# By the names that programs need from the loader.
_MPI_BY_LIBRARY = {"libmpi.so.40": "openmpi", "libmpich.so.12": "mpich"}


def default_implementation(where: Placement) -> str:
    """The implementation for a label if none is named; between nodes, the first that spans them without a device."""
    if where.kind == "machine":
        return DEFAULT
    return next(row.name for row in repository.implementation_table()
                if row.spans_nodes and not row.device and not row.test_only)


def is_label(program: str) -> bool:
    """Whether it is something to be built."""
    return program.startswith("//")


def require_mpi(binary: Path, configuration: bazel.Configuration) -> list[str]:
    """Raises ToolError if a program that is there already is one of another MPI library; returns what it is linked with."""
    needed = libraries_of(binary)
    other = next((mpi for library, mpi in _MPI_BY_LIBRARY.items() if library in needed), configuration.mpi)
    if other != configuration.mpi:
        raise ToolError(f"{binary} is a program of {other}", where=f"the job would be one of {configuration.mpi}",
                        next_step=f"add --mpi {other}")
    return needed


def exchanged(binary: Path, implementation: Optional[str], configuration: bazel.Configuration, *,
              prefix: Optional[Path] = None, verbose: bool = False) -> dict[str, str]:
    """The environment in which a program that is there already gets the shared library of this implementation: the one
    installed in `prefix`, else one built here. Without an implementation it gets what it was linked with, and so does a
    script without a prefix. Raises ToolError where it could not be had, or has another MPI library."""
    needed = require_mpi(binary, configuration)
    if implementation is None:
        return {}
    if needed and LIBRARY not in needed:
        raise ToolError(f"{binary} cannot be run on {implementation}", where=f"it is not linked with the shared {LIBRARY}",
                        next_step="link it with -larmci of an installation, or leave --impl out")
    repository.require_for_users(implementation)
    if prefix:
        folder = installed(prefix, implementation, configuration.mpi)
    elif needed:
        folder = bazel.built(f"//impl/{implementation}:{LIBRARY}", configuration, verbose=verbose).parent
    else:
        return {}
    return {"LD_LIBRARY_PATH": os.pathsep.join([str(folder), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])])}


def installed(prefix: Path, implementation: str, mpi: str) -> Path:
    """The folder of an implementation's library in an installation. ToolError if it is not there, or of another MPI."""
    folder = prefix.absolute() / layout.LIBRARIES / implementation
    there = Prefix(prefix).mpi
    if not (folder / LIBRARY).exists() or there != mpi:
        raise ToolError(f"{prefix} has no {implementation} for {mpi}",
                        where=f"it is an installation for {there}" if there not in ("", mpi) else f"no {folder / LIBRARY}",
                        next_step=f"tools/armci install --prefix DIR --mpi {mpi} --impl {implementation}")
    return folder


def wrapper(text: str) -> tuple[str, ...]:
    """The words of a command that starts a program, such as `valgrind -q`."""
    words = shlex.split(text)
    return (str(existing(words[0])), *words[1:]) if words else ()


def libraries_of(binary: Path) -> list[str]:
    """The library that the loader has to find; empty for a script, or a static program."""
    # A missing library has a name all the same: NAME => not found.
    listed = process.run(["ldd", str(binary)]).output
    return [line.split()[0] for line in listed.splitlines() if "=>" in line]


def find(program: str, implementation: str, configuration: bazel.Configuration, *, verbose: bool = False) -> Path:
    """A Bazel label is built, linked with the implementation; anything else is a file or a command on PATH."""
    if is_label(program):
        repository.require_for_users(implementation)
        return bazel.built(implementation_label(program, implementation), configuration, verbose=verbose)
    return existing(program)


def existing(program: str) -> Path:
    """An executable file, or a command on PATH."""
    path = Path(program)
    if path.is_file():
        if not os.access(path, os.X_OK):
            raise ToolError(f"{program} is not executable", next_step=f"chmod +x {program}")
        _require_interpreter(path)
        return path.resolve()
    if found := shutil.which(program) if "/" not in program else None:
        return Path(found)
    if path.is_dir():
        raise ToolError(f"{program} is a folder, not a program", next_step=f"give a program in it, such as {path / 'NAME'}")
    if path.is_symlink():
        raise ToolError(f"{program} is a symbolic link to {os.readlink(path)}, which leads to no file",
                        next_step="build or restore the file that it points to, or give another program")
    raise ToolError(f"there is no program {program}",
                    next_step="give a Bazel label like //examples:hello, or the path of an executable")


def _require_interpreter(path: Path) -> None:
    """Raises ToolError for a text that no interpreter is named for: Open MPI reports it with 27 lines. A program has zero bytes."""
    if not os.access(path, os.R_OK):  # a program may be executable only
        return
    with path.open("rb") as file:
        start = file.read(_MAGIC_BYTES)
    if b"\0" not in start and not start.startswith(b"#!"):
        raise ToolError(f"{path} is a script without a #! line", where="the system does not know what should run it",
                        next_step="begin its first line with #!, as in #!/bin/sh")


def implementation_label(label: str, implementation: str) -> str:
    """`//examples:hello` linked with shmem is `//examples:hello_shmem`; a label that says so already stays."""
    package, colon, name = label.partition(":")
    if not colon:
        name = package.rpartition("/")[2]
    suffix = bazel.target_suffix(implementation)
    return f"{package}:{name}" if name.endswith(suffix) else f"{package}:{name}{suffix}"
