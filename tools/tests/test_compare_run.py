"""The candidates of a comparison, their order and time, and what happens to those that fail."""

from __future__ import annotations

import shutil
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any, Optional, Sequence

import click
import pytest
from armci_tool import bench, process
from armci_tool.commands import compare
from armci_tool.compare import candidates, noise, plan, runner
from armci_tool.compare.candidates import Candidate
from armci_tool.errors import Stopped, ToolError
from armci_tool.libraries import ForeignLibrary, OwnLibrary
from armci_tool.placement import Placement
from armci_tool.repository import Implementation
from compared import case
from helpers import parsed

TABLE = (Implementation("shmem"), Implementation("rma", spans_nodes=True), Implementation("probe", test_only=True),
         Implementation("verbs", spans_nodes=True, device="verbs"))
RMA, SMALL = bench.Question("rma", "//bench/micro", True), bench.Question("small", "//bench/micro", False)
FOUR = bench.Question("four", "//bench/kernels", True, ranks=4)
ONE, TWO, THREE = (Candidate(OwnLibrary(name)) for name in ("one", "two", "three"))
PEER = Candidate(ForeignLibrary(Path("/opt/x"), name="peer"), common_memory=False)


def names(choice: Sequence[str], where: Placement = Placement(), rdma: bool = False) -> list[str]:
    return [one.name for one in candidates.choose(choice, where, rdma, TABLE)]


def test_on_one_node_all_implementations_for_users_take_part() -> None:
    assert names(["all"]) == ["shmem", "rma", "verbs"]


def test_between_nodes_those_that_span_them_take_part_and_with_a_device_those_that_need_it() -> None:
    assert names(["all"], Placement(nodes=2)) == ["rma"]
    assert names(["all"], Placement(simulated_node_size=1)) == ["rma"]
    assert names(["all"], rdma=True) == ["rma", "verbs"]


@pytest.mark.parametrize("name, said", [("shmem", "it spans no nodes"), ("verbs", "verbs device"), ("none", "no implementation"),
                                        ("probe", "no implementation")])
def test_an_implementation_that_is_named_and_cannot_run_is_reported(name: str, said: str) -> None:
    with pytest.raises(ToolError, match=said):
        names([name], Placement(nodes=2))


def test_the_library_given_is_not_taken_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "_is_installed", lambda mpi: True)
    given = ForeignLibrary(Path("/usr"), "-larmci-{mpi}", "mine")
    assert [one.name for one in candidates.peers([given], "mpich", True)] == ["mine"]
    other = ForeignLibrary(Path("/opt/x"), name="other")
    assert [one.name for one in candidates.peers([other], "mpich", True)] == ["other", "armci-mpi"]
    assert [one.name for one in candidates.peers([other], "mpich", False)] == ["other"]
    monkeypatch.setattr(candidates, "_is_installed", lambda mpi: False)
    assert not candidates.peers([], "mpich", True)


def test_a_peer_is_found_by_its_prefix(tmp_path: Path) -> None:
    def note(said: str) -> None:
        raise AssertionError(said)

    for name, file in (("one", "lib/libarmci.so"), ("two", "lib64/x86_64/libarmci-mpich.a"), ("three", "lib/libother.so")):
        place = tmp_path / name / file
        place.parent.mkdir(parents=True)
        place.touch()
    found = candidates.named_peers([f"{name}={tmp_path / name}" for name in ("one", "two")], "mpich", note)
    assert [(one.name, one.libs) for one in found] == [("one", "-larmci"), ("two", "-larmci-mpich")]
    for words, said in ((f"two={tmp_path / 'two'}", "no ARMCI for openmpi"), (f"three={tmp_path / 'three'}", "no ARMCI for"),
                        (f"four={tmp_path / 'four'}", "no ARMCI for"), ("five", "does not say where five is"),
                        (f"a b={tmp_path / 'one'}", "is no name")):
        with pytest.raises(ToolError, match=said):
            candidates.named_peers([words], "openmpi", note)


def test_openshmem_takes_part_on_one_node_in_what_it_has_a_program_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    [other] = candidates.others("openmpi", True)
    assert other.is_peer and other.name == "openshmem"
    assert [question.name for question in bench.questions() if other.takes(question)] == ["transfers"]
    assert not candidates.others("mpich", True) and not candidates.others("openmpi", False)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert not candidates.others("openmpi", True)


@pytest.mark.parametrize("words, simulated", [("", False), ("--nodes 2", False), ("--rdma --nodes 2", False), ("--rdma", True),
                                              ("--simulate-node-size 1", True)])
def test_a_peer_does_not_hear_of_simulated_nodes(words: str, simulated: bool) -> None:
    options = parsed("compare", *words.split())
    assert compare._is_simulated(options, Placement(options.nodes or 0, options.simulate_node_size or 0)) == simulated


def test_two_of_one_name_are_refused() -> None:
    with pytest.raises(ToolError, match="two candidates are called one"):
        candidates.require_distinct([ONE, TWO, ONE])
    with pytest.raises(ToolError, match="no candidate to compare"):
        candidates.require_distinct([])


def test_peers_run_no_benchmark_of_raw_memory() -> None:
    assert PEER.takes(RMA) and not PEER.takes(SMALL) and ONE.takes(SMALL)
    given = ForeignLibrary(Path("/opt/x"), name="other")
    assert [candidates.peers([given], "mpich", False, named)[0].takes(SMALL) for named in (False, True)] == [False, True]


def test_each_begins_in_its_turn_and_no_one_always_follows_the_same() -> None:
    orders = [[one.name for one in plan.order([ONE, TWO, THREE], turn)] for turn in range(6)]
    assert orders[:3] == [["one", "two", "three"], ["two", "one", "three"], ["three", "one", "two"]]
    assert sorted(order[0] for order in orders) == ["one", "one", "three", "three", "two", "two"]
    followed = {(before, after) for order in orders for before, after in zip(order, order[1:])}
    assert len(followed) == 6


def test_a_benchmark_that_needs_more_processes_is_run_once() -> None:
    found = plan.entries([RMA, FOUR], [2, 4], Placement(), False, [ONE])
    assert [(entry.question.name, entry.processes) for entry in found] == [("rma", 2), ("four", 4), ("rma", 4)]


def test_what_takes_powers_of_two_is_left_out_elsewhere_and_that_is_reported() -> None:
    cubes = bench.Question("cubes", "//bench/kernels", True, powers_of_two=True)
    found = plan.entries([RMA, cubes], [2, 3, 4], Placement(), False, [ONE])
    assert [entry.processes for entry in found if entry.question is cubes] == [2, 4]
    assert plan.left_out([RMA, cubes], [2, 3, 4]) == ["cubes takes powers of two: not measured on 3 processes"]
    with pytest.raises(ToolError, match="no candidate takes part"):
        plan.entries([cubes], [3], Placement(), False, [ONE])


def test_the_plan_fits_into_its_time() -> None:
    questions = [bench.Question(f"q{number}", "//bench/micro", True) for number in range(8)]
    crowd = [Candidate(OwnLibrary(f"c{number}")) for number in range(5)]
    made = plan.make(plan.entries(questions, [2], Placement(), False, crowd))
    assert made.estimate_s <= plan.BOX_S < 300 and not made.quick
    assert (made.rounds_least, made.rounds) == (plan.ROUNDS_LEAST, plan.ROUNDS) and made.seconds >= plan.SECONDS_LEAST
    assert plan.ROUNDS_LEAST * made.round_s == pytest.approx(plan.BOX_S)
    assert "c0, c1, c2, c3, c4; 8 benchmarks, 2 processes" in made.text and "3 to 5 rounds of " in made.text
    small = plan.make(plan.entries(questions[:1], [2], Placement(), False, crowd[:1]))
    assert small.seconds == plan.SECONDS_MOST and small.estimate_s == plan.ROUNDS * small.round_s


def test_a_plan_that_does_not_fit_into_its_time_has_fewer_cases() -> None:
    questions = [bench.Question(f"q{number}", "//bench/micro", True) for number in range(40)]
    crowd = [Candidate(OwnLibrary(f"c{number}")) for number in range(5)]
    what = plan.entries(questions, [2], Placement(), False, crowd)
    made = plan.make(what)
    assert made.quick and all(entry.quick for entry in made.entries) and "fewer cases" in made.text
    assert not plan.make(what, rounds=3).quick


def test_kernels_that_the_user_did_not_name_are_short() -> None:
    options = parsed("compare")
    assert [compare._quick(options)(question) for question in (RMA, FOUR)] == [False, True]
    options = parsed("compare", "four")
    assert not compare._quick(options)(FOUR)


def test_what_the_user_says_is_done() -> None:
    made = plan.make(plan.entries([RMA], [2], Placement(), False, [ONE, TWO]), rounds=50, seconds=20)
    assert (made.rounds, made.seconds, made.box_s) == (50, 20, None)
    assert made.rounds_least == 50 and "50 rounds" in made.text and made.bound_s(made.entries[0]) is None


def test_the_usual_benchmarks_between_nodes_need_no_common_memory() -> None:
    assert all(question.between_nodes for question in plan.choose([], True, False))
    usual = {question.name for question in plan.choose([], False, False)}
    assert {"transfers", "patches", "contention", "barrier", "mg", "spmv"} <= usual and "fence_all" not in usual
    assert "fence_all" in {question.name for question in plan.choose([], False, False, [2, 4])}
    with pytest.raises(ToolError, match="small needs all processes on one node"):
        plan.choose(["small"], True, False)


class Programs:
    """Benchmarks that take no time."""

    def __init__(self, fates: dict[str, Sequence[int]] = {}) -> None:
        self.fates = {name: list(statuses) for name, statuses in fates.items()}
        self.met: list[str] = []

    def __call__(self, program: bench.Program, arguments: Sequence[str], **_limits: float) -> bench.BenchRun:
        name = program.binary.name
        self.met.append(name)
        statuses = self.fates.get(name, [])
        status = statuses.pop(0) if statuses else 0
        data: dict[str, Any] = {"ranks": program.processes, "cases": [case("put", 123.456789)]}
        return bench.BenchRun(program.name, status, "first\nlast words", data if status in (0, 1) else None)


def course(programs: Programs, rounds: int = 3) -> runner.Course:
    planned = plan.make(plan.entries([RMA], [2], Placement(), False, [ONE, TWO]), rounds=rounds, seconds=1)
    binaries = {(name, "rma"): Path(name) for name in ("one", "two")}
    return runner.run(planned, binaries, "openmpi", [], lambda said: None, programs)


def test_candidates_take_turns_in_each_round() -> None:
    programs = Programs()
    made = course(programs)
    assert programs.met == ["one", "two", "two", "one", "one", "two"]
    assert [(run["round"], run["contestant"]) for run in made.runs][:3] == [(0, "one"), (0, "two"), (1, "two")]
    assert made.runs[0]["data"]["cases"][0]["series"][0]["samples_ns"][0] == 123.46
    assert made.rounds == 3 and not made.failures


def test_a_candidate_that_fails_is_reported_by_name_with_its_last_lines_and_the_rest_goes_on() -> None:
    made = course(Programs({"one": [2, 0, 0]}))
    [failure] = made.failures
    assert failure.title == "one: rma, 2 processes, round 1: ended with status 2"
    assert failure.last_lines == ("first", "last words")
    assert [run["contestant"] for run in made.runs] == ["two", "two", "one", "one", "two"]


def test_stacks_and_rules_of_the_launcher_do_not_push_out_what_was_said() -> None:
    said = "what went wrong\n" + "[host:1] [ 3] /lib/libc.so.6(+0x1)[0x2]\n[host:1] [12] x\n" * 20 + "-" * 74 + "\n\nat last\n"
    assert runner.last_lines(said) == ("what went wrong", "at last")


def test_wrong_data_is_no_result() -> None:
    made = course(Programs({"one": [1]}), rounds=1)
    assert [run["contestant"] for run in made.runs] == ["two"]
    assert len(made.failures) == 1


def test_a_candidate_that_hangs_runs_once_and_one_that_fails_runs_twice() -> None:
    hanging = Programs({"one": [process.TIMEOUT_STATUS] * 9})
    assert course(hanging).failures[0].what == "hung"
    assert hanging.met.count("one") == 1 and hanging.met.count("two") == 3
    failing = Programs({"one": [2] * 9})
    course(failing, rounds=5)
    assert failing.met.count("one") == runner.FAILURES_MOST and failing.met.count("two") == 5


@pytest.mark.parametrize("box_s, rounds", [(10, 3), (80, 4), (1000, 5)])
def test_rounds_beyond_the_least_are_for_what_is_left_of_the_box(monkeypatch: pytest.MonkeyPatch, box_s: float,
                                                                 rounds: int) -> None:
    now = [0.0]

    class Slow(Programs):
        """Take 20 s each."""

        def __call__(self, program: bench.Program, arguments: Sequence[str], **limits: float) -> bench.BenchRun:
            now[0] += 20
            return super().__call__(program, arguments, **limits)

    monkeypatch.setattr("armci_tool.compare.runner.time.monotonic", lambda: now[0])
    entries = plan.entries([RMA], [2], Placement(), False, [ONE])
    made = runner.run(plan.Plan(entries, plan.ROUNDS, 1, box_s=box_s), {("one", "rma"): Path("one")}, "openmpi", [],
                      lambda said: None, Slow())
    assert made.rounds == rounds


@pytest.mark.parametrize("is_kernel", [False, True])
def test_a_candidate_that_stands_still_in_a_box_hangs(is_kernel: bool) -> None:
    """A limit on silence comes before that on time, but in kernels, whose cases are whole computations."""
    limits: list[tuple[float, float]] = []

    def program(_started: bench.Program, _arguments: Sequence[str], timeout_s: float, silence_s: float) -> bench.BenchRun:
        limits.append((timeout_s, silence_s))
        return bench.BenchRun("rma", process.TIMEOUT_STATUS, "bench: rma was ended", None, silence_s >= timeout_s)

    question = replace(RMA, package="//bench/kernels" if is_kernel else RMA.package)
    made = runner.run(plan.make(plan.entries([question], [2], Placement(), False, [ONE])), {("one", "rma"): Path("one")},
                      "openmpi", [], lambda said: None, program)
    assert all((silence < timeout) != is_kernel for timeout, silence in limits)
    assert [one.what for one in made.failures] == ([] if is_kernel else ["hung"])
    assert len(made.left_out) == is_kernel


def test_a_candidate_too_slow_for_the_box_is_left_out_and_does_not_count_as_hung() -> None:
    asked: list[float] = []

    def program(started: bench.Program, _arguments: Sequence[str], timeout_s: float, silence_s: float) -> bench.BenchRun:
        asked.append(timeout_s)
        assert silence_s > 0
        slow = started.binary.name == "one"
        data = {"ranks": 2, "cases": [case("put", 1.0)]}
        return bench.BenchRun("rma", process.TIMEOUT_STATUS if slow else 0, "bench: rma was ended", None if slow else data, slow)

    entries = plan.entries([RMA], [2], Placement(), False, [ONE, TWO])
    binaries = {(name, "rma"): Path(name) for name in ("one", "two")}

    def outcome(planned: plan.Plan) -> runner.Course:
        return runner.run(planned, binaries, "openmpi", [], lambda said: None, program)

    made = outcome(plan.make(entries))
    [said] = made.left_out
    assert said.startswith("one: rma (2 processes) was left out: too slow for the time box; rma was ended")
    assert not made.failures and [run["contestant"] for run in made.runs] == ["two"] * plan.ROUNDS
    assert set(asked) == {plan.SECONDS_MOST * 4 + 4}
    assert outcome(plan.make(entries, rounds=3)).failures[0].what == "took too long"


def test_what_was_left_out_in_a_later_round_is_not_rated() -> None:
    met: list[str] = []

    def program(started: bench.Program, _arguments: Sequence[str], timeout_s: float, silence_s: float) -> bench.BenchRun:
        met.append(started.binary.name)
        slow = met.count("one") > 1 and met[-1] == "one"
        data = {"ranks": 2, "cases": [case("put", 1.0)]}
        return bench.BenchRun("rma", process.TIMEOUT_STATUS if slow else 0, "rma was ended", None if slow else data, slow)

    def kept(candidates: Sequence[Candidate]) -> list[str]:
        planned = plan.make(plan.entries([RMA], [2], Placement(), False, candidates))
        binaries = {(name, "rma"): Path(name) for name in ("one", "two")}
        made = runner.run(planned, binaries, "openmpi", [], lambda said: None, program)
        assert len(made.left_out) == 1
        return [run["contestant"] for run in made.runs]

    assert kept([ONE, TWO]) == ["two"] * plan.ROUNDS
    met.clear()
    assert kept([ONE]) == ["one"]


def test_the_slowest_programs_are_left_out_where_the_time_is_short() -> None:
    entries = plan.entries([RMA, SMALL], [2], Placement(), False, [ONE, TWO])
    taken = [("rma", "one", 60.0), ("rma", "two", 9.0), ("small", "one", 3.0), ("small", "two", 2.0)]
    made = runner.Course([{"benchmark": benchmark, "contestant": name, "processes": 2, "seconds": seconds}
                          for benchmark, name, seconds in taken], rounds=1, seconds=74.0)

    def left_out(box_s: Optional[float]) -> list[tuple[str, str, int]]:
        return runner._too_long(made, plan.Plan(entries, 5, 1, box_s=box_s))

    assert left_out(110) == [("one", "rma", 2)]
    assert left_out(90) == [("one", "rma", 2), ("two", "rma", 2)]
    assert len(left_out(10)) == 3, "one program is always measured"
    assert not left_out(300) and not left_out(None)
    assert runner._left_out_text(("one", "rma", 2), made) == (
        "one: rma (2 processes) was left out after the first round, which took 60 s of it: give --rounds to wait for it")


def test_a_signal_ends_the_rounds_with_the_results_so_far() -> None:
    class Ended(Programs):
        """A signal arrives after so many."""

        most = 0

        def __call__(self, program: bench.Program, arguments: Sequence[str], **limits: float) -> bench.BenchRun:
            if len(self.met) == self.most:
                raise Stopped(signal.SIGTERM)
            return super().__call__(program, arguments, **limits)

    programs = Ended()
    programs.most = 3
    made = course(programs)
    assert isinstance(made.stopped, Stopped) and len(made.runs) == 3 and made.rounds == 1
    assert made.left_out == ["stopped in round 2: what comes later was not measured"]
    with pytest.raises(Stopped):
        course(Ended())


def test_a_library_without_a_function_is_left_out_in_one_line() -> None:
    def program(started: bench.Program, _arguments: Sequence[str], **_limits: float) -> bench.BenchRun:
        data = {"ranks": 2, "cases": [case("put", 1.0)]}
        lacks = started.binary.name == "one"
        return bench.BenchRun("rma", 134 if lacks else 0, "bench: the library has no armci_notify\n[node0] Aborted",
                              None if lacks else data)

    entries = plan.entries([RMA], [2], Placement(), False, [ONE, TWO])
    made = runner.run(plan.make(entries, rounds=3), {(name, "rma"): Path(name) for name in ("one", "two")}, "openmpi", [],
                      lambda said: None, program)
    assert made.left_out == ["one: rma was left out: the library has no armci_notify"] and not made.failures
    assert [run["contestant"] for run in made.runs] == ["two"] * 3


def test_the_noise_of_a_quiet_machine_is_called_quiet() -> None:
    assert "(quiet)" in noise.Noise(1000, 1050, 3000, 0.0).text
    assert "not quiet" in noise.Noise(1000, 1300, 3000, 4.0).text
    assert "not quiet" in noise.Noise(1000, 1000, 3000, 12.0, others=12.0, cores=2).text
    assert "(quiet now, but not in the last minute" in noise.Noise(1000, 1000, 3000, 12.0, others=0.2, cores=2).text
    measured = noise.measure(20)
    assert measured.others >= 0 and measured.cores >= 1
    assert 0 < measured.median_us <= measured.worst_us


@pytest.mark.parametrize("words", ["--rounds 0", "--seconds 0", "--np 2,0", "--report=", "--impl ,", "--nodes x"])
def test_values_that_make_no_sense_are_refused(words: str) -> None:
    with pytest.raises(click.BadParameter):
        parsed("compare", *words.split())
