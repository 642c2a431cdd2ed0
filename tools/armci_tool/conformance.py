"""Runs the conformance suite: a launch per process count, a new launch after a test that killed or hung the job.

After a death the log names the test that was running; the others run in a new launch.
"""

from __future__ import annotations

import math
import random
import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Callable, Iterable, Mapping, Optional, Sequence

from armci_tool import bazel, launch, levels, process, repository, sanitizers, scratch_folders, traceability
from armci_tool.errors import ToolError
from armci_tool.placement import Placement, with_device
from armci_tool.results import FAILED, Case
from armci_tool.suite_log import SuiteLog

if TYPE_CHECKING:
    from armci_tool.libraries import Library

# A library is beyond testing once its tests have killed the job so many times, and more often than they have not. The
# rest is reported as not run.
DEATHS_MIN_TO_GIVE_UP = 10
# A job may die before its first test can begin; one that does so time after time cannot run at all.
FALSE_STARTS_MAX = 3
# The suite ends a test at its own deadline. This is for when it cannot: no line for so many deadlines.
SILENT_DEADLINES = 10
DEFAULT_DEADLINE_S = 30.0
# The case that stands for what was not run any more.
REST = "(rest)"
# Status of the suite when there is no test to run.
_NOTHING_TO_RUN = 2


@dataclass(frozen=True)
class Selection:
    """The tests to run, and how."""

    filter: str = ""
    seed: Optional[int] = None
    deadline_s: float = DEFAULT_DEADLINE_S
    quick: bool = False
    # Whether tests that start child jobs run.
    child_jobs: bool = True
    # Of all launches together; None: none.
    time_limit_s: Optional[float] = None
    # Where programs that show a failure go; None: into the output.
    programs: Optional[Path] = None
    # The level to request of MPI_Init_thread; empty: the default of the suite.
    thread_level: str = ""
    # Only tests that are due at this level of a port or before (levels.py); 0: all.
    level: int = 0
    # Words that start the suite, before its own.
    wrapper: tuple[str, ...] = ()
    # The seed draws one test of so many; 1: all run.
    one_in: int = 1

    def arguments(self) -> list[str]:
        """Options of the suite."""
        options = {"--filter": self.filter, "--seed": self.seed, "--thread-level": self.thread_level,
                   "--artifacts": self.programs and self.programs.absolute()}
        words = [word for option, value in options.items() if value not in (None, "") for word in (option, str(value))]
        return ["--deadline", f"{self.deadline_s:g}", *self.flags(), *words]

    def flags(self) -> list[str]:
        """Those of its options that have no value; the tool and the suite call them the same."""
        return [flag for flag, given in (("--quick", self.quick), ("--no-child-jobs", not self.child_jobs)) if given]


@dataclass(frozen=True)
class SuiteRun:
    """The suite on one implementation, MPI library and process count."""

    implementation: str
    configuration: bazel.Configuration
    processes: int
    cases: tuple[Case, ...]
    seconds: float
    seed: str = ""
    selection: Selection = Selection()
    placement: Placement = Placement()
    # The options that name the library; empty: those for an implementation of this repository.
    library_words: str = ""
    # Settings of the library in the environment, such as `ARMCI_CHECK=1`.
    settings: tuple[str, ...] = ()
    # Of how many runs with other seeds it is made up, and the tests that passed in some and failed in others.
    repeats: int = 1
    flaky: tuple[str, ...] = ()

    @property
    def mpi(self) -> str:
        """The MPI library underneath."""
        return self.configuration.mpi

    @property
    def label(self) -> str:
        """The other properties that set the run apart, such as `2 nodes` or `nodes of 2, simulated`."""
        threads = self.selection.thread_level and f"threads: {self.selection.thread_level}"
        level = f"level {self.selection.level}" if self.selection.level else ""
        return ", ".join(part for part in (self.placement.label, threads, level, *self.settings) if part)

    @property
    def name(self) -> str:
        """Title of the run."""
        return f"{self.implementation}, {self.mpi}, np={self.processes}" + (f", {self.label}" if self.label else "")

    def rerun(self, filter_text: str = "") -> str:
        """The command that repeats it."""
        chosen, pattern = self.selection, filter_text or self.selection.filter
        mode = self.configuration.mode if self.configuration.mode != bazel.DEFAULT_MODE else ""
        words = [*self.settings, "tools/armci conformance", self.library_words or f"--impl {self.implementation}",
                 f"-n {self.processes} --mpi {self.mpi}", *self.placement.arguments(),
                 chosen.thread_level and f"--thread-level {chosen.thread_level}", mode and f"--config {mode}",
                 "--rdma" if self.placement.guest else "", *chosen.flags(),
                 f"--level {chosen.level}" if chosen.level else "", pattern and f"--filter '{pattern}'",
                 self.seed and f"--seed {self.seed}"]
        return " ".join(word for word in words if word)

    def rerun_of(self, name: str) -> str:
        """The command that repeats one test; the whole run for what is no test, such as `(job 1)`."""
        return self.rerun("" if name.startswith("(") else exact_names([name]))


def suite_label(implementation: str) -> str:
    """The suite's program linked with an implementation."""
    return "//conformance:suite" + bazel.target_suffix(implementation)


def list_tests(binary: Path, filter_text: str = "", environment: Mapping[str, str] = {}) -> dict[str, list[str]]:
    """The tests that the filter lets through, each with its clauses; the program starts no MPI for this."""
    words = ["--filter", filter_text] if filter_text else []
    result = process.run([str(binary), "--list-clauses", *words], environment=environment, timeout_s=60)
    if not result.ok:
        raise ToolError("the suite does not list its tests", where=result.tail(10),
                        next_step=f"run {binary} --list-clauses")
    return traceability.parse_test_list(result.output)


def run(library: Library, binary: Path, configuration: bazel.Configuration, processes: int, selection: Selection, *,
        environment: Mapping[str, str] = {}, placement: Placement = Placement(),
        on_test: Callable[[str], None] = lambda name: None) -> SuiteRun:
    """The suite on a library, judged with what is known of it; `binary` is its suite, built in `configuration`."""
    from armci_tool import known_failures
    made = run_suite(binary, library.name, configuration, processes, selection, environment=environment,
                     placement=placement, on_test=on_test)
    made = replace(made, library_words=library.words(), settings=launch.user_settings())
    return known_failures.apply(made, list_tests(binary))


def run_suite(binary: Path, implementation: str, configuration: bazel.Configuration, processes: int,
              selection: Selection, *, environment: Mapping[str, str] = {}, placement: Placement = Placement(),
              on_test: Callable[[str], None] = lambda name: None) -> SuiteRun:
    """Runs all selected tests, also after tests that end the job. If the tests need a device that this machine lacks, they
    run in guests, which are slower."""
    placement = with_device(placement, repository.device_of(implementation))
    environment = {**configuration.environment(), **environment}
    factor = placement.deadline_factor * sanitizers.deadline_factor(configuration.mode)
    if selection.one_in > 1 and selection.seed is None:
        selection = replace(selection, seed=random.randrange(2**32))
    selection = replace(selection, deadline_s=factor * selection.deadline_s)
    job = launch.Launch((str(binary),), processes, configuration.mpi, environment, placement=placement,
                        shares_cpus=True)
    launches = _Launches(job, selection, on_test, seed="" if selection.seed is None else str(selection.seed))
    chosen = list_tests(binary, selection.filter, environment)
    if selection.level:
        launches.left_out = levels.read().above(selection.level, chosen)
    if selection.one_in > 1:
        drawn = random.Random(selection.seed)
        launches.left_out = [*launches.left_out, *(name for name in chosen if drawn.randrange(selection.one_in) > 0)]
    with scratch_folders.make() as scratch:
        while launches.once(scratch / "finished"):
            pass
    finished = launches.finished
    if REST not in finished:
        # The suite came to its end without these tests.
        finished.update({name: Case(name, FAILED, 0.0, "no verdict, though the suite came to its end")
                         for name in chosen if name not in finished and name not in launches.left_out})
    return SuiteRun(implementation, configuration, processes, tuple(finished.values()), launches.seconds, launches.seed,
                    selection, placement)


@dataclass
class _Launches:
    """The launches that one run of the suite takes: each goes on behind the test that killed the one before."""

    job: launch.Launch
    selection: Selection
    on_test: Callable[[str], None]
    seed: str
    left_out: Sequence[str] = ()
    finished: dict[str, Case] = field(default_factory=dict)
    seconds: float = 0.0
    deaths: int = 0
    false_starts: int = 0

    def once(self, list_file: Path) -> bool:
        """Starts the job for what is not finished; returns whether another launch is needed."""
        log = SuiteLog(self.on_test)
        limit = self.selection.time_limit_s
        program = (*self.selection.wrapper, *self.job.program, *self._arguments(list_file))
        result = launch.start(replace(self.job, program=program), on_line=log.feed,
                              timeout_s=None if limit is None else max(limit - self.seconds, 1.0),
                              silence_s=SILENT_DEADLINES * self.selection.deadline_s)
        log.close()
        self.seconds += result.seconds
        # Later launches repeat the first one's seed, so that one rerun line fits them all.
        self.seed = self.seed or log.seed
        if log.complete and not result.timed_out:
            self.finished.update(log.cases)
            if found := log.objections(result.status, result.left_behind):
                self._fail(f"(job {self.deaths + 1})", *found, *log.recent)
            return False
        has_tests = bool(log.cases or log.running)
        # The output of a dying rank overtakes the verdicts of the tests before: those it seems to name run once more.
        self.finished.update({name: case for name, case in log.cases.items() if name not in log.suspects})
        if self.deaths > 0 and not has_tests and result.status == _NOTHING_TO_RUN:
            return False  # the deaths were after the last test: nothing was left for this launch
        self.deaths += 1
        if self.seconds >= (limit or math.inf):
            return self._fail(REST, f"cut off after {self.seconds:.0f} s, in {log.running or 'no test'}")
        return self._after_death(log, result, has_tests)

    def _after_death(self, log: SuiteLog, result: process.Result, has_tests: bool) -> bool:
        # The test that happens to be the first is not to blame for an init that fails.
        started = not log.init_failed and not log.starting
        victim = log.running if log.running and started else f"(job {self.deaths})"
        place = victim if started else "ARMCI_Init"
        how = (f"hung in {place}: ended by the tool" if result.timed_out else
               f"the job ended with status {result.status} in {place}")
        left = [f"left behind: {item}" for item in result.left_behind]
        self._fail(victim, how, *log.contradictions, *left, *log.recent)
        self.false_starts = 0 if started and has_tests else self.false_starts + 1
        if self.false_starts == FALSE_STARTS_MAX:
            return self._fail(REST, f"given up: {self.false_starts} launches in a row died before their first test")
        if self.deaths > DEATHS_MIN_TO_GIVE_UP and self.deaths > len(self.finished) / 2:
            return self._fail(REST, f"given up after {self.deaths} deaths of the job")
        return has_tests or result.status != _NOTHING_TO_RUN

    def _arguments(self, list_file: Path) -> list[str]:
        arguments = replace(self.selection, seed=int(self.seed) if self.seed else None).arguments()
        if not self.finished and not self.left_out:
            return arguments
        list_file.write_text("".join(f"{name}\n" for name in [*self.left_out, *self.finished]))
        return [*arguments, "--exclude-listed", str(list_file)]

    def _fail(self, name: str, *lines: str) -> bool:
        self.finished[name] = Case(name, FAILED, 0.0, "\n".join(lines))
        return False


def exact_names(names: Iterable[str]) -> str:
    """A regular expression that matches these test names and no others."""
    return "^(" + "|".join(re.escape(name).replace("\\-", "-") for name in names) + ")$"
