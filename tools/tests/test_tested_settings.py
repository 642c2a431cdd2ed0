"""The combinations of settings under which the suite runs."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from armci_tool import conformance, repository, tested_settings
from armci_tool.bazel import Configuration

VALUES = {"mpi": ["a", "b"], "X": ["0", "1", "2"], "Y": ["0", "1"]}
JOBS = [{"processes": 2}, {"processes": 6, "nodes": 3}]


def test_each_pair_of_values_is_in_a_combination() -> None:
    rows = tested_settings.combinations(VALUES, JOBS, [])
    for one, other in itertools.combinations(VALUES, 2):
        for pair in itertools.product(VALUES[one], VALUES[other]):
            assert any((row[one], row[other]) == pair for row in rows), (one, other, pair)
    assert {(row["X"], row["processes"]) for row in rows} == set(itertools.product("012", (2, 6)))


def test_what_an_implementation_refuses_is_in_none() -> None:
    rows = tested_settings.combinations(VALUES, JOBS, [{"mpi": "b", "X": "2"}])
    assert rows and not [row for row in rows if row["mpi"] == "b" and row["X"] == "2"]


@pytest.mark.parametrize("name", repository.implementations())
def test_an_implementation_is_tested_above_both_libraries_and_on_more_than_one_node(name: str) -> None:
    rows = tested_settings.read(name)
    assert {row.mpi for row in rows} == {"openmpi", "mpich"}
    if repository.leaves_node(name):
        assert all(row.placement.nodes or row.placement.simulated_node_size for row in rows)
        assert max(row.processes for row in rows) >= 4


def test_a_sample_is_drawn_by_the_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"A.test{number}" for number in range(100)]

    def left_out(seed: int) -> list[str]:
        seen: list[list[str]] = []

        def once(launches: conformance._Launches, _: Path) -> bool:
            seen.append(list(launches.left_out))
            return False

        monkeypatch.setattr(conformance, "list_tests", lambda *_: {name: [] for name in names})
        monkeypatch.setattr(conformance._Launches, "once", once)
        monkeypatch.setattr(repository, "device_of", lambda _: "")
        selection = conformance.Selection(seed=seed, one_in=4)
        conformance.run_suite(Path("suite"), "shmem", Configuration(), 2, selection)
        return seen[0]

    first = left_out(1)
    assert left_out(1) == first != left_out(2)
    assert 60 <= len(first) <= 90
