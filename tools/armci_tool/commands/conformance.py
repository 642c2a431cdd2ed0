"""`conformance`: runs the conformance suite and prints the outcome per clause."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace as Namespace
from typing import Any, Sequence

import click

from armci_tool import (bazel, conformance, environment, flakes, launch, levels, libraries, matrix, matrix_report,
                        mutants, placement, port_report, programs, repository, traceability)
from armci_tool.commands import options
from armci_tool.console import Progress, duration
from armci_tool.errors import ToolError
from armci_tool.reproducers import maker
from armci_tool.results import FAILED, KNOWN, Case

DETAIL_LINES = 40
# Folder of the report for programs that show a failure.
PROGRAMS = "programs"

# The titles of conformance/levels.toml, held against it by a test: the file is not read before it is needed.
_LEVEL_HELP = ("only the tests that a port of that level passes, see docs/porting.md: 1 start and memory, 2 contiguous put and "
               "get, 3 all that is made of put and get, 4 the atomic and all that is made of it, 5 everything; each "
               "includes the ones before, and conformance/levels.toml says which clauses are due where (default: all)")


@options.command("conformance", "tools/armci conformance --impl all --mpi all -n 2,4 --report report",
                 "tools/armci conformance --impl loopback -n 4 --simulate-node-size 2",
                 "tools/armci conformance --impl shmem -n 2 --quick --repeat 30",
                 "tools/armci conformance --impl loopback -n 2 --quick --level 2")
@options.implementations("implementations, or all; may be repeated (default: all; none if --prefix is given)")
@options.repeated("-n", "processes", of=options.COUNT, default=["4"], show_default=True, metavar="N[,N...]",
                  help="numbers of processes; may be repeated")
@click.option("--filter", default="", metavar="CLAUSE",
              help="clause such as ORD-1, or a regular expression found in the test's name")
@click.option("--level", metavar="N", type=options.WholeNumber(levels.FIRST, levels.LAST), help=_LEVEL_HELP)
@click.option("--seed", metavar="SEED", type=options.WholeNumber(0, 2**64 - 1), help="seed of the random tests, to repeat a run")
@click.option("--deadline", type=options.SECONDS, metavar="SECONDS",
              help=f"time a test may take (default: {conformance.DEFAULT_DEADLINE_S:g}, for a foreign library "
              f"{libraries.FOREIGN_DEADLINE_S:g}); longer in guests and under sanitizers")
@click.option("--thread-level", type=click.Choice(["single", "funneled", "serialized", "multiple"]),
              help="what the suite requests of MPI_Init_thread (default: multiple)")
@click.option("--quick", is_flag=True, help="fewer repetitions in each test")
@click.option("--no-child-jobs", is_flag=True,
              help="skip tests that start child jobs: their outcome does not depend on the number of processes")
@click.option("--repeat", type=options.COUNT, default=1, metavar="R",
              help="run everything R times, with seeds S, S+1, ..., and report what is flaky")
@click.option("--programs/--no-programs", "with_programs", default=True, show_default=True,
              help="with --report: for each failure of a foreign library, a program in C that shows it")
@options.placed
@click.option("--rdma", is_flag=True,
              help="in a guest with a verbs device (see tools/armci rdma), for an implementation that can take one and "
              "need not, as ucx with UCX_TLS=rc,self")
@click.option("--report", type=options.PATH, metavar="DIR",
              help="write matrix.txt, matrix.json, junit.xml, index.html and port-NAME.md there, with --repeat flakes.json")
@click.option("--mutants", is_flag=True,
              help="run the defective libraries first, so that the report has their score (some minutes)")
@options.configurations
@options.verbose
@options.foreign
@click.option("--suite", type=options.PATH, metavar="FILE",
              help="a suite that is linked already, or a script that starts one: nothing is built; --impl or --name names "
              "its library")
@options.wrapped
def execute(where: placement.Placement, configurations: Sequence[bazel.Configuration], **values: Any) -> int:
    """Runs the command; 0 when every test passed or was skipped with a reason."""
    given = Namespace(**values)
    if given.report:
        options.require_folder(given.report)
    elif given.mutants:
        raise ToolError("--mutants needs a report", next_step="add --report DIR, or use tools/armci mutants")
    if given.rdma:
        if where.kind == "machine":
            raise ToolError("--rdma needs more than one node", next_step="add --simulate-node-size 1")
        where = placement.in_guest(where)
    chosen_libraries = _libraries(given)
    for library in chosen_libraries:
        launch.require(placement.with_device(where, repository.device_of(library.name)))
    clauses = traceability.read_clauses()
    built = _build(chosen_libraries, configurations, given.verbose)
    if given.mutants:
        defective = bazel.built(mutants.LABEL, configurations[0], verbose=given.verbose)
        with Progress("mutants") as progress:
            mutants.write_report(given.report, *mutants.examine(defective, configurations[0], progress.note))
    # Read before the tests run: a mistake in the file is an error at once.
    mutation = matrix.read_mutation(given.report) if given.report else None
    tests: dict[str, list[str]] = {}
    for _, _, binary in built:
        tests.update(conformance.list_tests(binary))
    _require_match(given.filter, tests, given.level or 0)
    described = environment.describe(one.mpi for one in configurations)
    repeats: list[list[conformance.SuiteRun]] = []
    for library, used, binary in built:
        for processes in given.processes:
            repeats.append(flakes.repeat(partial(_run, binary, library, used, processes, where),
                                         _selection(given, library, processes), given.repeat))
            if given.report and given.with_programs and given.repeat == 1 and isinstance(library, libraries.ForeignLibrary):
                repeats[-1] = [_with_programs(one, library, binary, given.report) for one in repeats[-1]]
            made = matrix.build([flakes.combine(each) for each in repeats], clauses, tests, described, mutation)
            # After each, so that an end in the middle loses only the run that is not over.
            written = _write_report(given, made, repeats) if given.report else []
    print()
    print(matrix_report.screen(made))
    _print_failures(made.runs)
    if given.repeat > 1:
        print("\n" + "\n\n".join(flakes.render(each) for each in repeats))
    for path in written:
        print(f"wrote {path}")
    defects_missed = given.mutants and mutation is not None and not mutation.perfect
    return 1 if defects_missed or any(step.count(FAILED) for step in matrix.steps(made.runs)) else 0


def _require_match(text: str, tests: dict[str, list[str]], level: int = 0) -> None:
    try:
        pattern = re.compile(text)
    except re.error as error:
        raise ToolError(f"--filter {text!r} is no regular expression", where=str(error),
                        next_step="give a clause such as ORD-1, or a part of a test's name") from error
    matching = {name: clauses for name, clauses in tests.items()
                if pattern.search(name) or any(pattern.fullmatch(clause) for clause in clauses)}
    if not matching:
        raise ToolError(f"no test matches --filter {text!r}", next_step="see tools/armci traceability for the clauses")
    if level and len(levels.read().above(level, matching)) == len(matching):
        least = min(levels.read().of_test(name, clauses) for name, clauses in matching.items())
        raise ToolError(f"no test that matches --filter {text!r} is of level {level}",
                        next_step=f"give --level {least}, where the first of them is due, or no level")


def _libraries(given: Namespace) -> list[libraries.Library]:
    if given.suite:
        if given.prefix:
            raise ToolError("--suite is linked already, and --prefix links one", next_step="leave one of them out")
        return [libraries.linked(programs.existing(str(given.suite)), given.impl, given.name)]
    chosen: list[libraries.Library] = []
    if given.impl or not given.prefix:
        chosen += [libraries.OwnLibrary(name) for name in dict.fromkeys(
            name for choice in given.impl or ["all"] for name in repository.choose_implementations(choice))]
    foreign = libraries.foreign(given.prefix, given.libs, given.name)
    return chosen + [foreign] if foreign else chosen


def _build(chosen: list[libraries.Library], configured: Sequence[bazel.Configuration],
           verbose: bool) -> list[tuple[libraries.Library, bazel.Configuration, Path]]:
    """All before anything runs; those of one configuration together, for Bazel forgets much when it changes."""
    made = []
    for base in configured:
        for library in chosen:
            used = library.configuration(base)
            if isinstance(library, libraries.LinkedSuite):
                programs.require_mpi(library.file, used)
                binary = library.file
            else:
                binary = bazel.built(library.suite, used, verbose=verbose)
            made.append((library, used, binary))
    return sorted(made, key=lambda one: chosen.index(one[0]))


def _selection(given: Namespace, library: libraries.Library, processes: int) -> conformance.Selection:
    return conformance.Selection(given.filter, given.seed, given.deadline or library.deadline_s(processes),
                                 given.quick, not given.no_child_jobs, library.time_limit_s,
                                 given.report / PROGRAMS if given.report else None, given.thread_level or "",
                                 given.level or 0, given.wrapper)


def _run(binary: Path, library: libraries.Library, chosen: bazel.Configuration, processes: int,
         where: placement.Placement, selection: conformance.Selection) -> conformance.SuiteRun:
    with Progress(f"{library.name}, {launch.mpi_library(chosen.mpi).name}, np={processes}") as progress:
        made = conformance.run(library, binary, chosen, processes, selection, placement=where, on_test=progress.note)
    if wrapper := shlex.join(selection.wrapper):
        made = replace(made, library_words=f"{made.library_words} --wrapper {shlex.quote(wrapper)}")
    counts = {outcome: sum(case.outcome == outcome for case in made.cases) for outcome in (FAILED, KNOWN)}
    print(f"{made.name}: {len(made.cases)} tests, {counts[FAILED]} failed, {counts[KNOWN]} known failures, "
          f"{duration(made.seconds)}")
    return made


def _with_programs(run: conformance.SuiteRun, library: libraries.ForeignLibrary, binary: Path,
                   report: Path) -> conformance.SuiteRun:
    """Each failure has the program that shows it, or the reason why there is none."""
    with Progress(f"{run.name}: programs that show the failures") as progress:
        made = {one.test: one for one in maker.make(run, library, binary, report / PROGRAMS, progress.note)}
    if made:
        print(f"{run.name}: {sum(one.file is not None for one in made.values())} of {len(made)} failures have a program")

    def with_program(case: Case) -> Case:
        one = made.get(case.name)
        if one is None:
            return case
        return replace(case, program=f"{PROGRAMS}/{one.file.name}" if one.file else "", no_program=one.reason)
    return replace(run, cases=tuple(with_program(case) for case in run.cases))


def _write_report(given: Namespace, made: matrix.Matrix,
                  repeats: list[list[conformance.SuiteRun]]) -> list[Path]:
    written = [*matrix_report.write(given.report, made), *port_report.write(given.report, made)]
    if given.repeat > 1:
        written.append(given.report / "flakes.json")
        written[-1].write_text(json.dumps([flakes.as_json(each) for each in repeats], indent=1) + "\n")
    return written


def _print_failures(runs: Sequence[conformance.SuiteRun]) -> None:
    for run in runs:
        for case in run.cases:
            if case.outcome == FAILED:
                detail = case.detail.strip().splitlines()[:DETAIL_LINES]
                print(f"\nFAILED {case.name} ({run.name})")
                print("\n".join("    " + line for line in detail))
                print("  rerun: " + run.rerun_of(case.name))
