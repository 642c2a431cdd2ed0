"""Finds the file to launch for what the user calls a program."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from armci_tool import bazel, repository
from armci_tool.errors import ToolError


def find(program: str, implementation: str, configuration: bazel.Configuration, *, verbose: bool = False) -> Path:
    """A Bazel label is built, linked with the implementation; anything else is a file or a command on PATH."""
    if program.startswith("//"):
        repository.require_for_users(implementation)
        return bazel.built(implementation_label(program, implementation), configuration, verbose=verbose)
    path = Path(program)
    if path.is_file():
        if not os.access(path, os.X_OK):
            raise ToolError(f"{program} is not executable", next_step=f"chmod +x {program}")
        return path.resolve()
    found = shutil.which(program) if "/" not in program else None
    if found is None:
        raise ToolError(f"there is no program {program}",
                        next_step="give a Bazel label like //examples:hello, or the path of an executable")
    return Path(found)


def implementation_label(label: str, implementation: str) -> str:
    """`//examples:hello` linked with shmem is `//examples:hello_shmem`; a label that says so already stays."""
    package, colon, name = label.partition(":")
    if not colon:
        name = package.rpartition("/")[2]
    suffix = bazel.target_suffix(implementation)
    return f"{package}:{name}" if name.endswith(suffix) else f"{package}:{name}{suffix}"
