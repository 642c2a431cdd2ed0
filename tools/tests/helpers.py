"""Small programs and the command itself, as the tests start them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Mapping, Sequence

from armci_tool.cli import TOOL

ARMCI = Path(__file__).resolve().parents[1] / "armci"


def script(folder: Path, name: str, body: str) -> Path:
    """An executable shell script."""
    path = folder / name
    path.write_text("#!/bin/sh\n" + body)
    path.chmod(0o755)
    return path


def armci(*arguments: str, environment: Mapping[str, str] = {}, timeout_s: float = 60) -> "subprocess.CompletedProcess[str]":
    """Runs the command as a user does."""
    return subprocess.run([str(ARMCI), *arguments], env={**os.environ, **environment}, text=True, timeout=timeout_s,
                          capture_output=True, check=False)


def parsed(*words: str) -> SimpleNamespace:
    """The meaning of a command line: `command_name` and the values of its options."""
    context = TOOL.make_context("tools/armci", list(words))
    name, command, rest = TOOL.resolve_command(context, [*context.protected_args, *context.args])
    assert command is not None
    return SimpleNamespace(command_name=name, **command.make_context(name, rest, context).params)


def alive(pid: int) -> bool:
    """Whether a process runs; a zombie does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def pids_in(path: Path) -> Sequence[int]:
    """Process ids that a test program wrote, one per line."""
    return [int(word) for word in path.read_text().split()]
