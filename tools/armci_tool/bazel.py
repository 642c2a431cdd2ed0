"""Builds with Bazel, and finds what was built without its convenience links (they follow the last build only)."""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Callable, Optional, Sequence

from armci_tool import process, sanitizers
from armci_tool.console import Progress
from armci_tool.errors import ToolError
from armci_tool.launch import DEFAULT_MPI
from armci_tool.repository import ROOT

DEFAULT_MODE = "opt"
EVERYTHING = "//..."
MODES = ("opt", "asan", "ubsan", "asan-ubsan", "tsan")

_ACTION_COUNT = re.compile(r"^\[([\d,]+) / ([\d,]+)\]\s*(.*)")
_TESTS_STATUS = 3  # `bazel test` ran, and some test failed


def target_suffix(implementation: str) -> str:
    """The end of the name of a target linked with an implementation (impl/variants.bzl)."""
    return "_" + implementation.replace("-", "_")


@dataclass(frozen=True)
class Configuration:
    """A way to build: optimisation or sanitizer, and the MPI library underneath."""

    mpi: str = DEFAULT_MPI
    mode: str = DEFAULT_MODE
    # Variables that repository rules read; they choose no output folder.
    repository_environment: tuple[tuple[str, str], ...] = ()

    @property
    def name(self) -> str:
        """`opt, openmpi`."""
        return f"{self.mode}, {self.mpi}"

    def flags(self) -> list[str]:
        """Bazel's options. Each configuration has an output folder of its own, so none undoes another's work."""
        flags = [f"--config={self.mode}"]
        if self.mpi != DEFAULT_MPI:
            flags.append(f"--config={self.mpi}")
        if (self.mpi, self.mode) != (DEFAULT_MPI, DEFAULT_MODE):
            flags.append(f"--platform_suffix=-{self.mode}-{self.mpi}")
        return flags + [f"--repo_env={name}={value}" for name, value in self.repository_environment]

    def environment(self) -> dict[str, str]:
        """The environment of programs built this way; a variable that the caller has set wins."""
        return sanitizers.environment(self.mode, os.environ)

    def test_flags(self) -> list[str]:
        """The options of `bazel test`, whose tests see nothing else of the environment."""
        return [*self.flags(), *(f"--test_env={name}={value}" for name, value in self.environment().items())]


_built: dict[Configuration, set[str]] = {}


def parse_configuration(names: Sequence[str], mpi: str = DEFAULT_MPI) -> Configuration:
    """From --config names as the command line takes them: an MPI library, a mode, or one of each."""
    mode = DEFAULT_MODE
    for name in names:
        if name in MODES:
            mode = name
        else:
            mpi = name
    return Configuration(mpi, mode)


def executable() -> str:
    """Bazel's command."""
    for name in ("bazel", "bazel-bootstrap"):
        if shutil.which(name):
            return name
    raise ToolError("Bazel is not installed", next_step="run tools/armci setup")


def build(targets: Sequence[str], configuration: Configuration, *, verbose: bool = False, label: str = "",
          on_progress: Optional[Callable[[str], None]] = None) -> None:
    """Builds `targets`; Bazel's own output is shown on failure, or always with `verbose`.

    Progress goes to `on_progress` where the caller has a progress line already, else to one made here. What this process has
    built before is not built again: sources do not change while it runs, and a change of the configuration costs Bazel seconds.
    """
    done = _built.setdefault(configuration, set())
    if done.issuperset(targets):
        return
    result = _run("build", targets, configuration, verbose, label or f"building ({configuration.name})", on_progress)
    if not result.ok:
        raise ToolError("the build failed", where=_without_progress(result.output),
                        next_step="mend the first error above; rerun: " + " ".join(result.command))
    done.update(targets)


def test(targets: Sequence[str], configuration: Configuration, *,
         on_progress: Optional[Callable[[str], None]] = None) -> process.Result:
    """Builds and runs tests; the status is 0 when all passed. Raises ToolError when they could not be built."""
    options = ["--test_output=errors", "--keep_going"]
    result = _run("test", [*options, *targets], configuration, False, f"unit tests ({configuration.name})", on_progress)
    if result.status not in (0, _TESTS_STATUS):
        raise ToolError("the tests could not be built", where=_without_progress(result.output),
                        next_step="mend the first error above; rerun: " + " ".join(result.command))
    return result


def _require_compilers() -> None:
    """Bazel reads these variables, and says in many lines of its own language when they name no compiler."""
    for variable in ("CC", "CXX"):
        words = os.environ.get(variable, "").split()
        if words and not shutil.which(words[0]):
            raise ToolError(f"{variable} names a compiler that is not installed", where=f"{variable}={' '.join(words)}",
                            next_step=f"unset {variable}, or install that compiler")
        if words and not (tried := process.run([*words, "--version"], job=False)).ok:
            raise ToolError(f"{variable}={' '.join(words)} is no compiler that runs", where=f"{' '.join(tried.command)} ends with status {tried.status}",
                            next_step=f"unset {variable}, or name a compiler")


def _run(verb: str, arguments: Sequence[str], configuration: Configuration, verbose: bool, label: str,
         on_progress: Optional[Callable[[str], None]]) -> process.Result:
    _require_compilers()
    flags = configuration.test_flags() if verb == "test" else configuration.flags()
    line = [executable(), verb, *flags, "--color=no", "--curses=no", "--show_progress_rate_limit=1",
            *arguments]
    if verbose:
        return process.run(line, cwd=ROOT, capture=False, job=False)
    if on_progress is not None:
        return process.run(line, cwd=ROOT, on_line=partial(_hand_progress, on_progress), job=False)
    with Progress(label) as progress:
        return process.run(line, cwd=ROOT, on_line=partial(_hand_progress, progress.note), job=False)


def _hand_progress(on_progress: Callable[[str], None], line: str) -> None:
    match = _ACTION_COUNT.match(line)
    if match:
        on_progress(f"{match.group(1)} of {match.group(2)}, {match.group(3)}")
    elif line.startswith("Another command"):
        on_progress("waiting for another Bazel command of this checkout")


def _without_progress(output: str) -> str:
    kept = [line for line in output.splitlines()
            if line.strip() and not _ACTION_COUNT.match(line) and not line.startswith(("Loading:", "Analyzing:"))]
    return "\n".join(kept[-200:])


@lru_cache(maxsize=None)
def folder(key: str, configuration: Configuration) -> Path:
    """`bazel-bin` or `bazel-testlogs` of a configuration."""
    result = process.run([executable(), "info", *configuration.flags(), key], cwd=ROOT, job=False)
    lines = [line for line in result.output.splitlines() if line.startswith("/")]
    if not result.ok or not lines:
        raise ToolError(f"Bazel does not say where {key} is", where=result.tail(10),
                        next_step="run tools/armci build --verbose")
    return Path(lines[-1])


def query(expression: str) -> list[str]:
    """Labels that match a query expression, as far as Bazel knows: see check_packages."""
    result = _query("--keep_going", expression)
    return [line for line in result.output.splitlines() if line.startswith("//")]


def check_packages() -> None:
    """Fails where a BUILD file is wrong, about which query() says nothing."""
    result = _query(EVERYTHING)
    if not result.ok:
        errors = [line for line in result.output.splitlines() if line.startswith("ERROR: ")] or [result.tail(5)]
        raise ToolError("Bazel cannot read the BUILD files", where=errors[0].removeprefix("ERROR: ").removeprefix(f"{ROOT}/"),
                        next_step=f"mend that file; bazel query {EVERYTHING} shows the rest")


def _query(*words: str) -> process.Result:
    return process.run([executable(), "query", "--noshow_progress", *words], cwd=ROOT, job=False)


def binary(label: str, configuration: Configuration) -> Path:
    """The file that a binary's label was built to."""
    package, _, name = label.removeprefix("//").partition(":")
    path = folder("bazel-bin", configuration) / package / (name or Path(package).name)
    if not path.exists():
        raise ToolError(f"{label} has not been built ({configuration.name})", where=str(path),
                        next_step="run tools/armci build")
    return path


def built(label: str, configuration: Configuration, *, verbose: bool = False,
          on_progress: Optional[Callable[[str], None]] = None) -> Path:
    """Builds a binary if needed and returns its file; see build."""
    build([label], configuration, verbose=verbose, label=f"building {label} ({configuration.name})",
          on_progress=on_progress)
    return binary(label, configuration)
