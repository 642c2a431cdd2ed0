"""The environment of a result besides the sources: versions, machine, date."""

from __future__ import annotations

import os
import platform
import re
import shutil
from datetime import datetime, timezone
from pathlib import Path
from typing import Iterable, Sequence

from armci_tool import git, launch, process

_VERSION = re.compile(r"\d+\.\d+[\w.]*")
_UNKNOWN = "unknown"


def describe(mpis: Iterable[str]) -> dict[str, str]:
    """Title and value of each fact, in the order to be shown; of the MPI libraries those named."""
    facts = {"date": datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC"), "commit": git.commit()}
    facts |= {f"MPI: {name}": _mpi_version(name) for name in dict.fromkeys(mpis)}
    if settings := launch.user_settings():
        facts["settings"] = " ".join(settings)
    facts |= {
        "compiler": _first_line([os.environ.get("CC", "gcc"), "--version"]),
        "system": _release_name(),
        "kernel": f"{platform.system()} {platform.release()} {platform.machine()}",
        "CPU": _cpu_model(),
        "cores": str(len(os.sched_getaffinity(0))),
        "memory": f"{_memory_bytes() / 2**30:.1f} GiB",
    }
    return facts


def _mpi_version(name: str) -> str:
    found = _VERSION.search(_output([launch.mpi_library(name).launcher, "--version"]))
    return found.group(0) if found else _UNKNOWN


def _output(command: Sequence[str]) -> str:
    """The output of a command; empty when it is not there or fails."""
    if shutil.which(command[0]) is None:
        return ""
    result = process.run(command, timeout_s=30)
    return result.output if result.ok else ""


def _first_line(command: Sequence[str]) -> str:
    lines = _output(command).strip().splitlines()
    return lines[0].strip() if lines else _UNKNOWN


def _release_name() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", _UNKNOWN)
    except OSError:
        return _UNKNOWN


def _cpu_model() -> str:
    try:
        found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        found = None
    return found.group(1).strip() if found else platform.machine()


def _memory_bytes() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
