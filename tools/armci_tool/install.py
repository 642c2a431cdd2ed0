"""Lays out headers and libraries as a plain compiler line needs them.

    PREFIX/IMPL/include/    armci.h and its companions, the same for all implementations
    PREFIX/IMPL/lib/        libarmci.so -> libarmci.so.1

Each implementation is complete in a folder of its own: a program chooses by the folder it names.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Callable, Optional

from armci_tool import bazel, launch
from armci_tool.errors import ToolError
from armci_tool.repository import ROOT

SHARED_NAME = "libarmci.so.1"


def install(prefix: Path, implementation: str, configuration: bazel.Configuration, *, verbose: bool = False,
            on_progress: Optional[Callable[[str], None]] = None) -> Path:
    """Builds and copies one implementation; returns its folder."""
    shared = f"//impl/{implementation}:{SHARED_NAME}"
    shared_file = bazel.built(shared, configuration, verbose=verbose, on_progress=on_progress)
    folder = prefix / implementation
    libraries = folder / "lib"
    try:
        _copy_headers(folder / "include")
        libraries.mkdir(parents=True, exist_ok=True)
        _replace(shared_file, libraries / SHARED_NAME)
        link = libraries / "libarmci.so"
        link.unlink(missing_ok=True)
        link.symlink_to(SHARED_NAME)
    except OSError as error:
        raise ToolError(f"cannot install into {prefix}", where=str(error),
                        next_step="choose another --prefix, or run with the rights to write there") from error
    return folder


def compile_line(mpi: str, folder: Path, source: str, program: str) -> list[str]:
    """The plain compiler line of a program that uses what was installed into `folder`."""
    return [launch.mpi_library(mpi).compiler, source, "-o", program, f"-I{folder}/include", f"-L{folder}/lib",
            f"-Wl,--enable-new-dtags,-rpath,{folder}/lib", "-larmci"]


def _copy_headers(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for header in sorted((ROOT / "spec").glob("*.h")):
        _replace(header, folder / header.name)


def _replace(source: Path, target: Path) -> None:
    # A running program may have the old file mapped: give the name to a new file instead of overwriting it.
    target.unlink(missing_ok=True)
    shutil.copyfile(source, target)
    target.chmod(0o755 if ".so" in target.name else 0o644)
