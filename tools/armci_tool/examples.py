"""The examples, the input each takes, and the real matrices that a Debian package brings."""

from __future__ import annotations

import glob
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

from armci_tool import bazel, launch, packages, process, programs
from armci_tool.errors import ToolError
from armci_tool.placement import Placement

REAL_MATRICES = ("g20.rua", "big.rua")
MATRIX_PACKAGE = "libsuperlu-dist-dev"


@dataclass(frozen=True)
class Example:
    """A program of //examples and how it is shown."""

    name: str
    processes: int
    text: str
    input_name: str = ""

    @property
    def label(self) -> str:
        """Without the implementation."""
        return f"//examples:{self.name}"

    @property
    def title(self) -> str:
        """Name and input."""
        return f"{self.name} {self.input_name}".strip()


EXAMPLES = (
    Example("hello", 4, "every process writes into its neighbour's memory"),
    Example("nxtval", 4, "blocks of work handed out by a shared counter"),
    Example("transpose", 4, "a distributed matrix transposed by strided gets"),
    *[Example("spmv", 4, "y = A x with a real sparse matrix", name) for name in REAL_MATRICES],
)


def find_matrix(name: str) -> Path:
    """The file of that name in the Debian package that brings the matrices. It is looked for when it is needed: setup may
    have installed it a moment ago."""
    pattern = str(Path(packages.row(MATRIX_PACKAGE).probe).with_name(name))
    found = sorted(glob.glob(pattern))
    if not found:
        raise ToolError(f"the matrix {name} is not installed", where=f"{pattern} (Debian package {MATRIX_PACKAGE})",
                        next_step="run tools/armci setup --for quickstart")
    return Path(found[0])


def run(example: Example, implementation: str, configuration: bazel.Configuration, *, placement: Placement = Placement(),
        on_line: Callable[[str], None] = lambda line: None) -> process.Result:
    """Starts a built example; its status is 0 when it found its own result right."""
    binary = bazel.binary(programs.implementation_label(example.label, implementation), configuration)
    arguments = [str(find_matrix(example.input_name))] if example.input_name else []
    job = launch.Launch((str(binary), *arguments), example.processes, configuration.mpi, placement=placement)
    return launch.start(job, timeout_s=120, on_line=on_line)
