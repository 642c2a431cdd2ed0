"""Perftest's tools: what they print, and how the raw baseline is held against it."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from armci_tool import bench, perftest
from helpers import script

LATENCY = """
 GID: 00:00:00:00:00:00:00:00:00:00:255:255:10:78:00:01
---------------------------------------------------------------------------------------
 #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec] 
 8       2000          13.16          1009.72      15.43    	       18.93       	24.25  		128.12  		504.26 
---------------------------------------------------------------------------------------
"""
BANDWIDTH = """
 #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]
 65536      300              137.30             134.54 		   0.002153
"""
DATA: dict[str, Any] = {
    "notes": {"verbs_device": "rxe0", "verbs_port": "1", "verbs_gid": "1"},
    "cases": [{"name": "get", "size": "8 B", "bytes": 0,
               "series": [{"role": "subject", "p10_ns": 10e3}, {"role": "baseline", "p10_ns": 30e3}]},
              {"name": "puts + fence, registered", "size": "64 KiB", "bytes": 16 * 65536,
               "series": [{"role": "baseline", "p10_ns": 16 * 500e3}]}]}


def of(tool: str, size: str) -> perftest.Measurement:
    return next(one for one in perftest.MEASUREMENTS if one.tool == tool and size in one.options)


def test_the_columns_are_read_with_other_lines_around_them() -> None:
    assert perftest.parse(LATENCY)["t_typical[usec]"] == 15.43
    assert perftest.parse(LATENCY)["99.9% percentile[usec]"] == 504.26
    assert perftest.parse(BANDWIDTH)["MsgRate[Mpps]"] == 0.002153
    assert perftest.parse("Couldn't connect to localhost:18515\n") == {}


def test_times_and_rates_become_nanoseconds() -> None:
    assert of("ib_read_lat", "8").nanoseconds(perftest.parse(LATENCY)) == pytest.approx(15430)
    assert of("ib_send_lat", "16").nanoseconds(perftest.parse(LATENCY)) == pytest.approx(2 * 15430)
    assert of("ib_write_bw", "65536").nanoseconds(perftest.parse(BANDWIDTH)) == pytest.approx(1e3 / 0.002153)
    assert of("ib_read_lat", "8").nanoseconds({}) is None
    assert of("ib_read_lat", "8").nanoseconds({"t_typical[usec]": float("inf")}) is None


def test_a_baseline_slower_than_perftest_is_reported() -> None:
    checked = perftest.checks(DATA, [20e3] * len(perftest.MEASUREMENTS))
    by_what = {check.of.what: check for check in checked}
    assert by_what["read of 8 B"].ratio == pytest.approx(1.5)
    assert by_what["writes of 64 KiB"].ours == pytest.approx(500e3)
    assert by_what["send and receive, 16 B"].ratio is None
    assert "note: the raw baseline is slower than perftest (read of 8 B; writes of 64 KiB)" in perftest.table(checked)
    assert "note" not in perftest.table(perftest.checks(DATA, [500e3] * len(perftest.MEASUREMENTS)))


def test_figures_that_are_missing_are_left_open() -> None:
    checked = perftest.checks({"cases": []}, [None] * len(perftest.MEASUREMENTS))
    assert len(checked) == len(perftest.MEASUREMENTS)
    assert all(check.ratio is None for check in checked)
    assert len(perftest.table(checked).splitlines()) == 2 + len(checked)


def test_the_device_is_that_of_the_benchmark() -> None:
    device = perftest.device_of(DATA)
    assert device is not None and device.options() == ["-d", "rxe0", "-i", "1", "-x", "1"]
    assert perftest.Device("mlx5_0", "2", "-1").options() == ["-d", "mlx5_0", "-i", "2"]
    assert perftest.device_of({"notes": {}}) is None


def test_a_server_that_does_not_listen_is_an_error(tmp_path: Path) -> None:
    tool = script(tmp_path, "tool", "exit 1\n")
    with pytest.raises(subprocess.SubprocessError, match="does not listen"):
        perftest.run_pair([str(tool)], 18999)


def test_the_cases_it_is_held_against_are_those_of_the_benchmark() -> None:
    source = (bench.QUESTIONS_FILE.parent / "micro" / "verbs.cc").read_text()
    for one in perftest.MEASUREMENTS:
        for part in one.case.removesuffix(", registered").split(", "):
            assert f'"{part}"' in source or not part
