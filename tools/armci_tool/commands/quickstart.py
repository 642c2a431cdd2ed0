"""`quickstart`: from a fresh checkout to running examples and first figures."""

from __future__ import annotations

import tempfile
from pathlib import Path

from armci_tool import bazel, bench, examples, packages, programs
from armci_tool.commands import options
from armci_tool.console import Progress
from armci_tool.errors import ToolError

IMPLEMENTATION = "shmem"
BENCHMARK = "small"
OUTPUT_LINES = 12


@options.command("quickstart", "tools/armci quickstart")
@options.verbose
def execute(verbose: bool) -> int:
    """Runs the command."""
    chosen = bazel.Configuration()
    packages.ensure_installed(print)
    benchmark = bench.label(BENCHMARK, IMPLEMENTATION)
    labels = [programs.implementation_label(example.label, IMPLEMENTATION) for example in examples.EXAMPLES]
    bazel.build(sorted({*labels, benchmark}), chosen, verbose=verbose)
    print(f"build: library, examples and benchmark are built ({chosen.name})\n")
    _run_examples(chosen)
    _compare(benchmark, chosen)
    print("\nnext: tools/armci test, examples/ to copy from, README.md for linking your own program")
    return 0


def _run_examples(chosen: bazel.Configuration) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        for example in examples.EXAMPLES:
            print(f"{example.title} ({example.processes} processes): {example.text}")
            with Progress(example.title):
                result = examples.run(example, IMPLEMENTATION, chosen, Path(scratch))
            for line in result.output.strip().splitlines()[-OUTPUT_LINES:]:
                print("  " + line)
            if not result.ok:
                raise ToolError(f"the example {example.title} failed with status {result.status}", status=1,
                                where=result.tail(20), next_step="run tools/armci test")
            print()


def _compare(benchmark: str, chosen: bazel.Configuration) -> None:
    print("ARMCI against the same work without it (2 processes, medians of interleaved repetitions):")
    with Progress("measuring") as progress:
        program = bench.Program(BENCHMARK, bazel.binary(benchmark, chosen), chosen.mpi)
        run = bench.run_program(program, ["--quick"], on_case=progress.note)
    if run.status != 0 or run.data is None:
        raise ToolError("the benchmark failed", where=run.text, next_step="run tools/armci bench", status=1)
    print(bench.summary([run], only_with_target=True))
