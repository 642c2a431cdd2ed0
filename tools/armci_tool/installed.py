"""An installation as programs of other projects use it: the test compiles them against it, runs and judges them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Mapping, Union

from armci_tool import launch, process
from armci_tool.install import layout
from armci_tool.results import FAILED, PASSED, Case

PROCESSES = 2
# The example whose source all ways of linking are tried with.
EXAMPLE = "nxtval"
_TIME_LIMIT_S = 300.0
# The first process of a job says on what it runs, if a variable requests it: a program that is right may still be on another
# implementation than the one it was meant for.
_VERBOSE = {"ARMCI_VERBOSE": "1"}
_RUNS_ON = re.compile(r"armci: ([\w-]+): \d+ processes")
# A launcher that joins the outputs of processes may put what the library says into the middle of a program's line.
SAID = re.compile(r"armci: [^\n]*\n")

Word = Union[str, Path]


def case(name: str, fault: str = "", seconds: float = 0.0) -> Case:
    """Passed if there is no fault."""
    return Case(name, FAILED if fault else PASSED, seconds, fault)


def case_of(name: str, made: process.Result, is_right: bool, lines: int = 30) -> Case:
    """The case of a command: the last lines of a failed command show the fault."""
    return case(name, "" if is_right else made.tail(lines) or f"status {made.status}", made.seconds)


def ran_on(made: process.Result, name: str, says: str = f"{EXAMPLE}: PASS") -> bool:
    """Whether a program found its result right, on that implementation and on no other."""
    return made.ok and says in SAID.sub("", made.output) and set(_RUNS_ON.findall(made.output)) == {name}


@dataclass(frozen=True)
class Place:
    """An installation, and the folder of the programs that are compiled against it."""

    root: Path
    sources: Path
    mpi: str
    names: tuple[str, ...]
    default: str

    def wrappers(self, mpi: str = "") -> tuple[str, str]:
        """The compilers of the MPI library for C and C++."""
        compiler = launch.mpi_library(mpi or self.mpi).compiler
        return compiler, compiler.replace("mpicc", "mpicxx")

    def launcher(self) -> list[str]:
        """Without the number of processes and the program."""
        return launch.Launch((), PROCESSES, self.mpi).command_line()[:-2]

    def armci_run(self, *words: Word) -> list[Word]:
        """The command that is installed."""
        return [self.root / "bin" / "armci-run", *words]

    def library(self, name: str) -> Path:
        """The folder of an implementation."""
        return self.root / layout.LIBRARIES / name

    def package_path(self) -> dict[str, str]:
        """For pkg-config."""
        return {"PKG_CONFIG_PATH": str(self.root / "lib" / "pkgconfig")}

    def made(self, *command: Word, environment: Mapping[str, str] = {}) -> process.Result:
        """Runs a command beside the sources."""
        return process.run([str(word) for word in command], cwd=self.sources, environment=environment,
                           timeout_s=_TIME_LIMIT_S, input_stays_open=launch.mpi_library(self.mpi).input_stays_open)

    def flags(self, package: str, *options: str) -> process.Result:
        """The output of pkg-config."""
        return self.made("pkg-config", *options, package, environment=self.package_path())

    def does(self, name: str, *command: Word) -> Case:
        """A command that has to succeed."""
        made = self.made(*command)
        return case_of(name, made, made.ok)

    def compiles(self, name: str, program: Word, *flags: Word, compiler: str = "") -> Case:
        """The example, by the MPI library's compiler unless another is given."""
        return self.does(name, compiler or self.wrappers()[0], f"{EXAMPLE}.c", "-o", program,
                         f"-I{self.root}/include", *flags)

    def runs(self, name: str, runs_on: str, *program: Word, says: str = f"{EXAMPLE}: PASS") -> Case:
        """A program that has to be right, on that implementation."""
        made = self.job(*program, environment=_VERBOSE)
        return case_of(name, made, ran_on(made, runs_on, says))

    def job(self, *program: Word, processes: int = PROCESSES, environment: Mapping[str, str] = {}) -> process.Result:
        """Started by the tool, and not by armci-run."""
        job = launch.Launch(tuple(str(word) for word in program), processes, self.mpi, environment)
        return launch.start(job, timeout_s=_TIME_LIMIT_S)

    def starts(self, name: str, runs_on: str, *command: Word, says: str = f"{EXAMPLE}: PASS",
               environment: Mapping[str, str] = {}) -> Case:
        """A command that starts such a program by itself."""
        made = self.made(*command, environment={**_VERBOSE, **environment})
        return case_of(name, made, ran_on(made, runs_on, says))

    def refuses(self, name: str, sentence: str, *command: Word) -> Case:
        """A command that has to fail, and to say why."""
        made = self.made(*command)
        # CMake breaks lines where it likes.
        return case_of(name, made, not made.ok and sentence in " ".join(made.output.split()))
