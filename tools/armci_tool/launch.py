"""The one place that knows the command lines of the MPI libraries.

A launch starts `processes` ranks of a program on this machine, with more ranks than cores allowed, ranks not bound to
cores (a progress thread would inherit the binding), and the ARMCI_* settings of the caller forwarded to every rank.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Mapping, Optional, Sequence

from armci_tool import process
from armci_tool.errors import ToolError

# Forwarded to the ranks besides what a launch sets itself.
FORWARDED_PREFIXES = ("ARMCI_", "ASAN_", "UBSAN_", "TSAN_", "LSAN_", "GTEST_")


@dataclass(frozen=True)
class MpiLibrary:
    """A launcher and its options."""

    name: str
    launcher: str
    compiler: str
    fixed: tuple[str, ...] = ()
    only_as_root: tuple[str, ...] = ()
    tag_output: tuple[str, ...] = ()
    # Option that forwards one variable; empty where the launcher forwards the whole environment.
    forward: tuple[str, ...] = ()


MPI_LIBRARIES: dict[str, MpiLibrary] = {
    # Idle ranks yield: with more ranks than cores a spinning one holds up the one it waits for. One node needs only
    # shared memory; the TCP component would probe every interface of the machine.
    "openmpi": MpiLibrary("openmpi", "mpirun.openmpi", "mpicc.openmpi",
                          fixed=("--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1", "--mca",
                                 "btl", "vader,self"),
                          only_as_root=("--allow-run-as-root",), tag_output=("--tag-output",), forward=("-x",)),
    "mpich": MpiLibrary("mpich", "mpiexec.mpich", "mpicc.mpich", tag_output=("-prepend-rank",)),
}
DEFAULT_MPI = "openmpi"


@dataclass(frozen=True)
class Launch:
    """What to start: `program` with its arguments, on how many ranks of which MPI library."""

    program: tuple[str, ...]
    processes: int
    mpi: str = DEFAULT_MPI
    environment: Mapping[str, str] = field(default_factory=dict)
    tag_output: bool = False

    def command_line(self, *, as_root: Optional[bool] = None,
                     present: Optional[Mapping[str, str]] = None) -> list[str]:
        """The argument list that starts the job."""
        library = mpi_library(self.mpi)
        if self.processes < 1:
            raise ToolError(f"cannot start {self.processes} processes", next_step="give -n a number of at least 1")
        line = [library.launcher]
        if as_root if as_root is not None else os.geteuid() == 0:
            line += library.only_as_root
        line += library.fixed
        if self.tag_output:
            line += library.tag_output
        if library.forward:
            for name in self._forwarded(os.environ if present is None else present):
                line += [*library.forward, name]
        return line + ["-n", str(self.processes), *self.program]

    def _forwarded(self, present: Mapping[str, str]) -> list[str]:
        names = {name for name in present if name.startswith(FORWARDED_PREFIXES)}
        return sorted(names | set(self.environment))


def mpi_library(name: str) -> MpiLibrary:
    """The library of that name."""
    if name not in MPI_LIBRARIES:
        raise ToolError(f"there is no MPI library {name!r}", next_step="use one of: " + ", ".join(MPI_LIBRARIES))
    return MPI_LIBRARIES[name]


def start(launch: Launch, *, timeout_s: Optional[float] = None, silence_s: Optional[float] = None,
          capture: bool = True, on_line: Optional[process.LineHandler] = None) -> process.Result:
    """Runs the job to its end; nothing of it is left whichever way it ends. See process.run."""
    return process.run(launch.command_line(), environment=launch.environment, timeout_s=timeout_s, silence_s=silence_s,
                       capture=capture, on_line=on_line)
