"""The runner of the suite loses no test, also when a test ends the job."""

from __future__ import annotations

import json
import re
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from armci_tool import (bazel, conformance, flakes, launch, matrix, matrix_report, process, suite_log)
from armci_tool.errors import ToolError
from armci_tool.conformance import Selection, SuiteRun
from armci_tool.placement import Placement
from armci_tool.results import FAILED, PASSED, SKIPPED, Case
from armci_tool.suite_log import SuiteLog
from armci_tool.traceability import Clause

FAKE = Path(__file__).with_name("fake_suite.py")


@pytest.fixture(autouse=True)
def without_launcher(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """One process needs no launcher, which takes a second; one test below goes through it all the same."""
    def start(job: launch.Launch, **options: Any) -> process.Result:
        return process.run(job.program, environment=job.environment, **options)
    if "real_launcher" not in request.keywords:
        monkeypatch.setattr(launch, "start", start)


def run(tests: str, selection: Selection = Selection(deadline_s=0.3), **environment: str) -> SuiteRun:
    return conformance.run_suite(FAKE, "fake", bazel.Configuration(), 1, selection,
                                 environment={"FAKE_SUITE": tests, **environment})


def outcomes(made: SuiteRun) -> dict[str, str]:
    return {case.name: case.outcome for case in made.cases}


def test_verdicts_are_read() -> None:
    made = run("A.a=ok A.b=fail A.c=skip")
    assert outcomes(made) == {"A.a": PASSED, "A.b": FAILED, "A.c": SKIPPED}
    assert "expected 1, saw 2" in made.cases[1].detail
    assert made.cases[0].seconds == 0.005
    assert made.cases[2].detail == "needs 4 ranks"


def test_a_death_is_charged_to_the_running_test_and_the_others_still_run() -> None:
    made = run("A.a=ok A.b=die A.b2=ok A.c=die A.d=ok")
    assert outcomes(made) == {"A.a": PASSED, "A.b": FAILED, "A.b2": PASSED, "A.c": FAILED, "A.d": PASSED}
    assert "status" in made.cases[1].detail


def test_words_that_overtake_the_line_of_their_test_are_kept() -> None:
    log = SuiteLog()
    for line in ("RUN   A.a", "PASS  A.a  [FAKE-1]  0.1 s", "rank 1: division by zero", "RUN   A.b"):
        log.feed(line)
    assert log.running == "A.b"
    assert "rank 1: division by zero" in log.recent


def test_a_failure_shows_what_the_library_said_meanwhile() -> None:
    log = SuiteLog()
    for line in ("RUN   A.a", "armci: rank 0: not of B", "PASS  A.a  [FAKE-1]  0.1 s", "RUN   A.b", "armci: rank 0: put is missing",
                 "armci: rank 0: put is missing", "other noise", "FAIL  A.b  [FAKE-1]  0.1 s", "expected 1", "RUN   A.c"):
        log.feed(line)
    assert log.cases["A.b"].detail == "armci: rank 0: put is missing\nexpected 1"
    assert log.lines == []


def test_facts_belong_to_the_verdict_that_follows_them() -> None:
    made = run("A.a=tell A.b=ok A.c=fail")
    facts = (("outcome.acceptable.r1=1 r2=1", "12"), ("place", "a = b"))
    assert [case.facts for case in made.cases] == [facts, (), ()]


def test_facts_of_a_test_that_died_are_not_the_next_ones() -> None:
    log = SuiteLog()
    for line in ("RUN   A.a", "INFO  A.a  n = 1", "RUN   A.b", "PASS  A.b  [FAKE-1]  0.1 s"):
        log.feed(line)
    assert log.cases["A.b"].facts == ()


@pytest.mark.real_launcher
def test_a_death_under_the_launcher_is_reported_the_same_way() -> None:
    made = run("A.a=ok A.b=die A.c=fail", Selection(deadline_s=3))
    assert outcomes(made) == {"A.a": PASSED, "A.b": FAILED, "A.c": FAILED}
    assert "expected 1, saw 2" in made.cases[2].detail


def test_a_hang_ends_and_is_charged_to_the_running_test() -> None:
    made = run("A.a=ok A.b=hang A.c=ok")
    assert outcomes(made) == {"A.a": PASSED, "A.b": FAILED, "A.c": PASSED}
    assert "hung" in made.cases[1].detail


def test_a_job_that_keeps_dying_is_given_up() -> None:
    tests = " ".join(f"A.t{number:02}=die" for number in range(conformance.DEATHS_MIN_TO_GIVE_UP + 5))
    assert outcomes(run(tests))["(rest)"] == FAILED


def test_a_library_that_does_not_start_is_given_up_at_once() -> None:
    made = run("A.a=ok A.b=refuse A.c=ok")
    assert [case.name for case in made.cases] == ["A.a", "(job 1)", "(job 2)", "(job 3)", "(rest)"]
    assert "ARMCI_Init returned 15" in made.cases[1].detail


def test_an_init_that_hangs_is_reported_and_blamed_on_no_test() -> None:
    made = run("A.a=hang_in_init A.b=ok")
    assert [case.name for case in made.cases] == ["(job 1)", "(job 2)", "(job 3)", "(rest)"]
    assert made.cases[0].detail.startswith("hung in ARMCI_Init")


def test_a_library_that_speaks_for_the_suite_is_found_out() -> None:
    made = run("A.a=lie A.b=ok")
    assert outcomes(made)["(job 1)"] == FAILED
    assert "A.z out of turn" in made.cases[-1].detail
    assert "a verdict of A.a once more" in made.cases[-1].detail


@pytest.mark.parametrize("place", range(len("PASS  A.a  [FAKE-1]  0.000 s") + 1))
def test_a_line_that_the_library_interrupts_is_whole_again(place: int) -> None:
    verdict = "PASS  A.a  [FAKE-1]  0.000 s"
    log = SuiteLog()
    lines = ["RUN   A.a", f"{verdict[:place]}armci: rank 0: one", "armci: rank 0: another", verdict[place:],
             "1 passed, 0 failed, 0 skipped (np 1, seed 7)"]
    for line in lines:
        log.feed(line)
    log.close()
    assert log.complete and not log.contradictions
    assert {name: case.outcome for name, case in log.cases.items()} == {"A.a": PASSED}
    assert "armci: rank 0: another" in log.recent


def test_an_end_in_the_middle_is_no_end() -> None:
    made = run("A.a=ok A.b=leave_early A.c=ok")
    assert outcomes(made) == {"A.a": PASSED, "A.b": FAILED, "A.c": PASSED}
    assert "the end is reported in A.b" in made.cases[1].detail


def test_tests_without_a_verdict_have_failed() -> None:
    log = SuiteLog()
    for line in ("RUN   A.a", "PASS  A.a  [FAKE-1]  0.1 s", "5 passed, 0 failed, 0 skipped (np 1, seed 1)"):
        log.feed(line)
    assert log.complete
    assert "counts other verdicts" in log.contradictions[0]
    made = run("A.a=ok A.b=ok", Selection(deadline_s=0.3), FAKE_SUITE_HIDES="A.b")
    assert outcomes(made) == {"A.a": PASSED, "A.b": FAILED}
    assert "no verdict" in made.cases[1].detail


def test_the_list_at_the_end_belongs_to_no_test() -> None:
    log = SuiteLog()
    for line in ("RUN   A.a", "FAIL  A.a  [FAKE-1]  0.1 s", "expected 1", "failed: A.a", "  rerun: x",
                 "0 passed, 1 failed, 0 skipped (np 1, seed 1)"):
        log.feed(line)
    log.close()
    assert log.cases["A.a"].detail == "expected 1"


def test_many_deaths_among_more_verdicts_are_borne() -> None:
    number = conformance.DEATHS_MIN_TO_GIVE_UP + 5
    made = run(" ".join(f"A.a{i:02}=ok A.b{i:02}=die" for i in range(number)))
    assert len(made.cases) == 2 * number
    assert [case.name for case in made.cases if case.outcome == FAILED] == [f"A.b{i:02}" for i in range(number)]


def test_a_launch_that_dies_without_a_word_is_reported_and_repeated(tmp_path: Path) -> None:
    silent = tmp_path / "silent"
    silent.write_text("x")
    made = run("A.a=die A.b=ok", FAKE_SUITE_SILENT=str(silent))
    assert outcomes(made) == {"A.a": FAILED, "(job 2)": FAILED, "A.b": PASSED}
    silent.write_text("x" * 100)
    made = run("A.a=die A.b=ok", FAKE_SUITE_SILENT=str(silent))
    assert outcomes(made) == {"A.a": FAILED, "(job 2)": FAILED, "(job 3)": FAILED, "(job 4)": FAILED, "(rest)": FAILED}


def test_a_run_is_cut_off_at_its_time_limit() -> None:
    started = time.monotonic()
    made = run("A.a=ok A.b=hang A.c=ok", Selection(deadline_s=100, time_limit_s=1))
    assert time.monotonic() - started < 20
    assert outcomes(made) == {"A.a": PASSED, "(rest)": FAILED}
    assert "A.b" in made.cases[-1].detail


@pytest.mark.parametrize("when", ["die", "die in finalize"])
def test_a_death_outside_any_test_is_a_failure(when: str) -> None:
    assert outcomes(run("A.a=ok", FAKE_SUITE_LAST=when)) == {"A.a": PASSED, "(job 1)": FAILED}
    assert outcomes(run("A.a=fail", FAKE_SUITE_LAST=when)) == {"A.a": FAILED, "(job 1)": FAILED}


@pytest.mark.parametrize("tests, status, word", [("A.a=ok", 1, "though no test failed"), ("A.a=ok", 7, "status 7"),
                                                 ("A.a=fail", 0, "though a test failed")])
def test_a_status_that_does_not_fit_the_verdicts_is_a_failure(tests: str, status: int, word: str) -> None:
    made = run(tests, FAKE_SUITE_LAST=f"status {status}")
    assert outcomes(made)["(job 1)"] == FAILED
    assert word in made.cases[-1].detail


def test_a_test_that_passes_with_abort_text_fails() -> None:
    made = run("A.a=ok A.b=abort A.c=ok")
    assert outcomes(made) == {"A.a": PASSED, "A.b": FAILED, "A.c": PASSED}
    assert "MPI_ABORT was invoked" in made.cases[1].detail


def test_abort_text_after_the_last_test_fails_the_job() -> None:
    made = run("A.a=ok", FAKE_SUITE_LAST="abort")
    assert outcomes(made) == {"A.a": PASSED, "(job 1)": FAILED}
    assert "stack smashing" in made.cases[1].detail


@pytest.mark.parametrize("line", [
    "mpirun noticed that process rank 1 with PID 0 on node x exited on signal 9 (Killed).",
    "=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES", "[x:1] *** Process received signal ***",
    "Abort(1) on node 0 (rank 0 in comm 0): application called MPI_Abort(MPI_COMM_WORLD, 1) - process 0",
    "==1==ERROR: AddressSanitizer: heap-use-after-free", "a.cc:3:4: runtime error: signed integer overflow",
    "terminate called after throwing an instance of 'int'", "p: a.c:1: main: Assertion `x' failed."])
def test_abort_text_is_known(line: str) -> None:
    assert suite_log.is_abort_text(line)


@pytest.mark.parametrize("line", [
    "armci: rank 0: ARMCI_Malloc: process 2 could not get node memory, see its message [MEM-8]",
    "RUN   ERR.ERR6_abort_ends_the_job", "NOTE: nothing happened", "conformance: 4 ranks, seed 7"])
def test_other_text_is_no_abort(line: str) -> None:
    assert not suite_log.is_abort_text(line)


def test_a_process_that_is_left_behind_fails_the_job() -> None:
    made = run("A.a=ok A.b=leave")
    assert outcomes(made) == {"A.a": PASSED, "A.b": PASSED, "(job 1)": FAILED}
    assert re.search(r"left behind: process \d+ \(sleep 100\)", made.cases[-1].detail)


def repeats(tests: str, seed: int, number: int) -> list[SuiteRun]:
    return flakes.repeat(lambda selection: run(tests, selection), Selection(seed=seed, deadline_s=0.3), number)


def test_a_flaky_test_is_found_with_its_seeds() -> None:
    runs = repeats("A.a=ok A.b=odd A.c=fail A.d=skip", 10, 5)
    counts = flakes.counts(runs)
    assert [run.seed for run in runs] == ["10", "11", "12", "13", "14"]
    assert (counts["A.b"].flaky, counts["A.b"].rate, counts["A.b"].failing_seeds) == (True, 0.4, ["11", "13"])
    assert (counts["A.c"].flaky, counts["A.c"].rate) == (False, 1.0)
    assert not counts["A.a"].flaky and counts["A.d"].skipped == 5
    assert "40.0 %  flaky" in flakes.render(runs)
    assert "1 of 4 tests flaky" in flakes.render(runs)


def test_repeats_count_as_one_run_that_is_as_bad_as_the_worst() -> None:
    combined = flakes.combine(repeats("A.a=ok A.b=odd A.d=skip", 10, 3))
    assert outcomes(combined) == {"A.a": PASSED, "A.b": FAILED, "A.d": SKIPPED}
    assert "failed in 1 of 3 runs, with seed 11" in combined.cases[1].detail
    assert combined.rerun().endswith("--seed 11")
    assert (combined.repeats, combined.flaky) == (3, ("A.b",))


def test_programs_that_show_a_failure_go_to_an_absolute_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Ranks on other nodes may have another working directory.
    monkeypatch.chdir(tmp_path)
    assert Selection(programs=Path("report/programs")).arguments()[-2:] == ["--artifacts",
                                                                           str(tmp_path / "report/programs")]


def test_flakes_are_in_the_report() -> None:
    data = json.loads(json.dumps(flakes.as_json(repeats("A.a=ok A.b=odd", 10, 2))))
    assert (data["flaky"], data["repeats"], data["seeds"]) == (["A.b"], 2, ["10", "11"])
    assert data["tests"]["A.b"]["rate"] == 0.5


CLAUSES = [Clause("FAKE-1", 1, frozenset())]
TESTS = {"A.a": ["FAKE-1"]}


def test_titles_and_reruns_say_where_the_ranks_were() -> None:
    made = conformance.run_suite(FAKE, "fake", bazel.Configuration(), 1, Selection(deadline_s=0.3),
                                 environment={"FAKE_SUITE": "A.a=ok"}, placement=Placement(simulated_node_size=2))
    assert made.name == "fake, openmpi, np=1, nodes of 2, simulated"
    assert "--simulate-node-size 2" in made.rerun()
    assert "simulated" in matrix_report.screen(matrix.build([made], CLAUSES, TESTS, {}))


def test_a_quiet_end_with_the_status_of_a_failure_is_noticed() -> None:
    assert outcomes(run("A.a=exit A.b=ok")) == {"A.a": FAILED, "A.b": PASSED}


def test_a_filter_that_matches_nothing_is_a_failure() -> None:
    assert outcomes(run("A.a=ok", Selection("Nothing", deadline_s=0.3))) == {"(job 1)": FAILED}


def test_simulated_nodes_are_labelled_also_when_the_environment_asks_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARMCI_NODE_SIZE", "3")
    assert Placement.chosen(0, 0) == Placement(simulated_node_size=3)
    monkeypatch.setenv("ARMCI_NODE_SIZE", "three")
    with pytest.raises(ToolError, match="three"):
        Placement.chosen(0, 0)
    with pytest.raises(ToolError, match="contradict"):
        Placement.chosen(2, 0)


def test_settings_and_thread_level_stand_in_title_and_rerun(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARMCI_CHECK", "1")
    monkeypatch.setenv("ARMCI_NODE_SIZE", "2")
    assert launch.user_settings() == ("ARMCI_CHECK=1",)
    made = replace(run("A.a=ok", Selection(thread_level="single")), settings=launch.user_settings())
    assert made.name.endswith("threads: single, ARMCI_CHECK=1")
    assert made.rerun().startswith("ARMCI_CHECK=1 tools/armci conformance")
    assert "--thread-level single" in made.rerun()


def test_the_rerun_line_names_the_seed_that_was_drawn() -> None:
    line = run("A.a=fail").rerun("^(A.a)$")
    assert line == "tools/armci conformance --impl fake -n 1 --mpi openmpi --filter '^(A.a)$' --seed 99"
    assert "--filter" not in run("A.a=fail").rerun_of("(job 1)")
    assert "--filter 'A[.]a'" in run("A.a=fail", Selection(filter="A[.]a", deadline_s=0.3)).rerun_of("(job 1)")
    sanitized = SuiteRun("fake", bazel.Configuration("mpich", "asan"), 3, (), 0.0, "5", Selection(quick=True))
    assert sanitized.rerun() == ("tools/armci conformance --impl fake -n 3 --mpi mpich --config asan --quick --seed 5")


def test_words_of_a_later_death_do_not_fail_a_test() -> None:
    made = run("A.a=overtaken A.b=abort A.c=die A.d=ok")
    assert outcomes(made) == {"A.a": PASSED, "A.b": FAILED, "A.c": FAILED, "A.d": PASSED}


@pytest.mark.parametrize("text, matches", [("A.b", True), ("A.b2", False), ("XA.b", False), ("Axb", False)])
def test_exclusion_names_whole_tests(text: str, matches: bool) -> None:
    assert bool(re.search(conformance.exact_names(["A.b"]), text)) is matches
