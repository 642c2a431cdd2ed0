"""`conformance`: runs the conformance suite and prints the outcome per clause."""

from __future__ import annotations

import argparse
import json
import re
from functools import partial
from pathlib import Path
from typing import Sequence

from armci_tool import (bazel, campaign, conformance, environment, flakes, launch, levels, libraries, matrix, matrix_html,
                        matrix_report, matrix_text, mutants, option_types, placement, repository, traceability)
from armci_tool.console import Progress, duration
from armci_tool.errors import ToolError
from armci_tool.results import FAILED, KNOWN
from armci_tool.verbs import add_configurations, add_verbose, configurations, make_parser, require_folder

DETAIL_LINES = 40
THREAD_LEVELS = ("single", "funneled", "serialized", "multiple")
# Folder of the report for programs that show a failure.
PROGRAMS = "programs"
_EXAMPLES = "\n  ".join(("tools/armci conformance --impl all --mpi all -n 2,4 --report report",
                         "tools/armci conformance --impl loopback -n 4 --simulate-node-size 2",
                         "tools/armci conformance --impl shmem -n 2 --quick --repeat 30",
                         "tools/armci conformance --impl loopback -n 2 --quick --level 2"))

# The titles of conformance/levels.toml, held against it by a test: the file is not read before it is needed.
_LEVEL_HELP = ("only the tests that a port of that level passes, see docs/porting.md: 1 start and memory, 2 contiguous put and "
               "get, 3 all that is made of put and get, 4 the atomic and all that is made of it, 5 everything; each "
               "includes the ones before, and conformance/levels.toml says which clauses are due where (default: all)")


def add_parser(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Declares the verb."""
    made = make_parser(verbs, "conformance", "check implementations against the clauses of spec/semantics.md",
                       _EXAMPLES, execute)
    made.add_argument("--impl", action="append", type=option_types.words, metavar="NAME[,NAME...]",
                      help="implementations, or all; may be repeated (default: all; none if --prefix is given)")
    made.add_argument("-n", dest="processes", action="append", type=option_types.counts, metavar="N[,N...]",
                      help="numbers of processes; may be repeated (default: 4)")
    made.add_argument("--filter", default="", metavar="CLAUSE",
                      help="clause such as ORD-1, or a regular expression found in the test's name")
    made.add_argument("--level", type=int, default=0, choices=levels.NUMBERS,
                      help=_LEVEL_HELP)
    made.add_argument("--seed", type=option_types.seed, help="seed of the random tests, to repeat a run")
    made.add_argument("--deadline", type=option_types.seconds, metavar="SECONDS",
                      help=f"time a test may take (default: {conformance.DEFAULT_DEADLINE_S:g}, for a foreign library "
                      f"{libraries.FOREIGN_DEADLINE_S:g}); longer in guests and under sanitizers")
    made.add_argument("--thread-level", default="", choices=THREAD_LEVELS,
                      help="what the suite asks of MPI_Init_thread (default: multiple)")
    made.add_argument("--quick", action="store_true", help="fewer repetitions in each test")
    made.add_argument("--repeat", type=option_types.count, default=1, metavar="R",
                      help="run everything R times, with seeds S, S+1, ..., and report what is flaky")
    placement.add_arguments(made)
    made.add_argument("--rdma", action="store_true",
                      help="in a guest with a verbs device (see tools/armci rdma), for an implementation that can take one "
                      "and need not, as ucx with UCX_TLS=rc,self")
    made.add_argument("--report", type=option_types.path, metavar="DIR",
                      help="write matrix.txt, matrix.json, junit.xml and index.html there, with --repeat flakes.json")
    made.add_argument("--mutants", action="store_true",
                      help="run the defective libraries first, so that the report has their score (some minutes)")
    add_configurations(made)
    add_verbose(made)
    libraries.add_foreign_arguments(made)


def execute(options: argparse.Namespace) -> int:
    """Runs the verb; 0 when every test passed or was skipped with a reason."""
    if options.report:
        matrix_html.require()
        require_folder(options.report)
    elif options.mutants:
        raise ToolError("--mutants is for a report", next_step="add --report DIR, or use tools/armci mutants")
    where = placement.from_options(options)
    if options.rdma:
        if where.kind == "machine":
            raise ToolError("--rdma is about what is between nodes", next_step="add --simulate-node-size 1")
        where = placement.in_guest(where)
    chosen_libraries = _libraries(options)
    for library in chosen_libraries:
        launch.require(placement.with_device(where, repository.device_of(library.name)))
    clauses = traceability.read_clauses()
    chosen = configurations(options)
    built = _build(chosen_libraries, chosen, options.verbose)
    if options.mutants:
        defective = bazel.built(mutants.LABEL, chosen[0], verbose=options.verbose)
        with Progress("mutants") as progress:
            mutants.write_report(options.report, *mutants.examine(defective, chosen[0], progress.note))
    # Read before the tests run: a file that is wrong is told at once.
    mutation = matrix.read_mutation(options.report) if options.report else None
    tests: dict[str, list[str]] = {}
    for _, _, binary in built:
        tests.update(traceability.parse_test_list(conformance.list_tests(binary)))
    _require_match(options.filter, tests, options.level)
    counts = dict.fromkeys(count for part in options.processes or [[4]] for count in part)
    described = environment.describe(one.mpi for one in chosen)
    repeats: list[list[conformance.SuiteRun]] = []
    for library, used, binary in built:
        for processes in counts:
            repeats.append(flakes.repeat(partial(_run, binary, library, used, processes, where),
                                         _selection(options, library, processes), options.repeat))
            made = matrix.build([flakes.combine(each) for each in repeats], clauses, tests, described, mutation)
            # After each, so that an end in the middle loses only what was under way.
            written = _write_report(options, made, repeats) if options.report else []
    print()
    print(matrix_text.screen(made))
    _print_failures(made.runs)
    if options.repeat > 1:
        print("\n" + "\n\n".join(flakes.render(each) for each in repeats))
    for path in written:
        print(f"wrote {path}")
    defects_missed = options.mutants and mutation is not None and not mutation.perfect
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


def _implementations(choices: list[list[str]]) -> list[str]:
    """What --impl names, each once."""
    named = (name for part in choices for choice in part for name in repository.choose_implementations(choice))
    return list(dict.fromkeys(named))


def _libraries(options: argparse.Namespace) -> list[libraries.Library]:
    chosen: list[libraries.Library] = []
    if options.impl or not options.prefix:
        chosen += [libraries.OwnLibrary(name) for name in _implementations(options.impl or [["all"]])]
    foreign = libraries.foreign_from_options(options)
    return chosen + [foreign] if foreign else chosen


def _build(chosen: list[libraries.Library], configured: list[bazel.Configuration],
           verbose: bool) -> list[tuple[libraries.Library, bazel.Configuration, Path]]:
    """All before anything runs; those of one configuration together, for Bazel forgets much when it changes."""
    made = []
    for base in configured:
        for library in chosen:
            used = library.configuration(base)
            made.append((library, used, bazel.built(library.suite, used, verbose=verbose)))
    return sorted(made, key=lambda one: chosen.index(one[0]))


def _selection(options: argparse.Namespace, library: libraries.Library, processes: int) -> conformance.Selection:
    return conformance.Selection(options.filter, options.seed, options.deadline or library.deadline_s(processes),
                                 options.quick, library.time_limit_s,
                                 options.report / PROGRAMS if options.report else None, options.thread_level,
                                 options.level)


def _run(binary: Path, library: libraries.Library, chosen: bazel.Configuration, processes: int,
         where: placement.Placement, selection: conformance.Selection) -> conformance.SuiteRun:
    with Progress(f"{library.name}, {launch.mpi_library(chosen.mpi).name}, np={processes}") as progress:
        made = campaign.run(library, binary, chosen, processes, selection, placement=where, on_test=progress.note)
    counts = {outcome: sum(case.outcome == outcome for case in made.cases) for outcome in (FAILED, KNOWN)}
    print(f"{made.name}: {len(made.cases)} tests, {counts[FAILED]} failed, {counts[KNOWN]} known failures, "
          f"{duration(made.seconds)}")
    return made


def _write_report(options: argparse.Namespace, made: matrix.Matrix,
                  repeats: list[list[conformance.SuiteRun]]) -> list[Path]:
    written = matrix_report.write(options.report, made)
    if options.repeat > 1:
        written.append(options.report / "flakes.json")
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
