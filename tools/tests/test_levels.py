"""The levels of a port: every clause has one, a test is due when all it needs is there, and --level leaves out the rest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import pytest
from armci_tool import bazel, conformance, launch, levels, process, repository, traceability
from armci_tool.conformance import Selection, SuiteRun
from armci_tool.commands import conformance as command
from armci_tool.errors import ToolError
from armci_tool.levels import Later, Level, Levels
from armci_tool.testing import plan as test_plan
from armci_tool.testing.steps import Level as Extent
from helpers import parsed

FAKE = Path(__file__).with_name("fake_suite.py")



def level(number: int, title: str, members: tuple[str, ...], clauses: tuple[str, ...]) -> Level:
    return Level(number=number, title=title, members=members, clauses=clauses)


def later(number: int, tests: str) -> Later:
    return Later(level=number, tests=tests, reason="r")


TABLE = Levels(level=(level(1, "memory", ("register_memory",), ("MEM-1",)), level(2, "put", ("put",), ("ORD-1", "ORD-2")),
                      level(3, "more", (), ("AGG-1",)), level(4, "atomic", ("atomic64",), ("ACC-1",)),
                      level(5, "all", (), ("PROG-1",))),
               later=(later(4, "^ORD[.].*counter"),))
TESTS = {"MEM.a": ["MEM-1"], "ORD.b": ["ORD-1", "ORD-2", "MEM-1"], "ORD.c_counter": ["ORD-2"], "ACC.d": ["ACC-1", "ORD-1"]}
CLAUSES = ["MEM-1", "ORD-1", "ORD-2", "AGG-1", "ACC-1", "PROG-1"]

FIVE = "".join(f'[[level]]\nnumber = {number}\ntitle = "t"\nmembers = []\nclauses = ["A-{number}"]\n'
               for number in levels.NUMBERS)


def read(folder: Path, text: str) -> Levels:
    path = folder / "levels.toml"
    path.write_text(text)
    return levels.read(path)


def test_a_test_is_due_at_the_highest_level_of_its_clauses() -> None:
    assert [TABLE.of_test(name, named) for name, named in TESTS.items()] == [1, 2, 4, 4]


def test_a_clause_without_a_level_is_due_last() -> None:
    assert TABLE.of_test("X.x", ["X-1", "MEM-1"]) == levels.LAST
    assert TABLE.of_test("X.x", []) == levels.LAST


@pytest.mark.parametrize("number, expected", [(1, ["ORD.b", "ORD.c_counter", "ACC.d"]), (2, ["ORD.c_counter", "ACC.d"]),
                                              (3, ["ORD.c_counter", "ACC.d"]), (4, []), (5, [])])
def test_levels_are_cumulative(number: int, expected: list[str]) -> None:
    assert TABLE.above(number, TESTS) == expected


def test_a_complete_table_has_no_problems() -> None:
    assert not levels.check(TABLE, CLAUSES, TESTS)


@pytest.mark.parametrize("clauses, put_off, expected", [
    ([*CLAUSES, "NEW-1"], TABLE.later, "NEW-1 has no level"),
    (CLAUSES[1:], TABLE.later, "MEM-1 has a level, but spec/semantics.md does not have it"),
    (CLAUSES, (later(4, "no_such_test"),), "no test's name has 'no_such_test'"),
    (CLAUSES, (later(1, "^MEM"),), "changes nothing"),
])
def test_gaps_are_named(clauses: list[str], put_off: tuple[Later, ...], expected: str) -> None:
    [problem] = levels.check(Levels(level=TABLE.level, later=put_off), clauses, TESTS)
    assert expected in problem


def test_a_clause_is_at_the_level_of_its_first_test() -> None:
    [problem] = levels.check(TABLE, CLAUSES, {**TESTS, "AGG.e": ["AGG-1", "ACC-1"]})
    assert "AGG-1 has level 3, but its first test is due at 4" in problem


def test_a_clause_has_one_level() -> None:
    doubled = (*TABLE.level[:4], level(5, "all", (), ("PROG-1", "MEM-1")))
    [problem] = levels.check(Levels(level=doubled), CLAUSES, {})
    assert "MEM-1 has several levels" in problem


@pytest.mark.parametrize("text", [
    "", FIVE.replace("number = 5", "number = 6"), FIVE + 'other = 1', FIVE.replace('title = "t"', "", 1),
    FIVE.replace('title = "t"', 'title = "t"\nnames = []', 1), FIVE + '[[later]]\nlevel = 6\ntests = "a"\nreason = "r"\n',
    FIVE + '[[later]]\nlevel = 1\ntests = "("\nreason = "r"\n', FIVE + '[[later]]\nlevel = 1\ntests = "a"\n', "no toml",
])
def test_a_file_that_is_not_understood_is_an_error(tmp_path: Path, text: str) -> None:
    with pytest.raises(ToolError, match="cannot read the levels"):
        read(tmp_path, text)


def test_the_file_is_read(tmp_path: Path) -> None:
    found = read(tmp_path, FIVE + '[[later]]\nlevel = 2\ntests = "^B"\nreason = "r"\n')
    assert found.of_test("A.a", ["A-3"]) == 3
    assert found.of_test("B.a", ["A-1"]) == 2
    assert found.of_test("B.a", ["A-3"]) == 3


def test_every_clause_of_the_semantics_has_one_level() -> None:
    table = levels.read()
    clauses = [clause.identifier for clause in traceability.read_clauses()]
    assert not levels.check(Levels(level=table.level), clauses, {})
    assert all(one.reason for one in table.later)


def test_every_required_member_belongs_to_one_level() -> None:
    contract = (repository.ROOT / "impl" / "runtime" / "transport.h").read_text()
    required = contract.partition("concept Transport =")[2].partition("\n};")[0]
    named = [member for one in levels.read().level for member in one.members]
    assert len(named) == len(set(named))
    assert set(named) == {line.partition("t.")[2].partition("(")[0] for line in required.splitlines() if "{ t." in line}


def test_help_says_what_the_levels_are() -> None:
    assert all(f"{one.number} {one.title}" in command._LEVEL_HELP for one in levels.read().level)


@pytest.fixture
def levelled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Levels of the fake suite's tests, which all name one clause: by their names."""
    table = Levels(level=(level(1, "memory", (), ("FAKE-1",)),),
                   later=tuple(later(number, f"^L{number}[.]") for number in levels.NUMBERS))
    monkeypatch.setattr(levels, "read", lambda: table)


def run(tests: str, selection: Selection, monkeypatch: pytest.MonkeyPatch) -> SuiteRun:
    def start(job: launch.Launch, **options: Any) -> process.Result:
        return process.run(job.program, environment=job.environment, **options)
    monkeypatch.setattr(launch, "start", start)
    return conformance.run_suite(FAKE, "fake", bazel.Configuration(), 1, selection, environment={"FAKE_SUITE": tests})


def test_tests_of_later_levels_are_left_out(levelled: None, monkeypatch: pytest.MonkeyPatch) -> None:
    made = run("L1.a=ok L2.b=ok L3.c=fail L5.d=die", Selection(deadline_s=3, level=2), monkeypatch)
    assert {case.name: case.outcome for case in made.cases} == {"L1.a": "passed", "L2.b": "passed"}


def test_they_stay_out_behind_a_death_and_under_a_filter(levelled: None, monkeypatch: pytest.MonkeyPatch) -> None:
    made = run("L1.a=die L2.b=ok L3.c=fail L1.z=ok", Selection(deadline_s=3, level=2, filter="[abc]$"), monkeypatch)
    assert {case.name: case.outcome for case in made.cases} == {"L1.a": "failed", "L2.b": "passed"}


def test_the_run_says_its_level_and_repeats_it(levelled: None, monkeypatch: pytest.MonkeyPatch) -> None:
    made = run("L1.a=ok L2.b=ok", Selection(deadline_s=3, level=1), monkeypatch)
    assert made.name.endswith(", level 1")
    assert "--level 1" in made.rerun()
    options = parsed(*made.rerun().split()[1:])
    assert options.level == 1


@pytest.mark.parametrize("word", ["0", "6", "x"])
def test_a_level_that_there_is_not_is_refused(word: str) -> None:
    with pytest.raises(click.BadParameter):
        parsed("conformance", "--level", word)


def test_a_filter_without_a_test_of_the_level_is_reported(levelled: None) -> None:
    with pytest.raises(ToolError) as raised:
        command._require_match("L3", {"L3.a": ["FAKE-1"], "L1.b": ["FAKE-1"]}, 2)
    assert "no test that matches --filter 'L3' is of level 2" in str(raised.value)
    assert "--level 3" in raised.value.next_step
    command._require_match("L3", {"L3.a": ["FAKE-1"], "L1.b": ["FAKE-1"]}, 3)


@pytest.mark.parametrize("reached, expected", [
    (0, []), (2, ["np=2, level 2", "np=4, level 2", "np=2, nodes of 1, simulated, level 2"])])
def test_a_port_under_way_is_held_to_what_it_has_reached(monkeypatch: pytest.MonkeyPatch, reached: int,
                                                         expected: list[str]) -> None:
    rows = [*repository.implementation_table(), repository.Implementation("young", test_only=True, port_level=reached)]
    monkeypatch.setattr(repository, "implementation_table", lambda *_: rows)
    steps = [step.name for step in test_plan.plan_steps(Extent.USUAL) if "young" in step.name]
    assert steps == [f"conformance young, {words} (opt, openmpi)" for words in expected]
