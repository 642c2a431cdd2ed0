"""The examples, the input each takes, and the real matrices that Debian's packages bring."""

from __future__ import annotations

import gzip
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

from armci_tool import bazel, launch, process, programs
from armci_tool.errors import ToolError

REAL_MATRICES = ("g20.rua", "big.rua")
# Of libsuperlu-doc and libsuperlu-dist-dev; the second's place names the processor architecture.
_MATRIX_FOLDERS = (Path("/usr/share/doc/libsuperlu-dev"), *Path("/usr/lib").glob("*/superlu-dist/tests/EXAMPLE"))


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


def find_matrix(name: str, unpack_into: Path) -> Path:
    """The file of that name in Debian's packages, unpacked if it comes compressed."""
    for folder in _MATRIX_FOLDERS:
        for candidate in sorted(folder.rglob(name + "*")) if folder.is_dir() else []:
            if candidate.name == name:
                return candidate
            if candidate.name == name + ".gz":
                target = unpack_into / name
                with gzip.open(candidate) as packed, target.open("wb") as plain:
                    shutil.copyfileobj(packed, plain)
                return target
    raise ToolError(f"the matrix {name} is not installed", where=", ".join(map(str, _MATRIX_FOLDERS)),
                    next_step="run tools/armci setup")


def arguments(example: Example, scratch: Path) -> list[str]:
    """What the example is started with."""
    return [str(find_matrix(example.input_name, scratch))] if example.input_name else []


def run(example: Example, implementation: str, configuration: bazel.Configuration, scratch: Path,
        on_line: Callable[[str], None] = lambda line: None) -> process.Result:
    """Starts a built example; its status is 0 when it found its own result right."""
    binary = bazel.binary(programs.implementation_label(example.label, implementation), configuration)
    job = launch.Launch((str(binary), *arguments(example, scratch)), example.processes, configuration.mpi)
    return launch.start(job, timeout_s=120, on_line=on_line)
