"""A mutant is killed by a test that names its clause, and by nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from armci_tool import bazel, conformance, launch, mutants, process, shards, traceability
from armci_tool.errors import ToolError
from armci_tool.mutants import ACCEPTED, KILLED, REFUSED, SURVIVED, Mutant, Outcome
from armci_tool.results import FAILED, PASSED, Case

FAKE = Path(__file__).with_name("fake_mutants.py")
CONFIGURATION = bazel.Configuration()
LINE = "late\tFAKE-1\t3\tdefect,hangs\tFAKE-1\tstores come late"


@pytest.fixture(autouse=True)
def without_launcher(monkeypatch: pytest.MonkeyPatch) -> None:
    """One process needs no launcher."""
    def start(job: launch.Launch, **options: Any) -> process.Result:
        return process.run(job.program, environment=job.environment, **options)
    monkeypatch.setattr(launch, "start", start)
    monkeypatch.setattr(conformance, "SILENT_DEADLINES", 0.1)


def outcome(acts: str, clause: str = "FAKE-1", *, legal: bool = False, hangs: bool = False,
            monkeypatch: pytest.MonkeyPatch) -> Outcome:
    monkeypatch.setenv("FAKE_MUTANTS", f"bad={acts}")
    tests = conformance.list_tests(FAKE)
    mutant = Mutant("bad", clause, 1, legal, hangs, "A", "is bad")
    return mutants.run_mutant(FAKE, mutant, tests, CONFIGURATION)


def test_table_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_TABLE", LINE + "\nlazy\tFAKE-2\t2\tlegal\t^A\tstores come when fenced")
    late, lazy = mutants.read_table(FAKE)
    assert late == Mutant("late", "FAKE-1", 3, False, True, "FAKE-1", "stores come late")
    assert lazy.legal and not lazy.hangs


@pytest.mark.parametrize("text", ["", "no tabs", LINE + "\n" + LINE, LINE.replace("3", "many")])
def test_a_table_that_is_wrong_is_an_error(text: str) -> None:
    with pytest.raises(ToolError):
        mutants.parse_table(text)


def test_choice_by_part_of_a_name_or_by_clause() -> None:
    table = mutants.parse_table(LINE + "\nlazy\tFAKE-11\t2\tdefect\t^A\tx")
    assert [mutant.name for mutant in mutants.choose(table, "la")] == ["late", "lazy"]
    assert [mutant.name for mutant in mutants.choose(table, "FAKE-1")] == ["late"]
    with pytest.raises(ToolError):
        mutants.choose(table, "missing")


def test_a_shard_with_nothing_in_it_is_an_error() -> None:
    with pytest.raises(ToolError):
        mutants.examine(FAKE, CONFIGURATION, lambda text: None, shard=(1000, 1000))


def test_shards_are_the_table() -> None:
    table = mutants.parse_table("\n".join(LINE.replace("late", f"late{number}") for number in range(7)))
    found = [shards.take(table, (part, 3)) for part in (1, 2, 3)]
    assert found[1] == [table[1], table[4]]
    assert sorted(mutant.name for shard in found for mutant in shard) == [mutant.name for mutant in table]
    assert shards.take(table, (1, 1)) == table


@pytest.mark.parametrize("act", ["fail", "die"])
def test_a_failure_or_a_death_in_a_test_of_the_clause_kills(act: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = outcome(f"A.second:{act}", "FAKE-2", monkeypatch=monkeypatch)
    assert (made.state, made.killed_by) == (KILLED, ("A.second",))


def test_a_hang_in_a_test_of_the_clause_kills(monkeypatch: pytest.MonkeyPatch) -> None:
    assert outcome("A.first:hang", hangs=True, monkeypatch=monkeypatch).state == KILLED


def test_a_test_of_another_clause_does_not_kill(monkeypatch: pytest.MonkeyPatch) -> None:
    made = outcome("A.third:fail", monkeypatch=monkeypatch)
    assert (made.state, made.killed_by) == (SURVIVED, ())
    assert "A.third" in made.detail


def test_a_defect_that_shows_at_length_only_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    assert outcome("A.first:rare", monkeypatch=monkeypatch).state == KILLED


def test_a_legal_library_must_pass_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    assert outcome("", legal=True, monkeypatch=monkeypatch).state == ACCEPTED
    assert outcome("A.third:fail", legal=True, monkeypatch=monkeypatch).state == REFUSED


def made(name: str, state: str, *, legal: bool = False) -> Outcome:
    killed_by = ("A.first",) if state == KILLED else ()
    return Outcome(Mutant(name, "FAKE-1", 2, legal, False, "FAKE-1", "x"), state, killed_by, 1.0, 2)


def test_control_runs_the_tests_that_killed_without_a_mutant(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_MUTANTS", "=A.third:fail")
    [case] = mutants.control(FAKE, [made("a", KILLED), made("b", KILLED), made("c", SURVIVED)], CONFIGURATION)
    assert (case.name, case.outcome) == ("control np=2 A.first", PASSED)
    monkeypatch.setenv("FAKE_MUTANTS", "=A.first:fail")
    [case] = mutants.control(FAKE, [made("a", KILLED)], CONFIGURATION)
    assert case.outcome == FAILED


TABLE = mutants.parse_table(LINE + "\nlazy\tFAKE-2\t2\tlegal\t^A\tx")


@pytest.mark.parametrize("clauses, waivers, expected", [
    (["FAKE-1"], {}, ["mutant lazy names FAKE-2"]),
    (["FAKE-1", "FAKE-2"], {}, ["FAKE-2 has no mutant"]),
    (["FAKE-1", "FAKE-2", "FAKE-3"], {"FAKE-2": "why"}, ["FAKE-3 has no mutant"]),
    (["FAKE-1", "FAKE-2"], {"FAKE-1": "why", "FAKE-2": "why"}, ["FAKE-1 is waived and has a mutant"]),
    (["FAKE-1", "FAKE-2"], {"FAKE-2": "why", "FAKE-9": "why"}, ["FAKE-9 is waived, and"]),
    (["FAKE-1", "FAKE-2"], {"FAKE-2": "why"}, []),
])
def test_gaps_are_clauses_without_a_mutant_and_idle_waivers(clauses: list[str], waivers: dict[str, str],
                                                            expected: list[str]) -> None:
    found = mutants.gaps(clauses, TABLE, waivers)
    assert len(found) == len(expected) and all(text in line for text, line in zip(expected, found))


def test_a_gap_fails_a_run_without_a_filter_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_TABLE", LINE.replace("\t3\t", "\t1\t").replace("FAKE-1\tstores", "A\tstores"))
    monkeypatch.setenv("FAKE_MUTANTS", "late=A.first:fail")
    outcomes, controls = mutants.examine(FAKE, CONFIGURATION, lambda text: None)
    [gap] = [case for case in mutants.cases(outcomes, controls) if case.outcome == FAILED]
    assert gap.name == mutants.COVERAGE and "INIT-1 has no mutant" in gap.detail
    text = mutants.render(outcomes, controls)
    assert "INIT-1 has no mutant" in text and "control: 1 tests without a mutant, 0 failed" in text
    outcomes, controls = mutants.examine(FAKE, CONFIGURATION, lambda text: None, filter_text="late")
    assert all(case.outcome == PASSED for case in mutants.cases(outcomes, controls))


def test_waivers_are_read_and_need_a_reason(tmp_path: Path) -> None:
    path = tmp_path / "waivers.toml"
    path.write_text('[[waiver]]\nclause = "FAKE-1"\nreason = "why"\n[[waiver]]\nclause = "FAKE-2"\nreason = " "\n')
    assert mutants.read_waivers(path) == {"FAKE-1": "why"}
    path.write_text('[[waiver]]\nclause = "FAKE-1"\n')
    with pytest.raises(ToolError):
        mutants.read_waivers(path)
    known = {clause.identifier for clause in traceability.read_clauses()}
    assert set(mutants.read_waivers()) <= known


def test_score_leaves_legal_libraries_out() -> None:
    outcomes = [made("a", KILLED), made("b", SURVIVED), made("c", ACCEPTED, legal=True)]
    assert mutants.score(outcomes) == 0.5
    assert [case.outcome for case in mutants.cases(outcomes, [])] == [PASSED, FAILED, PASSED]


def test_report_files(tmp_path: Path) -> None:
    outcomes = [made("a", KILLED), made("b", SURVIVED), made("c", ACCEPTED, legal=True)]
    text, data, junit = mutants.write_report(tmp_path, outcomes, [Case("control np=2 A.first", FAILED, detail="why")])
    assert "1 of 2 mutants killed" in text.read_text()
    assert "failed: control np=2 A.first" in text.read_text()
    report = json.loads(data.read_text())
    assert report["score"] == 0.5
    assert [(entry["name"], entry["state"], entry["killed_by"]) for entry in report["mutants"]] == [
        ("a", KILLED, ["A.first"]), ("b", SURVIVED, [])]
    assert [entry["name"] for entry in report["legal"]] == ["c"]
    assert 'failures="2"' in junit.read_text()
