"""The check of clauses against tests finds each kind of gap."""

from __future__ import annotations

from pathlib import Path

import pytest
from armci_tool import bench, traceability
from armci_tool.errors import ToolError

TEXT = """# Semantics
## ORD
- **ORD-1** Stores take effect in order.
- **ORD-2** [needs: nodes] Across nodes too.
- **FENCE-2** Many targets overlap
  on a network. [needs: nodes]
Prose about **ORD-3** is no clause.
"""


def clauses(folder: Path, text: str = TEXT) -> list[traceability.Clause]:
    path = folder / "semantics.md"
    path.write_text(text)
    return traceability.read_clauses(path)


def test_clauses_are_read_with_their_needs(tmp_path: Path) -> None:
    read = clauses(tmp_path)
    assert [clause.identifier for clause in read] == ["ORD-1", "ORD-2", "FENCE-2"]
    assert [clause.chapter for clause in read] == ["ORD", "ORD", "FENCE"]
    assert [sorted(clause.needs) for clause in read] == [[], ["nodes"], ["nodes"]]


def test_repeated_identifier_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="ORD-1 is defined twice"):
        clauses(tmp_path, TEXT + "- **ORD-1** Again.\n")


def test_text_without_clauses_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ToolError):
        clauses(tmp_path, "no clause here\n")


def test_list_of_tests_is_parsed() -> None:
    assert traceability.parse_test_list("Ord.One_a ORD-1 ORD-2\nOrd.Two_b\n") == {
        "Ord.One_a": ["ORD-1", "ORD-2"], "Ord.Two_b": []}


def test_noise_in_the_list_of_tests_is_an_error() -> None:
    with pytest.raises(ToolError):
        traceability.parse_test_list("some warning: not a test\n")


def test_complete_coverage_has_no_problems(tmp_path: Path) -> None:
    assert not traceability.check(clauses(tmp_path), {"A.a": ["ORD-1"]}, spans_nodes=False)


def test_node_clauses_count_once_an_implementation_spans_nodes(tmp_path: Path) -> None:
    problems = traceability.check(clauses(tmp_path), {"A.a": ["ORD-1"]}, spans_nodes=True)
    assert len(problems) == 2
    assert "ORD-2 has no test" in problems[0]


def test_a_clause_about_time_has_a_benchmark_instead(tmp_path: Path) -> None:
    found = clauses(tmp_path, "- **FENCE-7** Overlaps. [needs: nodes] [measured: fence_all]\n")
    assert not traceability.check(found, {}, spans_nodes=True, benchmarks=["fence_all"])
    [problem] = traceability.check(found, {}, spans_nodes=True, benchmarks=["other"])
    assert "fence_all, which does not exist" in problem


def test_every_clause_about_time_is_measured_by_a_benchmark_there_is() -> None:
    named = {clause.measured for clause in traceability.read_clauses() if clause.measured}
    assert named <= set(bench.names()) and "fence_all" in named


@pytest.mark.parametrize("tests, expected", [
    ({"A.a": ["FENCE-2"]}, "ORD-1 has no test"),
    ({"A.a": ["ORD-1"], "A.b": []}, "A.b names no clause"),
    ({"A.a": ["ORD-1", "ORD-9"]}, "ORD-9, which"),
])
def test_gaps_are_named(tmp_path: Path, tests: dict[str, list[str]], expected: str) -> None:
    problems = traceability.check(clauses(tmp_path), tests, spans_nodes=False)
    assert len(problems) == 1
    assert expected in problems[0]
