"""Benchmarks: which are chosen, how they are named, and what becomes of one that hangs."""

from __future__ import annotations

from pathlib import Path

import pytest
from armci_tool import bench, placement, process
from armci_tool.errors import ToolError
from armci_tool.placement import Placement
from armci_tool.rdma import machine


def chosen(names: list[str], only_between_nodes: bool, device: str = "") -> list[str]:
    return [question.name for question in bench.choose(names, only_between_nodes, device)]


def test_every_question_has_a_program_for_each_library() -> None:
    names = [question.name for question in bench.questions()]
    assert len(set(names)) == len(names)
    assert bench.label(names[0], "mpi-rma") == f"//bench/micro:{names[0]}_mpi_rma"


def test_between_nodes_what_reads_raw_memory_is_left_out() -> None:
    everything, between_nodes = chosen([], False), chosen([], True)
    assert "rma" in between_nodes and "contiguous" not in between_nodes
    assert set(between_nodes) < set(everything)


def test_a_benchmark_that_is_named_is_taken() -> None:
    assert chosen(["small"], True) == ["small"]
    with pytest.raises(ToolError, match="no benchmark nothing"):
        bench.choose(["nothing"], False)


def test_raw_rdma_runs_only_with_a_verbs_device() -> None:
    assert set(chosen([], True, "verbs")) - set(chosen([], True)) == {"verbs", "verbs_rows"}
    assert chosen(["verbs"], False, "verbs") == ["verbs"]
    assert "rma" not in chosen([], True, "verbs") and chosen(["rma"], True, "verbs") == ["rma"]
    with pytest.raises(ToolError, match="verbs_rows: for implementations that take a verbs device"):
        chosen(["rma", "verbs_rows"], False)


@pytest.fixture(name="no_device")
def fixture_no_device(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine without a verbs device, on which guests can be made."""
    monkeypatch.setattr(placement, "VERBS_DEVICES", str(tmp_path / "uverbs*"))
    monkeypatch.setattr(machine, "require", lambda count: None)


BETWEEN_NODES, ON_A_NODE = bench.Question("rma", "//bench/micro", True), bench.Question("small", "//bench/micro", False)


@pytest.mark.usefixtures("no_device")
def test_an_implementation_on_a_verbs_device_has_a_node_for_each_process_in_a_guest() -> None:
    assert bench.place(BETWEEN_NODES, Placement(), "verbs") == Placement(simulated_node_size=1, guest=True)
    assert bench.place(BETWEEN_NODES, Placement(simulated_node_size=2), "verbs").label == "nodes of 2, simulated, in a guest"
    for unchanged in (bench.place(ON_A_NODE, Placement(), "verbs"), bench.place(BETWEEN_NODES, Placement(), "")):
        assert unchanged == Placement()
    assert bench.place(BETWEEN_NODES, Placement(nodes=2), "verbs") == Placement(nodes=2, guest=True)


@pytest.mark.usefixtures("no_device")
def test_without_a_guest_and_a_device_it_says_what_to_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def there_is_none(_count: int) -> None:
        raise ToolError("a guest needs an emulator")

    monkeypatch.setattr(machine, "require", there_is_none)
    with pytest.raises(ToolError, match="emulator"):
        bench.place(BETWEEN_NODES, Placement(), "verbs")
    (tmp_path / "uverbs0").touch()
    assert bench.place(BETWEEN_NODES, Placement(), "verbs") == Placement(simulated_node_size=1)


def test_a_benchmark_that_hangs_is_ended_and_its_case_named(tmp_path: Path) -> None:
    script = tmp_path / "hangs"
    script.write_text("#!/bin/sh\necho bench: rma: put 8 B\necho bench: rma: get 64 B\nexec sleep 600\n")
    script.chmod(0o755)
    ended = bench.run_program(bench.Program("rma", script, "mpich", 1), silence_s=2)
    assert ended.status == process.TIMEOUT_STATUS and ended.data is None
    assert "the last case begun: get 64 B" in ended.text


def test_one_that_takes_too_long_is_distinguished_from_one_that_hangs(tmp_path: Path) -> None:
    script = tmp_path / "works"
    script.write_text("#!/bin/sh\nwhile sleep 0.2; do echo bench: rma: put 8 B; done\n")
    script.chmod(0o755)
    ended = bench.run_program(bench.Program("rma", script, "mpich", 1), timeout_s=2, silence_s=60)
    assert ended.status == process.TIMEOUT_STATUS and ended.out_of_time
    assert "may take no longer; the last case begun: put 8 B" in ended.text
