"""`traceability`: clauses without a test, tests without a clause."""

from __future__ import annotations

import argparse

from armci_tool import bazel, clause_check, conformance, repository, traceability
from armci_tool.verbs import add_verbose, make_parser


def add_parser(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Declares the verb."""
    made = make_parser(verbs, "traceability", "check that every clause has a test and a level, and every test a clause",
                       "tools/armci traceability", execute)
    add_verbose(made)


def execute(options: argparse.Namespace) -> int:
    """Runs the verb; 0 when nothing is missing."""
    names = repository.implementations()
    clauses = traceability.read_clauses()
    binary = bazel.built(conformance.suite_label(names[0]), bazel.Configuration(), verbose=options.verbose)
    tests = traceability.parse_test_list(conformance.list_tests(binary))
    problems = [problem for found in clause_check.problems(clauses, tests).values() for problem in found]
    for problem in problems:
        print(problem)
    print(f"{len(clauses)} clauses, {len(tests)} tests, {len(problems)} problems")
    return 1 if problems else 0
