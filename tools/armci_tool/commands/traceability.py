"""`traceability`: clauses without a test, tests without a clause."""

from __future__ import annotations

from armci_tool import bazel, conformance, repository, traceability
from armci_tool.commands import options


@options.command("traceability", "tools/armci traceability")
@options.verbose
def execute(verbose: bool) -> int:
    """Runs the command; 0 when nothing is missing."""
    names = repository.implementations()
    clauses = traceability.read_clauses()
    binary = bazel.built(conformance.suite_label(names[0]), bazel.Configuration(), verbose=verbose)
    tests = conformance.list_tests(binary)
    problems = [problem for found in traceability.problems(clauses, tests).values() for problem in found]
    for problem in problems:
        print(problem)
    print(f"{len(clauses)} clauses, {len(tests)} tests, {len(problems)} problems")
    return 1 if problems else 0
