"""Perftest's tools against themselves on this machine: what another program measures of the same verbs device.

    tools/armci bench ... verbs                 where the benchmark ran, in its guest if it has one
      |--python3 -m armci_tool.perftest-------->|  for each tool: a server, and a client beside it
      |<-----a JSON line of figures-------------|

The raw RDMA of bench/baseline/verbs_peer.cc is held against these figures: a baseline that is slower than it could be
would flatter what is compared with it.
"""

from __future__ import annotations

import json
import math
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import Any, Mapping, NamedTuple, Optional, Sequence

from armci_tool import console, process
from armci_tool.rdma import nodes
from armci_tool.repository import ROOT

# A tool that has not ended by then has lost its other side.
TOOL_S = 60.0
# They measure how fast the CPU's counter runs first, which a guest's CPU that is held up makes an infinity of.
_ATTEMPTS = 3
# The baseline may be slower than the tool by this before a report: their medians differ from run to run.
TOLERATED = 1.25
_HEADER = "#bytes"
_COLUMN = re.compile(r"BW \S+|[\d.]+% \S+|\S+")
_FIRST_PORT = 18515


@dataclass(frozen=True)
class Measurement:
    """A tool with its options, and the case of the benchmark `verbs` whose baseline is the same."""

    what: str
    tool: str
    options: tuple[str, ...]
    column: str
    case: str = ""  # empty: there is none
    size: str = ""
    # The column times this is in nanoseconds, as the baseline is; for a rate of messages, this over the column.
    scale: float = 1e3

    @property
    def command(self) -> str:
        """As one would type it."""
        return " ".join((self.tool, *self.options))

    def nanoseconds(self, columns: Mapping[str, float]) -> Optional[float]:
        """None where the tool did not say."""
        value = columns.get(self.column, 0.0)
        if value <= 0 or not math.isfinite(value):
            return None
        return self.scale / value if "Rate" in self.column else self.scale * value


_TYPICAL = "t_typical[usec]"
_RATE = "MsgRate[Mpps]"
MEASUREMENTS = (
    # One at a time, until it is complete.
    Measurement("write of 8 B, complete", "ib_write_bw", ("-s", "8", "-t", "1", "-Q", "1", "-n", "3000"), _RATE,
                "put + fence", "8 B"),
    # Of the way there alone, whose end the other side sees in its memory.
    Measurement("write of 8 B, one way", "ib_write_lat", ("-s", "8", "-n", "3000"), _TYPICAL),
    Measurement("read of 8 B", "ib_read_lat", ("-s", "8", "-n", "3000"), _TYPICAL, "get", "8 B"),
    # ib_send_lat prints half of a round trip.
    Measurement("send and receive, 16 B", "ib_send_lat", ("-s", "16", "-n", "3000"), _TYPICAL, "fetch-and-add", "16 B",
                scale=2e3),
    Measurement("writes of 64 KiB", "ib_write_bw", ("-s", "65536", "-t", "16", "-Q", "1", "-n", "500"), _RATE,
                "puts + fence, registered", "64 KiB"),
    Measurement("reads of 64 KiB", "ib_read_bw", ("-s", "65536", "-t", "16", "-Q", "1", "-n", "500"), _RATE,
                "gets, registered", "64 KiB"),
)


class Device(NamedTuple):
    """The device, port and GID of a run of the benchmark."""

    name: str
    port: str
    gid: str

    def options(self) -> list[str]:
        """Of all tools."""
        return ["-d", self.name, "-i", self.port, *(["-x", self.gid] if int(self.gid) >= 0 else [])]


def device_of(data: Mapping[str, Any]) -> Optional[Device]:
    """From the JSON of a benchmark; None where it used none."""
    notes = data.get("notes") or {}
    return Device(*(notes[f"verbs_{name}"] for name in ("device", "port", "gid"))) if "verbs_device" in notes else None


def is_installed() -> bool:
    """Whether all of its tools are."""
    return all(shutil.which(one.tool) for one in MEASUREMENTS)


def measure(device: Device, in_guest: bool) -> list[Optional[float]]:
    """Nanoseconds of each of MEASUREMENTS, None where a tool failed; stderr has the reason."""
    line = [sys.executable, "-B", "-m", __name__, *device]
    settings = {"PYTHONPATH": str(ROOT / "tools")}
    with console.Progress("perftest"):
        result = process.run(nodes.command_line(1, line) if in_guest else line, environment=settings)
    for text in reversed(result.output.splitlines()):
        if text.startswith("["):
            return list(json.loads(text))
    print(f"perftest: no figures:\n{result.tail(10)}", file=sys.stderr)
    return [None] * len(MEASUREMENTS)


@dataclass(frozen=True)
class Check:
    """A figure of perftest, and that of the raw baseline if there is one."""

    of: Measurement
    theirs: Optional[float]
    ours: Optional[float]

    @property
    def ratio(self) -> Optional[float]:
        """Above 1: the baseline is slower, which flatters what is compared with it."""
        return self.ours / self.theirs if self.ours and self.theirs else None

    def as_json(self) -> dict[str, Any]:
        """For the report."""
        return {"what": self.of.what, "tool": self.of.command, "perftest_ns": self.theirs, "baseline_ns": self.ours,
                "ratio": self.ratio}


def checks(data: Mapping[str, Any], theirs: Sequence[Optional[float]]) -> list[Check]:
    """The baselines of a run of the benchmark against perftest's figures."""
    found = {(case["name"], case["size"]): case for case in data.get("cases", [])}
    return [Check(of, their, _baseline(of, found.get((of.case, of.size), {})))
            for of, their in zip(MEASUREMENTS, theirs)]


def _baseline(of: Measurement, case: Mapping[str, Any]) -> Optional[float]:
    """Nanoseconds of the best tenth of the samples; of a window each transfer's share. Perftest prints the median of single
    transfers, in which pauses of the machine are not, while each of our samples is the mean of some."""
    length = float(of.options[of.options.index("-s") + 1])
    return next((float(series["p10_ns"]) * (length / case["bytes"] if case.get("bytes") else 1.0)
                 for series in case.get("series", []) if series["role"] == "baseline" and series["p10_ns"] > 0), None)


def table(made: Sequence[Check]) -> str:
    """The table of the checks."""
    def time_text(nanoseconds: Optional[float]) -> str:
        return f"{nanoseconds / 1e3:.3g} us" if nanoseconds else "-"

    rows = [[one.of.what, time_text(one.ours), time_text(one.theirs), f"{one.ratio:.2f}" if one.ratio else "-",
             one.of.command] for one in made]
    text = console.table(["raw RDMA against perftest", "raw, best tenth", "perftest", "ratio", "perftest is"], rows, 5)
    slow = "; ".join(one.of.what for one in made if one.ratio and one.ratio > TOLERATED)
    return text + (f"\nnote: the raw baseline is slower than perftest ({slow}), which flatters ARMCI" if slow else "")


def parse(output: str) -> dict[str, float]:
    """Column and value of the line of figures."""
    lines = output.splitlines()
    return next((dict(zip(_COLUMN.findall(header), map(float, values.split())))
                 for header, values in zip(lines, lines[1:]) if _HEADER in header), {})


def _listens(port: int) -> bool:
    """Without connecting, which the tool would take for its client."""
    import psutil  # type: ignore[import]
    return any(one.laddr.port == port and one.status == psutil.CONN_LISTEN for one in psutil.net_connections("tcp"))


def run_pair(line: Sequence[str], port: int) -> str:
    """The output of the client; raises subprocess.SubprocessError when one of them hangs or fails."""
    line = [*line, "-F", "-p", str(port)]
    with subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            deadline = time.monotonic() + TOOL_S
            while not _listens(port):
                if server.poll() is not None or time.monotonic() > deadline:
                    raise subprocess.SubprocessError(f"the server of {line[0]} does not listen")
                time.sleep(0.05)
            client = subprocess.run([*line, "localhost"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                    timeout=TOOL_S, check=False)
            server.wait(TOOL_S)
            return client.stdout
        finally:
            server.kill()


def main(device: Device) -> None:
    """Runs them all, one after the other, and prints the figures."""
    figures = []
    for number, of in enumerate(MEASUREMENTS):
        for attempt in range(_ATTEMPTS):
            try:
                output = run_pair([of.tool, *device.options(), *of.options], _FIRST_PORT + _ATTEMPTS * number + attempt)
            except (OSError, subprocess.SubprocessError) as error:
                output = str(error)
            figure = of.nanoseconds(parse(output))
            if figure is not None:
                break
            print(f"perftest: no figure of {of.command}: {output}", file=sys.stderr)
        figures.append(figure)
    print(json.dumps(figures))


if __name__ == "__main__":
    main(Device(*sys.argv[1:4]))
