"""The benchmarks that are whole programs with a known answer, as tests: short runs whose answers are right."""

from __future__ import annotations

from typing import Callable, Sequence

from armci_tool import bazel, bench
from armci_tool.installed import case
from armci_tool.placement import Placement, with_device
from armci_tool.repository import device_of
from armci_tool.results import Case

_DEADLINE_S = 300.0


def run(implementation: str, processes: int, configuration: bazel.Configuration, placement: Placement,
        note: Callable[[str], None]) -> Sequence[Case]:
    """Each kernel once, linked with an implementation; its speed does not matter."""
    names = [question.name for question in bench.questions() if question.is_kernel]
    labels = {name: bench.label(name, implementation) for name in names}
    bazel.build(sorted(labels.values()), configuration, on_progress=note)
    cases = []
    where = with_device(placement, device_of(implementation))
    for name, label in labels.items():
        program = bench.Program(name, bazel.binary(label, configuration), configuration.mpi, processes, where)
        note(name)
        made = bench.run_program(program, ["--quick", "--seconds", "1"], timeout_s=_DEADLINE_S)
        is_right = made.status == 0 and made.data is not None and bool(made.data["cases"])
        cases.append(case(f"kernel {name}", "" if is_right else f"status {made.status}\n{made.text}"))
    return cases
