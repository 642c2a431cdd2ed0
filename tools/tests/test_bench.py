"""Benchmarks: which are chosen, how they are named, and how two libraries are compared."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Optional

import pytest
from armci_tool import bench, bench_compare, process
from armci_tool.errors import ToolError


def run(ours: dict[str, float], raw: float = 100.0, name: str = "rma") -> bench.BenchRun:
    """A benchmark with a case of each name, and the nanoseconds that it took."""
    cases: list[dict[str, Any]] = [{"name": case, "size": "8 B", "armci_ns": nanoseconds, "baseline_ns": raw,
                                    "series": [{"role": "subject", "p10_ns": nanoseconds * 0.9},
                                               {"role": "baseline", "p10_ns": raw * 0.9}]}
                                   for case, nanoseconds in ours.items()]
    return bench.BenchRun(name, 0, "", {"cases": cases})


def compared(ours: list[float], theirs: list[float]) -> bench_compare.Cell:
    [cell] = bench_compare.cells([run({"put": one}) for one in ours], [run({"put": one}) for one in theirs])
    return cell


def test_every_question_has_a_program_for_each_library() -> None:
    names = [question.name for question in bench.questions()]
    assert len(set(names)) == len(names)
    assert bench.label(names[0], "mpi-rma") == f"//bench/micro:{names[0]}_mpi_rma"


def test_between_nodes_what_reads_raw_memory_is_left_out() -> None:
    everything, between_nodes = bench.choose([], False), bench.choose([], True)
    assert "rma" in between_nodes and "contiguous" not in between_nodes
    assert set(between_nodes) < set(everything)


def test_a_benchmark_that_is_named_is_taken() -> None:
    assert bench.choose(["small"], True) == ["small"]
    with pytest.raises(ToolError, match="no benchmark nothing"):
        bench.choose(["nothing"], False)


def test_the_medians_of_the_rounds_are_compared() -> None:
    cell = compared([10, 50, 11], [22, 20, 90])
    assert cell.ratio == pytest.approx(0.5)
    assert cell.raw_ratio == pytest.approx(1.0)


def test_the_quiet_ratio_takes_the_best_round_of_each() -> None:
    assert compared([10, 50, 11], [22, 40, 90]).quiet_ratio == pytest.approx(10 / 22)


@pytest.mark.parametrize("ours, verdict", [(90, "faster"), (96, "same"), (104, "same"), (106, "slower")])
def test_five_percent_are_the_same(ours: float, verdict: str) -> None:
    assert compared([ours], [100]).verdict == verdict


def test_a_case_that_one_library_lacks_is_told() -> None:
    cells = bench_compare.cells([run({"put": 1, "get": 1})], [run({"put": 1})])
    assert bench_compare.counts(cell.verdict for cell in cells) == {"faster": 0, "same": 1, "slower": 0, "alone": 1}
    missing: Optional[float] = cells[1].ratio
    assert missing is None


def test_a_benchmark_that_hangs_is_ended_and_its_case_named(tmp_path: Path) -> None:
    script = tmp_path / "hangs"
    script.write_text("#!/bin/sh\necho bench: rma: put 8 B\necho bench: rma: get 64 B\nexec sleep 600\n")
    script.chmod(0o755)
    ended = bench.run_program(bench.Program("rma", script, "mpich", 1), silence_s=2)
    assert ended.status == process.TIMEOUT_STATUS and ended.data is None
    assert "the last case begun: get 64 B" in ended.text


def test_a_program_that_died_leaves_nothing_to_compare() -> None:
    assert bench_compare.cells([bench.BenchRun("rma", 1, "", None)], []) == []


def test_the_table_names_both_libraries() -> None:
    text = bench_compare.table(bench_compare.cells([run({"put": 50})], [run({"put": 100}, raw=200.0)]), "ours", "theirs")
    assert text.splitlines()[0].split() == ["benchmark", "case", "size", "ours", "theirs", "ratio", "quiet", "raw", "verdict"]
    assert text.splitlines()[-1].split() == ["rma", "put", "8", "B", "50", "ns", "100", "ns", "0.50", "0.50", "0.50", "faster"]
