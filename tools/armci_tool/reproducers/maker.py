"""Makes a program for each failed test of a foreign library: repeats the test while its calls are recorded, guesses, tries.

Only a program that shows the failure on the library is kept. Of its calls those go that it fails without.
"""

from __future__ import annotations

import re
import shutil
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Callable, Iterator, Optional, Sequence

from armci_tool import bazel, conformance, launch, process, scratch_folders, traceability
from armci_tool.libraries import ForeignLibrary
from armci_tool.reproducers import causes, places, program, slices, trace
from armci_tool.results import FAILED, KNOWN, Case

VARIABLE = "CONFORMANCE_RECORD"
# A test that fails now and then is repeated so often, with its seed.
_RECORDINGS = 3
_TIME_LIMIT_S = 60.0
_JOB_LIMIT_S = 45.0
_COMPILE_LIMIT_S = 60.0
_SHRINKS_MAX = 12
# Of vector descriptors, where all of their segments make too many lines.
_SEGMENTS = (8, 3)
_NO_LINES = 1 << 30


@dataclass(frozen=True)
class Made:
    """The outcome for one test: a program, or the reason why there is none."""

    test: str
    file: Optional[Path] = None
    reason: str = ""


def make(run: conformance.SuiteRun, library: ForeignLibrary, binary: Path, folder: Path,
         note: Callable[[str], None] = lambda name: None) -> list[Made]:
    """Writes the programs to `folder`, one for each failed or known test."""
    cases = [case for case in run.cases if case.outcome in (FAILED, KNOWN) and "." in case.name and not case.name.startswith("(")]
    tests = conformance.list_tests(binary)
    made = []
    with scratch_folders.make() as scratch:
        for case in cases:
            note(case.name)
            workshop = _Workshop(run, library, binary, scratch / "work", _story(run, case, tests.get(case.name, [])))
            text, reason = workshop.program(case)
            file = None
            if text:
                folder.mkdir(parents=True, exist_ok=True)
                file = folder / f"{case.name}-{run.mpi}-np{run.processes}.c"
                file.write_text(text)
            made.append(Made(case.name, file, reason))
    return made


def _story(run: conformance.SuiteRun, case: Case, clauses: Sequence[str]) -> program.Story:
    """A known failure names the clause that it breaks."""
    found = re.match(r"known failure \S+ of ([A-Z]+-\d+):", case.detail)
    clause = found[1] if found else next(iter(clauses), "")
    texts = {one.identifier: one.text for one in traceability.read_clauses()}
    sentence = re.split(r"(?<=[.;]) ", re.sub(r"[`*]", "", texts.get(clause, "")))[0]
    return program.Story(case.name, clause, sentence, f"{run.implementation}, {run.mpi}", "", run.processes)


@dataclass
class _Workshop:
    """Tries programs for one test."""

    run: conformance.SuiteRun
    library: ForeignLibrary
    binary: Path
    folder: Path
    story: program.Story
    end: float = 0.0
    found: str = ""
    segments: int = places.SEGMENTS_MAX

    def program(self, case: Case) -> tuple[str, str]:
        """The text of the program, or why there is none."""
        reason = "the test did not fail again while it was recorded"
        for _ in range(_RECORDINGS):
            processes, detail = self._record(case.name)
            if detail:
                break
        else:
            return "", reason
        self.end = time.monotonic() + _TIME_LIMIT_S
        tries, shortest = 0, _NO_LINES
        for guess in causes.guesses(processes, detail):
            if time.monotonic() > self.end:
                return "", f"none of {tries} programs failed in {_TIME_LIMIT_S:g} s"
            self.segments = next((number for number in (places.SEGMENTS_MAX, *_SEGMENTS)
                                  if self._text(guess, segments=number).count("\n") <= program.LINES_MAX), places.SEGMENTS_MAX)
            text = self._text(guess)
            if not text:
                continue
            shortest = min(shortest, text.count("\n"))
            if text.count("\n") > program.LINES_MAX:
                continue
            tries += 1
            if self._fails(guess, text):
                return self._finished(guess, text), ""
        return "", f"none of {tries} programs fails" if tries else f"the shortest guess has {shortest} lines" if shortest < _NO_LINES else "no guess"

    def _record(self, name: str) -> tuple[list[trace.Process], str]:
        """The processes, and the failure as it is reported this time; empty if the test passes."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        selection = replace(self.run.selection, filter=conformance.exact_names([name]), programs=None,
                            seed=int(self.run.seed) if self.run.seed else None)
        environment = {VARIABLE: str(self.folder)}
        again = conformance.run_suite(self.binary, self.run.implementation, self.run.configuration, self.run.processes, selection,
                                      environment=environment, placement=self.run.placement)
        detail = next((case.detail for case in again.cases if case.outcome == FAILED), "")
        return trace.read(self.folder), detail

    def _text(self, guess: causes.Guess, seeds: Optional[dict[int, list[trace.Call]]] = None, segments: int = 0) -> str:
        made = slices.choose(guess.processes, seeds or guess.seeds)
        if not made.chosen[guess.processes[0].identifier]:
            return ""
        processes = max(len(guess.processes), guess.processes[0].size)
        return program.write(made, guess.judge, replace(self.story, found=self.found or "see below", processes=processes),
                             segments or self.segments)

    def _fails(self, guess: causes.Guess, text: str) -> bool:
        """Whether the program shows the failure on the library, and no other."""
        source, binary = self.folder / "program.c", self.folder / "program"
        source.write_text(text)
        if not compile_program(source, binary, self.library, self.run.mpi):
            return False
        processes = int((re.search(r"mpirun -n (\d+)", text) or ["", "1"])[1])
        failure = failure_of(binary, self.run.configuration, processes)
        if not is_meant(failure, guess):
            return False
        self.found = failure
        return True

    def _finished(self, guess: causes.Guess, text: str) -> str:
        """Without the calls that the failure does not need, and with its words on top."""
        seeds = {identifier: list(calls) for identifier, calls in guess.seeds.items()}
        first = guess.processes[0].identifier
        for identifier, call in [(identifier, call) for identifier, calls in seeds.items() for call in calls][:_SHRINKS_MAX]:
            if call is guess.seeds[first][-1] or time.monotonic() > self.end:
                continue
            fewer = {key: [one for one in calls if one is not call] for key, calls in seeds.items()}
            shorter = self._text(guess, fewer)
            if shorter and shorter.count("\n") < text.count("\n") and self._fails(guess, shorter):
                seeds, text = fewer, shorter
        finished = self._text(guess, seeds)
        return finished if finished.count("\n") <= program.LINES_MAX else text


def is_meant(failure: str, guess: causes.Guess) -> bool:
    """Whether the words of a failed program are those that the guess predicts."""
    kind = guess.judge.kind
    if kind in ("result", "value", "bytes", "warns"):
        return "expected" in failure
    if kind == "ends":
        return "expected" in failure or "status 0" in failure
    if kind == "progress":
        return "does not return" in failure
    calls = [call.name for calls in guess.seeds.values() for call in calls]
    return failure.startswith("the job ends with status") or "a later call" in failure or any(f"{name}(" in failure for name in calls)


def compile_program(source: Path, binary: Path, library: ForeignLibrary, mpi: str) -> bool:
    """Links a program with the library; returns whether that worked."""
    libs = library.libs.replace("{mpi}", mpi).split()
    folders = [str(one) for one in (library.prefix / "lib", library.prefix / "lib64") if one.is_dir()]
    words = [launch.mpi_library(mpi).compiler, "-w", str(source), "-o", str(binary)]
    if library.prefix != Path("/usr"):
        words += [f"-I{library.prefix / 'include'}", *(word for one in folders for word in (f"-L{one}", f"-Wl,-rpath,{one}"))]
    return process.run([*words, *libs], timeout_s=_COMPILE_LIMIT_S).ok


def failure_of(binary: Path, configuration: bazel.Configuration, processes: int) -> str:
    """The words of a program that fails, or how its job ended; empty if it passes."""
    job = launch.Launch((str(binary),), processes, configuration.mpi, configuration.environment())
    result = launch.start(job, timeout_s=_JOB_LIMIT_S)
    lines = [line for line in _lines(result.output) if line.startswith("FAIL")]
    if lines:
        return re.sub(r"^FAIL \[[A-Z]+-\d+\]: ", "", lines[0]).rstrip(". ")
    if result.timed_out:
        return "the job does not end"
    return f"the job ends with status {result.status}" if result.status != 0 else ""


def _lines(output: str) -> Iterator[str]:
    for line in output.splitlines():
        yield line[line.find("FAIL"):] if "FAIL" in line else line
