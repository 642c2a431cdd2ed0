"""`settings`: runs the conformance suite under combinations of an implementation's settings."""

from __future__ import annotations

from types import SimpleNamespace as Namespace
from typing import Any

import click

from armci_tool import bazel, conformance, console, launch, libraries, repository, tested_settings
from armci_tool.commands import options
from armci_tool.console import Progress, duration
from armci_tool.errors import ToolError
from armci_tool.placement import with_device
from armci_tool.results import FAILED, PASSED

DETAIL_LINES = 12


@options.command("settings", "tools/armci settings --impl mpi-rma --one-in 8",
                 "tools/armci settings --impl ucx --row 7 --filter ORD")
@options.implementation("mpi-twosided", "implementation")
@click.option("--row", "chosen", type=options.COUNT, metavar="N", help="only this combination, as the table numbers them")
@click.option("--filter", "text", default="", metavar="CLAUSE",
              help="clause such as ORD-1, or a regular expression found in the test's name")
@click.option("--one-in", type=options.COUNT, default=8, show_default=True, metavar="K",
              help="a K-th of the tests under each combination, drawn by the seed")
@click.option("--seed", metavar="SEED", type=options.WholeNumber(0, 2**64 - 1), help="seed, to repeat a run")
@options.verbose
def execute(**values: Any) -> int:
    """Runs the command; 0 when no test failed."""
    given = Namespace(**values)
    rows = tested_settings.read(given.impl)
    if not rows or given.chosen and given.chosen > len(rows):
        raise ToolError(f"{given.impl} has {len(rows)} combinations of settings",
                        next_step=f"see impl/{given.impl}/settings_tested.json")
    numbered = [(number, row) for number, row in enumerate(rows, 1) if given.chosen in (None, number)]
    device = repository.device_of(given.impl)
    for _, row in numbered:
        launch.require(with_device(row.placement, device))
    table, failures = [], 0
    for number, row in numbered:
        made = _run(given, number, row)
        failed = [case for case in made.cases if case.outcome == FAILED]
        failures += len(failed)
        passed = sum(case.outcome == PASSED for case in made.cases)
        table.append([str(number), f"{row.mpi}, np={row.processes}, {row.placement.label or 'one node'}", row.text, str(passed),
                      str(len(failed)), duration(made.seconds)])
        for case in failed:
            print(f"\nFAILED {case.name} under combination {number}: {row.text}")
            print("\n".join("    " + line for line in case.detail.strip().splitlines()[:DETAIL_LINES]))
            print(f"  rerun: tools/armci settings --impl {given.impl} --row {number} --one-in 1 --filter '^{case.name}$' "
                  f"--seed {made.seed}")
    print("\n" + console.table(["row", "job", "settings", "passed", "failed", "time"], table, numeric_from=3))
    return 1 if failures else 0


def _run(given: Namespace, number: int, row: tested_settings.TestedSettings) -> conformance.SuiteRun:
    configuration = bazel.Configuration(row.mpi)
    library = libraries.OwnLibrary(given.impl)
    binary = bazel.built(library.suite, configuration, verbose=given.verbose)
    selection = conformance.Selection(given.text, given.seed, quick=True, child_jobs=False, one_in=given.one_in)
    with Progress(f"{given.impl}, combination {number}") as progress:
        return conformance.run(library, binary, configuration, row.processes, selection, environment=row.environment,
                               placement=row.placement, on_test=progress.note)
