"""The report of a port says which level was reached and what keeps the port from the next one."""

from __future__ import annotations

from pathlib import Path

import pytest
from armci_tool import levels, matrix, port_report
from armci_tool.results import FAILED, KNOWN, PASSED, SKIPPED, Case
from made_up import CLAUSES, ENVIRONMENT, TESTS, made_up, run

TABLE = levels.Levels.model_validate if hasattr(levels.Levels, "model_validate") else levels.Levels.parse_obj
LEVELS = TABLE({"level": [
    {"number": 1, "title": "memory", "members": [], "clauses": ["FAKE-1"]},
    {"number": 2, "title": "stores", "members": [], "clauses": ["FAKE-2"]},
    {"number": 3, "title": "more", "members": [], "clauses": ["FAKE-3", "OTHER-1", "OTHER-2", "OTHER-3"]},
]})


def port(*cases: Case) -> port_report.PortResult:
    [made] = port_report.results(matrix.build([run(*cases)], CLAUSES, TESTS, ENVIRONMENT).data, LEVELS)
    return made


def all_passed(**changed: str) -> list[Case]:
    outcomes = {"one": PASSED, "both": PASSED, "three": PASSED, **changed}
    return [*(Case(f"A.{name}", outcome, 0.1, "why") for name, outcome in outcomes.items()), Case("B.two", PASSED), Case("L.litmus", PASSED)]


@pytest.mark.parametrize("cases, reached", [
    (all_passed(), 3), (all_passed(three=FAILED), 2), (all_passed(both=KNOWN), 1), (all_passed(one=FAILED), 0),
    (all_passed(three=SKIPPED), 2), (all_passed()[1:2], 0)])
def test_a_level_needs_those_before_it(cases: list[Case], reached: int) -> None:
    assert port(*cases).reached == reached


def test_a_clause_that_no_test_names_keeps_no_port_from_its_level() -> None:
    assert port(*all_passed()).levels[2].untested == ()


def test_a_test_counts_by_its_worst_run() -> None:
    [made] = port_report.results(made_up().data, LEVELS)
    assert made.levels[0].counts[FAILED] == 1 and made.levels[0].counts[PASSED] == 1
    assert [failure[0] for failure in made.failures] == ["A.one", "A.both"]


def test_the_page_has_results_commands_seeds_and_versions() -> None:
    data = made_up().data
    [made] = port_report.results(data, LEVELS)
    text = port_report.document(made, data)
    assert "**Level 0 of 5**" in text and "| 1 | memory | 1 | 1 | 1 | 0 | 0 | failed |" in text
    assert 'expected <1> & saw "2"' in text  # as it is, for Markdown
    assert "--seed 7" in text and "openmpi: 4.1.4" in text and "SHA-256" in text
    assert "FAKE-3 " not in text or "no test of" in text


def test_a_page_for_each_library(tmp_path: Path) -> None:
    assert [path.name for path in port_report.write(tmp_path, made_up())] == ["port-fake.md"]
    assert (tmp_path / "port-fake.md").read_text().startswith("# fake and the clauses of ARMCI")
