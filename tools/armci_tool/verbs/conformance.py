"""`conformance`: runs the conformance suite and prints the outcome per clause."""

from __future__ import annotations

import argparse
from pathlib import Path

from armci_tool import bazel, clause_table, conformance, launch, repository, traceability
from armci_tool.console import Progress, duration
from armci_tool.results import FAILED
from armci_tool.verbs import add_configuration, add_verbose, configuration, make_parser, process_counts

DETAIL_LINES = 40


def add_parser(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Declares the verb."""
    made = make_parser(verbs, "conformance", "check an implementation against the clauses of spec/semantics.md",
                       "tools/armci conformance --impl shmem -n 1,2,4 --filter ORD-1 --report report", execute)
    made.add_argument("--impl", default="all", help="implementation, or all (default: %(default)s)")
    made.add_argument("-n", dest="processes", type=process_counts, default=[4], metavar="N[,N...]",
                      help="numbers of processes (default: 4)")
    made.add_argument("--filter", default="", metavar="CLAUSE",
                      help="clause such as ORD-1, or a regular expression found in the test's name")
    made.add_argument("--seed", type=int, help="seed of the random tests, to repeat a run")
    made.add_argument("--deadline", type=float, default=conformance.DEFAULT_DEADLINE_S, metavar="SECONDS",
                      help="time a test may take (default: %(default)g)")
    made.add_argument("--quick", action="store_true", help="fewer repetitions in each test")
    made.add_argument("--report", type=Path, metavar="DIR", help="write conformance.txt, .json, .xml (JUnit) there")
    add_configuration(made)
    add_verbose(made)


def execute(options: argparse.Namespace) -> int:
    """Runs the verb; 0 when every test passed or was skipped with a reason."""
    chosen = configuration(options)
    names = repository.choose_implementations(options.impl)
    selection = conformance.Selection(options.filter, options.seed, options.deadline, options.quick)
    clauses = traceability.read_clauses()
    tests: dict[str, list[str]] = {}
    runs = []
    for name in names:
        binary = bazel.built(conformance.suite_label(name), chosen, verbose=options.verbose)
        tests = traceability.parse_test_list(conformance.list_tests(binary))
        for processes in options.processes:
            runs.append(_run(binary, name, chosen, processes, selection))
    print()
    print(clause_table.render(runs, clauses, tests))
    _print_failures(runs)
    if options.report:
        for path in clause_table.write_report(options.report, runs, clauses, tests):
            print(f"wrote {path}")
    return 1 if any(step.count(FAILED) for step in clause_table.steps(runs)) else 0


def _run(binary: Path, name: str, chosen: bazel.Configuration, processes: int,
         selection: conformance.Selection) -> conformance.SuiteRun:
    with Progress(f"{name}, {launch.mpi_library(chosen.mpi).name}, np={processes}") as progress:
        def note(test: str) -> None:
            progress.detail = test
        made = conformance.run_suite(binary, name, chosen, processes, selection, on_test=note)
    failed = sum(case.outcome == FAILED for case in made.cases)
    print(f"{made.name}: {len(made.cases)} tests, {failed} failed, {duration(made.seconds)}")
    return made


def _print_failures(runs: list[conformance.SuiteRun]) -> None:
    for run in runs:
        for case in run.cases:
            if case.outcome == FAILED:
                detail = case.detail.strip().splitlines()[:DETAIL_LINES]
                print(f"\nFAILED {case.name} ({run.name})")
                print("\n".join("    " + line for line in detail))
                print("  rerun: " + run.rerun(conformance.exact_names([case.name])))
