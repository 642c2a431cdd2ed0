"""`quickstart`: from a fresh checkout to running examples and first figures."""

from __future__ import annotations

import re

from armci_tool import bazel, bench, examples, launch, nodes, packages, process, programs
from armci_tool.commands import options
from armci_tool.console import Progress, table
from armci_tool.errors import ToolError
from armci_tool.placement import Placement

IMPLEMENTATION = "shmem"
BETWEEN_NODES = "mpi-rma"
BENCHMARK = "small"
OUTPUT_LINES = 12
# The examples that are shown on two nodes too, and which of the times that they print.
TIMES = {"transpose": (("transpose, rows by strided gets", r"patches\s+(\S+ \w+)"),
                       ("transpose, elements by strided gets", r"direct\s+(\S+ \w+)")),
         "spmv big.rua": (("y = A x, elements of x by gets", r"(\S+ \w+) a product"),)}


@options.command("quickstart", "tools/armci quickstart")
@options.verbose
def execute(verbose: bool) -> int:
    """Runs the command."""
    chosen = bazel.Configuration()
    packages.ensure_installed(print, "quickstart")
    benchmark = bench.label(BENCHMARK, IMPLEMENTATION)
    shown = [programs.implementation_label(example.label, IMPLEMENTATION) for example in examples.EXAMPLES]
    on_nodes = [programs.implementation_label(example.label, BETWEEN_NODES) for example in _timed()]
    print(f"build: {IMPLEMENTATION}, {BETWEEN_NODES}, the examples and a benchmark; two minutes on two cores the first time")
    bazel.build(sorted({*shown, *on_nodes, benchmark}), chosen, verbose=verbose)
    print(f"build: done ({chosen.name})\n")
    outputs = {example.title: _run_example(example, chosen) for example in examples.EXAMPLES}
    _compare_with_memory(benchmark, chosen)
    where = _compare_with_two_nodes(outputs, chosen)
    run = f"tools/armci run {' '.join(where.arguments())} --impl {BETWEEN_NODES} -n 4 //examples:hello"
    print(f"\nnext: {run}     your program in its place\n"
          f"      {'tools/armci test --quick':{len(run)}}     the tests of every day\n"
          "      README.md says how to link a program, docs/start.md how to go on")
    return 0


def _timed() -> list[examples.Example]:
    return [example for example in examples.EXAMPLES if example.title in TIMES]


def _run_example(example: examples.Example, chosen: bazel.Configuration) -> str:
    """Shows what the example prints, and returns it."""
    print(f"{example.title} ({example.processes} processes): {example.text}")
    with Progress(example.title):
        result = examples.run(example, IMPLEMENTATION, chosen)
    for line in result.output.strip().splitlines()[-OUTPUT_LINES:]:
        print("  " + line)
    _require(example, result)
    print()
    return result.output


def _require(example: examples.Example, result: process.Result) -> None:
    if not result.ok:
        raise ToolError(f"the example {example.title} failed with status {result.status}", status=1,
                        where=result.tail(20), next_step="run tools/armci test --only examples")


def _compare_with_memory(benchmark: str, chosen: bazel.Configuration) -> None:
    print("ARMCI against the same work without it (2 processes, medians of interleaved repetitions):")
    with Progress("measuring") as progress:
        program = bench.Program(BENCHMARK, bazel.binary(benchmark, chosen), chosen.mpi)
        run = bench.run_program(program, ["--quick"], on_case=progress.note)
    if run.status != 0 or run.data is None:
        raise ToolError("the benchmark failed", where=run.text, next_step="run tools/armci bench", status=1)
    print(bench.summary([run], only_with_target=True))


def _compare_with_two_nodes(outputs: dict[str, str], chosen: bazel.Configuration) -> Placement:
    """The examples' own times on one node, and on two of this machine; returns where those are."""
    where, kind = _two_nodes(chosen)
    print(f"\nOne node next to two (4 processes; {kind}):")
    rows = []
    for example in _timed():
        with Progress(f"{example.title} on two nodes"):
            result = examples.run(example, BETWEEN_NODES, chosen, placement=where)
        _require(example, result)
        for name, pattern in TIMES[example.title]:
            found = [re.search(pattern, output) for output in (outputs[example.title], result.output)]
            rows.append([name, *(each.group(1) if each else "-" for each in found)])
    print(table(["example", f"one node ({IMPLEMENTATION})", f"two nodes ({BETWEEN_NODES})"], rows))
    return where


def _two_nodes(chosen: bazel.Configuration) -> tuple[Placement, str]:
    """Where there can be no namespaces, the library simulates the nodes."""
    namespaces = Placement(nodes=2)
    try:
        launch.require(namespaces, launch.mpi_library(chosen.mpi).preload_on_nodes)
    except ToolError as error:
        return Placement(simulated_node_size=2), f"two nodes simulated by the library, because {error.what}"
    return namespaces, f"{nodes.INTERFACE} of network namespaces, real TCP"
