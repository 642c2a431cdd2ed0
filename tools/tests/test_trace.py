"""Timelines: the format, the sums, the picture."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from armci_tool import trace
from armci_tool.errors import ToolError


def event(name: str = "ARMCI_Put", process: int = 0, start: float = 0.0, duration: float = 1.0, category: str = "transfer",
          **about: int) -> dict[str, Any]:
    return {"name": name, "cat": category, "ph": "X", "ts": start, "dur": duration, "pid": process, "tid": 0, "args": about}


def document(*events: dict[str, Any]) -> dict[str, Any]:
    named = {"name": "process_name", "ph": "M", "pid": 0, "tid": 0, "args": {"name": "rank 0"}}
    return {"otherData": {"processes": 2, "title": "shmem, 2 processes on 1 nodes"}, "traceEvents": [named, *events]}


JOB = document(event(start=0, duration=10, peer=1, bytes=1000), event(process=1, start=5, duration=5, peer=0, bytes=10),
               event("ARMCI_Barrier", 0, 10, 30, "wait"), event("ARMCI_Barrier", 1, 10, 10, "wait"))


def written(folder: Path, content: Any) -> Path:
    path = folder / "trace.json"
    path.write_text(json.dumps(content))
    return path


def test_the_sums_are_those_of_the_events(tmp_path: Path) -> None:
    timeline = trace.read(written(tmp_path, JOB))
    assert timeline.processes == 2 and timeline.span_us == 40
    calls, processes = trace.calls(timeline.table), trace.processes(timeline.table)
    assert calls["sum"]["ARMCI_Barrier"] == 40 and calls["max"]["ARMCI_Barrier"] == 30
    assert calls["bytes"]["ARMCI_Put"] == 1010 and calls["size"]["ARMCI_Put"] == 2
    assert list(processes.waiting) == [30, 10] and list(processes.duration_us) == [40, 15]
    assert trace.moved(timeline.table).to_dict() == {(0, 1): 1000, (1, 0): 10}


def test_a_file_that_is_nothing_but_nested_lists_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_text("[" * 200_000)
    with pytest.raises(ToolError, match="cannot read the trace"):
        trace.read(path)


def test_of_many_processes_some_are_shown(tmp_path: Path) -> None:
    text = trace.render(trace.read(written(tmp_path, document(event(process=2999, peer=1, bytes=8)))))
    assert "the first 32 of 3000 processes" in text and len(text.splitlines()) < 60


def test_a_picture_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    timeline = trace.read(written(tmp_path, JOB))
    with pytest.raises(ToolError, match="cannot write the picture"):
        trace.draw(timeline, tmp_path / "no" / "such.png")


@pytest.mark.parametrize("name, way", [("ARMCI_Put", (0, 1)), ("ARMCI_Get", (1, 0)), ("ARMCI_NbGetS", (1, 0)),
                                       ("ARMCIX_NbGetV", (1, 0)), ("ARMCI_GetValueInt", (1, 0)), ("ARMCI_Rmw", (0, 1)),
                                       ("ARMCIX_Acc", (0, 1))])
def test_bytes_are_distinguished_from_where_they_come_to_where_they_go(tmp_path: Path, name: str, way: tuple[int, int]) -> None:
    timeline = trace.read(written(tmp_path, document(event(name, 0, peer=1, bytes=8))))
    assert trace.moved(timeline.table).to_dict() == {way: 8}


def test_what_is_printed(tmp_path: Path) -> None:
    text = trace.render(trace.read(written(tmp_path, JOB)))
    lines = text.splitlines()
    assert lines[0] == "shmem, 2 processes on 1 nodes: 4 calls in 40 us"
    assert any(line.split() == ["ARMCI_Barrier", "2", "73%", "40", "us", "20", "us", "30", "us", "0", "B"] for line in lines)
    assert any(line.split() == ["process", "1", "37.5%", "25.0%"] for line in lines)
    assert " 0   @" in lines and " 1 *" in lines


@pytest.mark.parametrize("content, fault", [
    ([], "no list of traceEvents"), ({}, "no list of traceEvents"),
    (document({**event(), "ph": "Q"}), "event 1: phase 'Q'"),
    (document({**event(), "ts": "now"}), "event 1: ts is 'now'"),
    (document({**event(), "pid": True}), "event 1: pid is True"),
    (document(event(duration=-1)), "event 1: it ends before it begins"),
    (document(["X"]), "event 1: phase"),  # type: ignore[arg-type]
    (document({**event(), "ph": [1]}), "event 1: phase [1]"),
    (document(event(peer="x")), "event 1: peer is 'x'"),  # type: ignore[arg-type]
    (document(event(duration=math.nan)), "event 1: dur is nan"),
    ({**document(), "otherData": []}, "otherData is []"), ({**document(), "otherData": {"processes": "abc"}}, "otherData is"),
])
def test_other_files_are_refused(tmp_path: Path, content: Any, fault: str) -> None:
    with pytest.raises(ToolError, match="is no timeline") as caught:
        trace.read(written(tmp_path, content))
    assert fault in caught.value.render()


def test_a_file_that_is_cut_off_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(JOB)[:-10])
    with pytest.raises(ToolError, match="cannot read the trace"):
        trace.read(path)


def test_a_job_without_calls(tmp_path: Path) -> None:
    assert trace.render(trace.read(written(tmp_path, document()))).endswith("no calls")


@pytest.mark.parametrize("moved, shade", [(0, 0), (1000, 9), (999, 9), (320, 9), (300, 8), (101, 8), (99, 7), (10, 6), (1, 4)])
def test_shades_are_half_decades(moved: int, shade: int) -> None:
    assert trace._shade(moved, 1000) == shade  # pylint: disable=protected-access


def test_the_picture_is_one(tmp_path: Path) -> None:
    target = tmp_path / "trace.png"
    trace.draw(trace.read(written(tmp_path, JOB)), target)
    assert target.read_bytes().startswith(b"\x89PNG")
