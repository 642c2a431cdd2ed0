"""Samples find their cells. Cells say which library is faster, what holds of any implementation, and what has changed."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy
import pytest
from armci_tool import bench
from armci_tool.compare import cells, earlier, guidelines, ranking
from armci_tool.compare.guidelines import Rule
from armci_tool.errors import ToolError
from compared import case, collected, rounds, rows, run, series

PUT, GET = ("put", "8 B"), ("get", "8 B")


def only(found: cells.Cells, candidate: str, name: str = "put") -> Any:
    [cell] = [one for one in rows(found) if (one.candidate, one.case) == (candidate, name)]
    return cell


@pytest.mark.parametrize("size, amount", [("8 B", 8), ("64 KiB", 65536), ("64 MiB", 2**26), ("16 x 1 KiB", 16384),
                                          ("64 rows x 16 B", 1024), ("-", None), ("10 us", None), ("us", None)])
def test_sizes_are_read(size: str, amount: int) -> None:
    assert cells.bytes_of(size) == amount


def test_rounds_are_kept_apart() -> None:
    found = collected([run("a", [case("put", 10)], 0), run("a", [case("put", 30)], 1)])
    assert numpy.exp(found.logs.loc[only(found, "a").Index]).to_dict() == pytest.approx({0: 10, 1: 30})
    assert only(found, "a").value == pytest.approx(300 ** 0.5)


def test_the_99th_percentile_the_best_tenth_and_the_spread() -> None:
    def asked(samples: list[float]) -> list[dict[str, Any]]:
        return [{**case("put", 1), "series": [{**series("ARMCI", 1), "samples_ns": samples}]}]

    cell = only(collected([run("a", asked([float(one) for one in range(1, 102)]))]), "a")
    assert cell.p99_ns == pytest.approx(100.0) and cell.quiet_ns == pytest.approx(11.0)
    assert cell.spread == pytest.approx(80 / 51)
    cell = only(collected([run("a", asked([7.0]))]), "a")
    assert (cell.p99_ns, cell.spread) == (7.0, 0.0)


def test_a_raw_layer_is_a_candidate_with_the_samples_of_all_programs() -> None:
    def raw(nanoseconds: float) -> list[dict[str, Any]]:
        return [series("memcpy", nanoseconds, "baseline"), series("fence", 1, "allowance")]

    # Of both programs there is one median in each round: 6 and 12.
    found = collected([run("a", [case("put", 10, others=raw(5 * turn))], turn) for turn in (1, 2)],
                      [run("b", [case("put", 20, others=raw(7 * turn))], turn) for turn in (1, 2)])
    assert only(found, "memcpy").kind == cells.RAW
    assert only(found, "memcpy").value == pytest.approx(72 ** 0.5)
    assert set(found.table.candidate) == {"a", "b", "memcpy"}


def test_a_library_is_held_against_the_fastest_baseline_of_its_own_programs() -> None:
    raw = [series("memcpy", 5, "baseline"), series("loop", 4, "baseline"), series("store", 1, "context")]
    cell = only(collected([run("a", [case("put", 10, others=raw)], turn) for turn in range(3)]), "a")
    assert cell.baseline == "loop"
    assert cell.over_baseline == pytest.approx(2.5)


def test_a_kernel_is_held_against_the_messages_in_its_own_program() -> None:
    def solve(candidate: str, time: float, messages: float, turn: int) -> dict[str, object]:
        single = series("ARMCI_Rmw", 3 * time, "context", layer=cells.LIBRARY)
        return run(candidate, [case("solve", time, "-", [series("MPI_Isend", messages, "baseline"), single])], turn,
                   benchmark="mg", kernel=True)

    found = collected([solve("a", 10, 20, turn) for turn in range(3)], [solve("b", 12, 8, turn) for turn in range(3)])
    assert set(found.table.kind) == {cells.LIBRARY}
    expected = {("a", "solve"): 0.5, ("b", "solve"): 1.5, ("a", "solve, ARMCI_Rmw"): 1.5, ("b", "solve, ARMCI_Rmw"): 4.5}
    for (candidate, name), ratio in expected.items():
        assert only(found, candidate, name).over_baseline == pytest.approx(ratio)
    assert only(found, "b", "solve").baseline_ns == pytest.approx(8)


def test_another_way_of_the_same_library_is_a_case_of_it() -> None:
    others = [series("row by row", 20, "baseline", layer=cells.LIBRARY), series("RDMA read", 5, "context")]
    found = collected([run("a", [case("strided put", 10, "64 x 8 B", others)])])
    assert only(found, "a", "strided put, row by row").value == pytest.approx(20)
    assert list(found.table.kind) == [cells.LIBRARY, cells.RAW, cells.LIBRARY]


def test_where_no_layer_is_reported_all_but_the_subject_is_raw() -> None:
    asked = case("strided put", 10, "64 x 8 B", [series("row by row", 20, "baseline", layer=cells.LIBRARY)])
    for one in asked["series"]:
        del one["layer"]
    assert list(collected([run("a", [asked])]).table.kind) == [cells.LIBRARY, cells.RAW]


def test_what_a_kernel_measures_twice_is_one_case() -> None:
    single = series("ARMCI_NbGet", 20, "baseline", layer=cells.LIBRARY)
    messages = series("MPI_Isend", 15, "baseline")
    asked = [case("SpMV, aggregated", 11, "9 rows", [single]), case("SpMV", 10, "9 rows", [messages, single]),
             case("SpMV, transposed", 12, "9 rows", [series("MPI_Irecv", 15, "baseline")])]
    found = collected([run("a", asked, benchmark="spmv", kernel=True)])
    assert set(found.table.case) == {"SpMV", "SpMV, ARMCI_NbGet", "SpMV, transposed"}
    assert only(found, "a", "SpMV").value == pytest.approx(10)
    assert len(collected([run("a", asked)])) == 7


def test_what_is_counted_is_no_time() -> None:
    counted = {"name": "growth", "size": "descriptors", "value": 0.0, "series": []}
    [cell] = rows(collected([run("a", [counted])]))
    assert cell.counted and math.isnan(cell.value_low) and cell.value == 0
    assert math.isnan(cell.over_fastest) and not cell.wins


def test_candidates_that_were_dropped_leave_no_cell() -> None:
    dropped = {"name": "slow copy", "role": "baseline", "samples_ns": []}
    assert len(collected([run("a", [case("put", 10, others=[dropped])])])) == 1


def test_the_fastest_library_and_those_as_fast_win() -> None:
    found = collected(rounds("a", {PUT: 100}), rounds("b", {PUT: 100.5}), rounds("c", {PUT: 130}),
                      rounds("d", {PUT: 120}, others=[("memcpy", 10)]))
    assert {one.candidate for one in rows(found) if one.wins} == {"a", "b"}
    [table] = ranking.winners(found)
    assert list(table["up to 1 KiB"]) == ["a = b (1.20x)"]
    assert list(ranking.scores(found).itertuples(name=None)) == [("a", 1, 1), ("b", 1, 1), ("c", 0, 1), ("d", 0, 1)]


@pytest.mark.parametrize("slow, said", [("", "all alike"), ("d", "all but d (2.00x)"), ("cd", "a = b (2.00x)")])
def test_where_most_win_the_others_are_named(slow: str, said: str) -> None:
    found = collected(*(rounds(name, {PUT: 200 if name in slow else 100}) for name in "abcd"))
    [table] = ranking.winners(found)
    assert list(table["up to 1 KiB"]) == [said]


def test_times_over_those_of_the_first_are_averaged_over_classes_of_sizes() -> None:
    ours = {("put", size): 10.0 for size in ("8 B", "64 B", "4 KiB", "1 MiB")} | {("solve", "-"): 10.0}
    theirs = {("put", "8 B"): 20.0, ("put", "64 B"): 80.0, ("put", "4 KiB"): 15.0, ("solve", "-"): 5.0}
    sized, unsized = ranking.means(collected(rounds("a", ours), rounds("b", theirs, others=[("memcpy", 1)])), ["a", "b"])
    assert list(sized.columns) == [("up to 1 KiB", "b"), ("up to 64 KiB", "b")]
    assert sized.loc["transfers", "put", 2, "a"]["up to 1 KiB", "b"] == pytest.approx(4, rel=0.02)
    assert sized.loc["transfers", "put", 2, "a"]["up to 64 KiB", "b"] == pytest.approx(1.5, rel=0.02)
    assert unsized.loc["transfers", "solve", 2, "a"][cells.NO_SIZE, "b"] == pytest.approx(0.5, rel=0.02)


def test_where_the_first_did_not_take_part_times_are_over_those_of_the_next() -> None:
    found = collected(rounds("a", {PUT: 10}), rounds("b", {PUT: 20, GET: 10}), rounds("c", {PUT: 20, GET: 40}))
    [table] = ranking.means(found, ["a", "b", "c"])
    assert [(case, first) for _, case, _, first in table.index] == [("put", "a"), ("get", "b")]
    assert table.loc["transfers", "get", 2, "b"]["up to 1 KiB", "c"] == pytest.approx(4, rel=0.02)


def test_a_patch_is_as_large_as_its_program_says() -> None:
    asked = [{**case("put strided", 10, "64 x 64"), "bytes": 32768.0}]
    [table] = ranking.means(collected([run(name, asked) for name in "ab"]), ["a", "b"])
    assert list(table.columns) == [("up to 64 KiB", "b")]


def test_a_library_alone_wins_nothing() -> None:
    found = collected(rounds("a", {PUT: 100}, others=[("memcpy", 10)]))
    assert ranking.scores(found).empty and not ranking.winners(found)


def checked(rule: Rule, *runs: list[dict[str, object]]) -> list[Any]:
    return guidelines.violations(guidelines.check(collected(*runs), [rule]))


STRIDED, ROWS = ("put strided", "64 KiB"), ("put n rows", "64 KiB")


@pytest.mark.parametrize("time, violated", [(50, False), (100, False), (101, False), (120, True)])
def test_strided_is_no_slower_than_its_rows(time: float, violated: bool) -> None:
    found = checked(Rule("r", "cases", "put strided", "put n rows"), rounds("a", {STRIDED: time, ROWS: 100}))
    assert bool(found) == violated


def test_a_bound_is_kept() -> None:
    rule = Rule("r", "cases", "nb put + wait", "put", bound=1.05)
    assert not checked(rule, rounds("a", {("nb put + wait", "8 B"): 106, PUT: 100}))
    assert checked(rule, rounds("a", {("nb put + wait", "8 B"): 112, PUT: 100}))


def test_what_is_uncertain_is_no_violation() -> None:
    runs = [run("a", [case("put strided", times[0]), case("put n rows", times[1])], turn)
            for turn, times in enumerate([(200, 100), (90, 100), (150, 100)])]
    assert not checked(Rule("r", "cases", "put strided", "put n rows"), runs)


def test_only_the_same_size_is_compared() -> None:
    rule = Rule("r", "cases", "put strided", "put n rows")
    assert not guidelines.check(collected(rounds("a", {STRIDED: 200, ("put n rows", "1 KiB"): 1})), [rule])


def test_native_is_no_slower_than_layered_on_one_node() -> None:
    rule = Rule("r", "candidates", candidate="shmem", other="mpi-rma", where="one node")
    [found] = checked(rule, rounds("shmem", {PUT: 20}), rounds("mpi-rma", {PUT: 10}))
    assert (found.candidate, found.other) == ("shmem", "mpi-rma")
    assert not checked(rule, rounds("shmem", {PUT: 20}, placement="2 nodes"), rounds("mpi-rma", {PUT: 10}, placement="2 nodes"))


def test_on_the_node_is_no_slower_than_between_nodes() -> None:
    rule = Rule("r", "places")
    [found] = checked(rule, rounds("a", {PUT: 20, GET: 1}), rounds("a", {PUT: 10, GET: 10}, placement="2 nodes", seed=2))
    assert found.case == "put" and found.other == "2 nodes"


@pytest.mark.parametrize("larger, violated", [(150, False), (205, False), (250, True)])
def test_twice_the_bytes_are_not_much_slower_than_two_messages(larger: float, violated: bool) -> None:
    found = checked(Rule("r", "sizes", bound=1.1), rounds("a", {("put", "1 KiB"): 100, ("put", "2 KiB"): larger}))
    assert [one.other for one in found] == ["2 times 1 KiB"] * violated


def test_eight_times_the_bytes_are_three_doublings() -> None:
    rule, asked = Rule("r", "sizes", bound=1.1), {("put", "1 KiB"): 100.0, ("put", "8 KiB"): 800 * 1.25}
    assert not checked(rule, rounds("a", asked))
    assert checked(rule, rounds("a", {**asked, ("put", "8 KiB"): 800 * 1.5}))


def test_what_a_raw_layer_loses_where_a_cache_ends_is_granted() -> None:
    def runs(raw: float) -> list[dict[str, object]]:
        others = [[series("memcpy", 50, "baseline")], [series("memcpy", raw, "baseline")]]
        return [run("a", [case("put", 100 * mood, "1 KiB", others[0]), case("put", 300 * mood, "2 KiB", others[1])], turn)
                for turn, mood in enumerate((1.0, 1.01, 0.99))]

    rule = Rule("r", "sizes", bound=1.1)
    assert checked(rule, runs(100)) and not checked(rule, runs(150))


def test_shapes_are_no_multiples_of_one_another() -> None:
    asked = {("put strided", "16 x 64 B"): 1, ("put strided", "16 x 1 KiB"): 1000}
    assert not guidelines.check(collected(rounds("a", asked)), [Rule("r", "sizes")])


def test_the_table_of_guidelines_is_read() -> None:
    rules = guidelines.rules()
    assert {rule.kind for rule in rules} == set(guidelines.KINDS)
    assert len(set(rules)) == len(rules)


def test_each_rule_says_how_often_it_was_checked_or_what_it_takes() -> None:
    table = [Rule("rows", "cases", "put strided", "put n rows", by="patches"), Rule("rows", "cases", "a", "b", by="small"),
             Rule("near", "places"), Rule("native", "candidates", candidate="a", other="b", where="one node")]
    found = guidelines.check(collected(rounds("a", {STRIDED: 200, ROWS: 100, ("put strided", "8 B"): 1, ("put n rows", "8 B"): 2})),
                             table)
    rows, near, native = guidelines.tally(found, table)
    assert (rows.checked, rows.violated, rows.hint) == (2, 1, "")
    assert near.checked == 0 and "--baseline" in near.hint
    assert native.hint == "takes a and b on one node"
    assert guidelines.tally([], table)[0].hint == "takes the benchmark patches, or the benchmark small"


def test_what_the_table_names_is_a_benchmark() -> None:
    assert {rule.by for rule in guidelines.rules()} - {""} <= set(bench.names())


@pytest.mark.parametrize("row, said", [('{"rule": "x", "kind": "moods"}', "no kind of guideline 'moods'"),
                                       ('{"rule": "x", "kind": "cases", "cas": "y"}', "cannot read a guideline")])
def test_a_wrong_guideline_is_reported(tmp_path: Path, row: str, said: str) -> None:
    path = tmp_path / "table.json"
    path.write_text(f"[{row}]")
    with pytest.raises(ToolError, match=said) as raised:
        guidelines.rules(path)
    assert "row 1" in raised.value.where


def test_a_regression_is_found_and_an_equal_run_is_none() -> None:
    old = collected(rounds("a", {PUT: 100, GET: 100}), rounds("b", {PUT: 100}))
    new = collected(rounds("a", {PUT: 130, GET: 101}, seed=7), rounds("b", {PUT: 70}, seed=7), rounds("c", {PUT: 1}))
    found = earlier.changes(old, new)
    assert [(one.candidate, one.case, one.agrees) for one in found] == [
        ("a", "put", False), ("b", "put", False), ("a", "get", True)]
    assert [one.case for one in earlier.regressions(found)] == ["put"]
    assert [one.candidate for one in earlier.gains(found)] == ["b"]


def test_other_places_are_not_compared_with_earlier_ones() -> None:
    assert not earlier.changes(collected(rounds("a", {PUT: 100}, placement="2 nodes")), collected(rounds("a", {PUT: 100})))


NAMES = "abcd"
SIZES = tuple(f"{number} B" for number in range(1, 41))


@lru_cache(maxsize=None)
def of_a_run(seed: int, shift: float = 1.0, of_round: float = 0.03) -> cells.Cells:
    """Forty sizes of four libraries and of a raw layer beside each, all with a mood in each round; `shift` is on the time
    of one of the libraries."""
    generator = random.Random(seed)

    def time() -> float:
        return 100 * generator.lognormvariate(0, of_round)

    return collected([run(name, [case("put", time() * (shift if name == "a" else 1), size, [series("raw", time(), "baseline")])
                                 for size in SIZES], turn) for turn in range(5) for name in NAMES])


def test_two_runs_of_the_same_agree_in_ratios_and_times() -> None:
    pairs = [earlier.agreements(of_a_run(seed), of_a_run(1000 + seed)) for seed in range(20)]
    for found, of in zip(zip(*pairs), (40 * 6, 40 * 4, 40 * 4)):
        assert {one.of for one in found} == {of}
        assert sum(one.agreeing for one in found) >= 0.95 * 20 * of
        assert min(one.agreeing for one in found) >= 0.9 * of
    assert pairs[0][0].text.startswith(f"{pairs[0][0].agreeing} of 240 ratios of two candidates agree within their intervals (9")


def test_where_one_has_changed_its_ratios_do_not_agree() -> None:
    ratios, over_raw, times = earlier.agreements(of_a_run(1), of_a_run(2, shift=1.3))
    assert 0.45 * ratios.of < ratios.agreeing < 0.55 * ratios.of
    assert 0.7 * over_raw.of < over_raw.agreeing < 0.8 * over_raw.of
    assert 0.7 * times.of < times.agreeing < 0.8 * times.of


def test_a_slower_machine_changes_times_and_no_ratios() -> None:
    def slow(found: cells.Cells) -> cells.Cells:
        return replace(found, logs=found.logs + math.log(1.5), raw=found.raw + math.log(1.5))

    # One in twenty intervals misses, so one pair of runs may have a few more.
    pairs = [earlier.agreements(of_a_run(seed), slow(of_a_run(1000 + seed))) for seed in range(20)]
    for found in list(zip(*pairs))[:2]:
        assert sum(one.agreeing for one in found) >= 0.95 * sum(one.of for one in found)
    assert all(times.agreeing == 0 for _, _, times in pairs)


def test_equal_runs_agree_and_single_rounds_say_nothing() -> None:
    same = of_a_run(1)
    assert all(one.agreeing == one.of > 0 for one in earlier.agreements(same, same))
    single = collected([run(name, [case("put", 10)]) for name in NAMES])
    assert [one.of for one in earlier.agreements(single, single)] == [0, 0, 0]
