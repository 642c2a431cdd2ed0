"""Runs the suite on defective libraries: each must fail a test that names the clause it breaks.

The program of the mutants is the suite with all of them compiled in; an environment variable chooses one, and
`list` as its name prints the table. A kill counts only when the same test passes without the mutant, so the tests that
killed are run once more on the right library (the control).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Callable, Iterable, Mapping, Optional, Sequence

from armci_tool import (bazel, conformance, console, data_files, git, launch, process, repository, results, sanitizers,
                        shards, traceability)
from armci_tool.conformance import DEFAULT_DEADLINE_S, Selection
from armci_tool.data_files import Entry, Text
from armci_tool.errors import ToolError
from armci_tool.placement import Placement, with_device
from armci_tool.repository import ROOT
from armci_tool.results import FAILED, PASSED, Case, Step
from armci_tool.shards import WHOLE, Shard
from armci_tool.suite_log import SuiteLog

WAIVERS_FILE = ROOT / "conformance" / "mutants" / "waivers.toml"
LABEL = "//conformance/mutants:suite_mutants"
# Implementations whose own sources have mutants (impl/testing/mutants), besides the defective libraries.
PORTS = repository.mutated_ports()
IMPLEMENTATION = "mutants"
VARIABLE = "CONFORMANCE_MUTANT"
LIST = "list"

KILLED = "killed"
SURVIVED = "survived"
# Of a library that is no mutant at all, only unusual: all its tests passed, as they must.
ACCEPTED = "accepted"
REFUSED = "refused"

# A mutant that makes the program hang is seen by a deadline; the right library needs a fraction of a second.
HANG_DEADLINE_S = 2.5
# A failed suite is the normal case here: without this Open MPI's launcher waits a second before it ends each.
LAUNCHER_SETTINGS = {"OMPI_MCA_odls_base_sigkill_timeout": "0"}
CONTROL_PROCESSES = 4
# The case that says whether every clause has a mutant.
COVERAGE = "mutants of every clause"


@dataclass(frozen=True)
class Mutant:
    """A row of the program's table."""

    name: str
    clause: str
    processes: int
    legal: bool
    hangs: bool
    filter: str
    description: str
    # Of a port: nodes, or processes of a simulated one, and settings under which it is seen.
    nodes: int = 0
    node_size: int = 0
    settings: tuple[tuple[str, str], ...] = ()
    # In place of a program that shows it, the description says why none can.
    explained: bool = False
    device: str = ""  # that its port needs between nodes

    @property
    def placement(self) -> Placement:
        """Where its tests run."""
        return with_device(Placement(self.nodes, self.node_size), self.device)


class Waiver(Entry):
    """A clause of which no mutant can be made."""

    clause: Text
    reason: Text


class Waivers(Entry):
    """conformance/mutants/waivers.toml."""

    waiver: list[Waiver] = []


@dataclass(frozen=True)
class Outcome:
    """The result of the suite on one mutant; `detail` is the output where a survivor or a refusal needs explaining."""

    mutant: Mutant
    state: str
    killed_by: tuple[str, ...]
    seconds: float
    processes: int
    detail: str = ""
    short: bool = True  # the tests ran in their short form

    @property
    def good(self) -> bool:
        """True for a killed mutant and an accepted legal library."""
        return self.state in (KILLED, ACCEPTED)

    @property
    def rerun(self) -> str:
        """The command that repeats it alone."""
        return f"tools/armci mutants --filter {self.mutant.name}"


def read_table(binary: Path) -> list[Mutant]:
    """All mutants; the program starts no MPI for this."""
    result = process.run([str(binary)], environment={VARIABLE: LIST}, timeout_s=60)
    if not result.ok:
        raise ToolError("the suite does not list its mutants", where=result.tail(10),
                        next_step=f"run {VARIABLE}={LIST} {binary}")
    return parse_table(result.output)


def parse_table(text: str) -> list[Mutant]:
    """Lines of `name, clause, processes, traits, filter, description`, separated by tabs."""
    made: dict[str, Mutant] = {}
    for line in text.splitlines():
        fields = line.split("\t")
        if len(fields) != 6 or not fields[2].isdigit():
            raise ToolError("cannot read the table of mutants", where=f"line {line!r}",
                            next_step="print six fields, separated by tabs, for each mutant")
        name, clause, processes, traits, filter_text, description = fields
        if name in made:
            raise ToolError(f"two mutants have the name {name}", next_step="give one of them another name")
        words = traits.split(",")
        values = dict(word.split("=", 1) for word in words if "=" in word)
        nodes, node_size = (int(values.pop(key, 0)) for key in ("nodes", "node_size"))
        made[name] = Mutant(name, clause, int(processes), "legal" in words, "hangs" in words, filter_text, description,
                            nodes, node_size, tuple(values.items()), "explained" in words)
    if not made:
        raise ToolError("the table of mutants is empty", next_step="run a suite that is linked with mutants")
    return list(made.values())


def choose(table: Sequence[Mutant], text: str) -> list[Mutant]:
    """Those whose name contains the text, or whose clause or chapter it is."""
    chosen = [mutant for mutant in table
              if text in mutant.name or text in (mutant.clause, mutant.clause.rpartition("-")[0])]
    if not chosen:
        raise ToolError(f"no mutant matches {text!r}", next_step="give a part of a name, or a clause such as FENCE-1")
    return chosen


def read_waivers(path: Path = WAIVERS_FILE) -> dict[str, str]:
    """Clauses of which no mutant can be made, with the reason."""
    found = data_files.read(path, Waivers, "the waivers of mutants",
                            "write entries under [[waiver]], each with clause and reason")
    return {entry.clause: entry.reason for entry in found.waiver if entry.reason.strip()}


def gaps(clauses: Sequence[str], table: Sequence[Mutant], waivers: Mapping[str, str]) -> list[str]:
    """Sentences about clauses whose tests nothing shows to be able to fail, and about waivers that waive nothing."""
    broken = {mutant.clause for mutant in table if not mutant.legal}
    problems = [f"{clause} has no mutant" for clause in clauses if clause not in broken and clause not in waivers]
    problems += [f"{clause} is waived and has a mutant" for clause in waivers if clause in broken]
    problems += [f"{clause} is waived, and spec/semantics.md does not have it" for clause in waivers
                 if clause not in clauses]
    problems += [f"mutant {mutant.name} names {mutant.clause}, which spec/semantics.md does not have"
                 for mutant in table if mutant.clause not in clauses]
    return problems


def killers(log: SuiteLog, status: int, clause: str, tests: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Tests that name the clause and failed, or in which the job died or passed its deadline."""
    failed = [name for name, case in log.cases.items() if case.outcome == FAILED]
    if log.running and not log.complete and status != 0:
        failed.append(log.running)
    return tuple(name for name in failed if clause in tests.get(name, ()))


def label(port: str) -> str:
    """The program with the mutants of a port, or with the defective libraries for an empty name."""
    return LABEL + bazel.target_suffix(port) if port else LABEL


def run_mutant(binary: Path, mutant: Mutant, tests: Mapping[str, Sequence[str]], configuration: bazel.Configuration,
               *, processes: Optional[int] = None) -> Outcome:
    """Runs the tests of its clause until one fails: in their short form first, and at length if that is in vain."""
    count = max(processes or 0, mutant.processes)
    seconds = 0.0
    factor = sanitizers.deadline_factor(configuration.mode)
    placement = mutant.placement
    deadline = factor * placement.deadline_factor * (HANG_DEADLINE_S if mutant.hangs else DEFAULT_DEADLINE_S)
    settings = {**configuration.environment(), VARIABLE: mutant.name, **LAUNCHER_SETTINGS, **dict(mutant.settings)}
    for short in (True, False):
        log = SuiteLog()
        words = Selection(filter=mutant.filter, deadline_s=deadline, quick=short).arguments()
        program = (str(binary), *words, *([] if mutant.legal else ["--fail-fast"]))
        result = launch.start(launch.Launch(program, count, configuration.mpi, settings, placement=placement, shares_cpus=True),
                              silence_s=conformance.SILENT_DEADLINES * deadline, on_line=log.feed)
        log.close()
        seconds += result.seconds
        killed_by = killers(log, result.status, mutant.clause, tests)
        if mutant.legal:
            accepted = log.complete and result.status == 0
            return Outcome(mutant, ACCEPTED if accepted else REFUSED, killed_by, seconds, count,
                           "" if accepted else result.tail())
        if killed_by:
            return Outcome(mutant, KILLED, killed_by, seconds, count, short=short)
    return Outcome(mutant, SURVIVED, (), seconds, count, result.tail())


def control(binary: Path, outcomes: Sequence[Outcome], configuration: bazel.Configuration,
            on_test: Callable[[str], None] = lambda name: None) -> list[Case]:
    """The tests that killed, without a mutant: one that fails here has killed nothing."""
    killed: dict[tuple[int, bool, int, int, str, tuple[tuple[str, str], ...]], set[str]] = {}
    for outcome in outcomes:
        if outcome.state == KILLED:
            mutant = outcome.mutant
            run = (outcome.processes, outcome.short, mutant.nodes, mutant.node_size, mutant.device, mutant.settings)
            killed.setdefault(run, set()).update(outcome.killed_by)
    return [case for run in sorted(killed)
            for case in _control(binary, sorted(killed[run]), run[0], configuration, run[1], on_test,
                                 with_device(Placement(run[2], run[3]), run[4]), dict(run[5]))]


def _control(binary: Path, names: Iterable[str], processes: int, configuration: bazel.Configuration, short: bool,
             on_test: Callable[[str], None], placement: Placement = Placement(),
             settings: Mapping[str, str] = {}) -> list[Case]:
    selection = Selection(filter=conformance.exact_names(names), quick=short)
    made = conformance.run_suite(binary, IMPLEMENTATION, configuration, processes, selection,
                                 environment={VARIABLE: "", **settings}, placement=placement, on_test=on_test)
    return [replace(case, name=f"control np={processes} {case.name}") for case in made.cases]


def examine(binary: Path, configuration: bazel.Configuration, note: Callable[[str], None], *, filter_text: str = "",
            processes: Optional[int] = None, whole: bool = False, shard: Shard = WHOLE,
            port: str = "") -> tuple[list[Outcome], list[Case]]:
    """Runs the mutants, then the controls; with `whole` the whole suite is a control too: the program itself breaks
    nothing. Without a filter or a port, one more case says whether every clause has a mutant."""
    tests = conformance.list_tests(binary)
    table = [replace(mutant, device=repository.device_of(port)) for mutant in read_table(binary) if not mutant.explained]
    chosen = shards.take(choose(table, filter_text), shard)
    if not chosen:
        raise ToolError(f"shard {shard[0]} of {shard[1]} has no mutant", next_step="give --share a smaller N")
    outcomes: list[Outcome] = []
    for number, mutant in enumerate(chosen, 1):
        note(f"{number} of {len(chosen)}, {sum(not outcome.good for outcome in outcomes)} not killed, {mutant.name}")
        outcomes.append(run_mutant(binary, mutant, tests, configuration, processes=processes))
    controls = control(binary, outcomes, configuration, note)
    if whole:
        controls += _control(binary, tests, processes or CONTROL_PROCESSES, configuration, True, note)
    if not filter_text and not port:
        problems = gaps([clause.identifier for clause in traceability.read_clauses()], table, read_waivers())
        if problems:
            problems.append(f"write a mutant (conformance/README.md), or waive it in {WAIVERS_FILE.relative_to(ROOT)}")
        controls.append(Case(COVERAGE, FAILED if problems else PASSED, detail="\n".join(problems)))
    return outcomes, controls


def _defects(outcomes: Sequence[Outcome]) -> list[Outcome]:
    return [outcome for outcome in outcomes if not outcome.mutant.legal]


def score(outcomes: Sequence[Outcome]) -> float:
    """Killed of all that are defective."""
    defects = _defects(outcomes)
    return sum(outcome.good for outcome in defects) / len(defects) if defects else 1.0


def cases(outcomes: Sequence[Outcome], controls: Sequence[Case]) -> list[Case]:
    """For a report of tests: a case for each mutant, then the controls."""
    made = []
    for outcome in outcomes:
        what = f"{outcome.state}: {outcome.mutant.description} [{outcome.mutant.clause}]"
        detail = "" if outcome.good else "\n".join([what, f"rerun: {outcome.rerun}", *outcome.detail.splitlines()])
        made.append(Case(f"mutant.{outcome.mutant.name}", PASSED if outcome.good else FAILED, outcome.seconds, detail))
    return [*made, *controls]


def render(outcomes: Sequence[Outcome], controls: Sequence[Case]) -> str:
    """Text table, the score and the state of the control."""
    rows = [[outcome.mutant.name, outcome.mutant.clause, outcome.state, str(outcome.processes),
             f"{outcome.seconds:.1f} s", ", ".join(outcome.killed_by)] for outcome in outcomes]
    # The last column is text, and long: it stands outside the padded ones.
    table = console.table(["mutant", "clause", "state", "np", "time", "killed by"], rows, numeric_from=6)
    defects = _defects(outcomes)
    tests = [case for case in controls if case.name != COVERAGE]
    failed = [case.name for case in tests if case.outcome == FAILED]
    lines = [table, "", f"{sum(outcome.good for outcome in defects)} of {len(defects)} mutants killed; "
             f"mutation score {100 * score(outcomes):.1f} %",
             f"control: {len(tests)} tests without a mutant, {len(failed)} failed",
             *(f"  failed: {name}" for name in failed)]
    for case in controls:
        if case.name == COVERAGE:
            lines.append("clauses: each has a mutant or is waived" if case.outcome == PASSED else "clauses:")
            lines += [f"  {line}" for line in case.detail.splitlines()]
    return "\n".join(lines)


def render_explained(table: Sequence[Mutant]) -> str:
    """The defects that no program can see, each with the reason."""
    return "\n".join(f"explained: {mutant.name} [{mutant.clause}], {mutant.description}" for mutant in table if mutant.explained)


def write_report(folder: Path, outcomes: Sequence[Outcome], controls: Sequence[Case], *,
                 part: str = "") -> list[Path]:
    """mutants.txt, .json and .xml (JUnit) in `folder`; `part` is the filter when not all mutants were run. In the JSON,
    which the report of the suite reads, legal libraries stand apart: they are not part of the score."""
    folder.mkdir(parents=True, exist_ok=True)
    text, data, junit = (folder / f"mutants.{suffix}" for suffix in ("txt", "json", "xml"))
    text.write_text(render(outcomes, controls) + "\n")
    data.write_text(json.dumps({
        "commit": git.commit(),
        "part": part,
        "mutants": [_entry(outcome) for outcome in _defects(outcomes)],
        "legal": [_entry(outcome) for outcome in outcomes if outcome.mutant.legal],
        "control": [{"name": case.name, "outcome": case.outcome, "detail": case.detail} for case in controls],
        "score": score(outcomes),
    }, indent=1) + "\n")
    seconds = sum(outcome.seconds for outcome in outcomes)
    results.write_junit(junit, [Step("mutants", cases(outcomes, controls), seconds, "tools/armci mutants")])
    return [text, data, junit]


def _entry(outcome: Outcome) -> dict[str, object]:
    return {"name": outcome.mutant.name, "clause": outcome.mutant.clause, "description": outcome.mutant.description,
            "killed_by": list(outcome.killed_by), "state": outcome.state, "processes": outcome.processes,
            "seconds": round(outcome.seconds, 3), "rerun": outcome.rerun}
