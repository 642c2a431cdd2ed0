"""What a timeline (ARMCI_TRACE=FILE) says in sum: which calls took the time, how much of it was waiting, and who moved how
much to whom."""

from __future__ import annotations

import json
import math
import re
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Mapping, Sequence

from armci_tool import console
from armci_tool.errors import ToolError

WAIT = "wait"
TOP = 12
_SHOWN = 32
# Of the format: what an event of each phase has to have.
_REQUIRED: Mapping[str, Mapping[str, tuple[type, ...]]] = {
    "X": {"name": (str,), "cat": (str,), "ts": (int, float), "dur": (int, float), "pid": (int,), "tid": (int,),
          "args": (dict,)},
    "M": {"name": (str,), "pid": (int,), "args": (dict,)},
}
_GETS = re.compile(r"(ARMCIX?)_(Nb)?Get")
_SCALE = " .:-=+*#%@"


@dataclass(frozen=True)
class Event:
    """A call of a process; times in microseconds."""

    name: str
    category: str
    start_us: float
    duration_us: float
    process: int
    thread: int
    peer: int = -1
    bytes: int = 0

    @property
    def way(self) -> tuple[int, int]:
        """From which process to which its bytes go. What reads and writes counts as a write."""
        return (self.peer, self.process) if _GETS.match(self.name) else (self.process, self.peer)


@dataclass(frozen=True)
class Timeline:
    """A whole job."""

    title: str
    processes: int
    events: tuple[Event, ...]

    @property
    def span_us(self) -> float:
        """From the first call to the end of the last."""
        if not self.events:
            return 0.0
        return max(one.start_us + one.duration_us for one in self.events) - min(one.start_us for one in self.events)


@dataclass
class CallSum:
    """All calls of a name."""

    calls: int = 0
    bytes: int = 0
    us: float = 0.0
    longest_us: float = 0.0


@dataclass
class Summary:
    """By call, by process, and by pairs of processes."""

    calls: dict[str, CallSum] = field(default_factory=lambda: defaultdict(CallSum))
    waiting_us: dict[int, float] = field(default_factory=lambda: defaultdict(float))
    inside_us: dict[int, float] = field(default_factory=lambda: defaultdict(float))
    moved: dict[tuple[int, int], int] = field(default_factory=lambda: defaultdict(int))


def read(path: Path) -> Timeline:
    """ToolError, with the number of the event, where the file is not of the trace-event format."""
    try:
        document = json.loads(path.read_text())
    except (OSError, ValueError, RecursionError) as error:
        raise ToolError(f"cannot read the trace {path}", where=str(error),
                        next_step="a job writes it at ARMCI_Finalize; one that ended by an error writes none") from error
    fault = check(document)
    if fault:
        raise ToolError(f"{path} is no timeline", where=fault, next_step="make one with ARMCI_TRACE=FILE")
    events = tuple(_event(one) for one in document["traceEvents"] if one["ph"] == "X")
    about = document.get("otherData", {})
    # Whoever else wrote the file need not say how many there are.
    seen = max((max(one.process, one.peer) for one in events), default=0) + 1
    return Timeline(str(about.get("title", "timeline")), max(about.get("processes", 1), seen), events)


def check(document: Any) -> str:
    """What breaks the trace-event format, in the form that has an object with traceEvents; empty if nothing does."""
    if not isinstance(document, dict) or not isinstance(document.get("traceEvents"), list):
        return "it has no list of traceEvents"
    about = document.get("otherData", {})
    if not isinstance(about, dict) or not _is_number(about.get("processes", 1), (int,)):
        return f"otherData is {about!r:.60}"
    for number, event in enumerate(document["traceEvents"]):
        fault = _fault_of_event(event)
        if fault:
            return f"event {number}: {fault}"
    return ""


def _fault_of_event(event: Any) -> str:
    if not isinstance(event, dict) or event.get("ph") not in tuple(_REQUIRED):
        return f"phase {event.get('ph') if isinstance(event, dict) else event!r}"
    for name, types in _REQUIRED[event["ph"]].items():
        value = event.get(name)
        if not (_is_number(value, types) if int in types else isinstance(value, types)):
            return f"{name} is {value!r}"
    if event["ph"] == "M":
        return ""
    if event["dur"] < 0:
        return "it ends before it begins"
    for name in ("peer", "bytes"):
        if not _is_number(event["args"].get(name, 0), (int,)):
            return f"{name} is {event['args'][name]!r}"
    return ""


def _is_number(value: Any, types: tuple[type, ...]) -> bool:
    return isinstance(value, types) and not isinstance(value, bool) and math.isfinite(value)


def summarise(timeline: Timeline) -> Summary:
    """Everything once."""
    made = Summary()
    for one in timeline.events:
        call = made.calls[one.name]
        call.calls += 1
        call.bytes += one.bytes
        call.us += one.duration_us
        call.longest_us = max(call.longest_us, one.duration_us)
        made.inside_us[one.process] += one.duration_us
        if one.category == WAIT:
            made.waiting_us[one.process] += one.duration_us
        if one.peer >= 0 and one.bytes:
            made.moved[one.way] += one.bytes
    return made


def render(timeline: Timeline) -> str:
    """Tables for a terminal."""
    if not timeline.events:
        return f"{timeline.title}: no calls"
    summary = summarise(timeline)
    parts = [f"{timeline.title}: {len(timeline.events)} calls in {_time(timeline.span_us)}", _calls(summary),
             _waiting(timeline, summary)]
    if summary.moved:
        parts.append(_heat_map(timeline, summary))
    return "\n\n".join(parts)


def _calls(summary: Summary) -> str:
    ordered = sorted(summary.calls.items(), key=lambda item: -item[1].us)
    total = sum(one.us for one in summary.calls.values()) or 1.0
    lines = [[name, str(one.calls), f"{one.us / total:.0%}", _time(one.us), _time(one.us / one.calls),
              _time(one.longest_us), _bytes(one.bytes)] for name, one in ordered[:TOP]]
    if len(ordered) > TOP:
        rest = [one for _, one in ordered[TOP:]]
        lines.append([f"{len(rest)} others", str(sum(one.calls for one in rest)),
                      f"{sum(one.us for one in rest) / total:.0%}", _time(sum(one.us for one in rest)), "", "",
                      _bytes(sum(one.bytes for one in rest))])
    return console.table(["call", "calls", "of time", "time", "mean", "longest", "bytes"], lines)


def _waiting(timeline: Timeline, summary: Summary) -> str:
    span = timeline.span_us or 1.0
    lines = [[f"process {process}", f"{summary.inside_us[process] / span:.1%}",
              f"{summary.waiting_us[process] / span:.1%}"] for process in sorted(summary.inside_us)]
    return console.table(["of the time", "in calls", "waiting"], lines)


def _heat_map(timeline: Timeline, summary: Summary) -> str:
    """Bytes by where they come from (down) and go to (across); a letter of the scale for each decade below the most."""
    most = max(summary.moved.values())
    shown = min(timeline.processes, _SHOWN)
    everyone = range(shown)
    width = max(len(str(shown - 1)), 1) + 1
    cut = f", the first {shown} of {timeline.processes} processes" if shown < timeline.processes else ""
    lines = [f"bytes, from (down) to (across){cut}:", " " * width + "".join(str(target).rjust(width) for target in everyone)]
    for origin in everyone:
        cells = [_SCALE[_shade(summary.moved.get((origin, target), 0), most)] for target in everyone]
        lines.append((str(origin).rjust(width) + "".join(cell.rjust(width) for cell in cells)).rstrip())
    lines.append(f"{_SCALE[-1]}: {_bytes(most)}, {_SCALE[1]}: a {10 ** 4:,}th of it or less, blank: none")
    return "\n".join(lines)


def _shade(moved: int, most: int) -> int:
    """From 0 for nothing to the last for the most, half a decade each."""
    if moved == 0:
        return 0
    steps = len(_SCALE) - 1
    shade = steps
    while shade > 1 and moved < most / 10 ** ((steps - shade + 1) / 2):
        shade -= 1
    return shade


def _event(one: Mapping[str, Any]) -> Event:
    about = one["args"]
    return Event(one["name"], one["cat"], float(one["ts"]), float(one["dur"]), one["pid"], one["tid"],
                 int(about.get("peer", -1)), int(about.get("bytes", 0)))


def _time(us: float) -> str:
    return console.time_text(us * 1e3)


def _bytes(count: int) -> str:
    for unit, size in (("GB", 10 ** 9), ("MB", 10 ** 6), ("kB", 10 ** 3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count} B"


def draw(timeline: Timeline, target: Path) -> None:
    """Writes a picture: the calls of each process along time, and the bytes between processes."""
    # Not at the top: what is printed needs none of it.
    try:
        import matplotlib  # type: ignore[import]
        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError as error:
        raise ToolError("pictures need python3-matplotlib", where=str(error), next_step="run tools/armci setup") from error
    figure, (along, between) = pyplot.subplots(1, 2, figsize=(11, 3.6), gridspec_kw={"width_ratios": [3, 1]})
    _draw_calls(timeline, along)
    _draw_bytes(timeline, between, figure)
    figure.suptitle(timeline.title)
    figure.tight_layout()
    try:
        figure.savefig(target, dpi=110, format="png")
    except OSError as error:
        raise ToolError(f"cannot write the picture {target}", where=str(error), next_step="give another --picture") from error
    finally:
        pyplot.close(figure)


def _draw_calls(timeline: Timeline, axes: Any) -> None:
    start = min(one.start_us for one in timeline.events)
    shades = {"transfer": ("0.25", ""), WAIT: ("0.85", "///"), "message": ("0.6", "...")}
    for category in (WAIT, "message", "transfer", ""):
        color, hatch = shades.get(category, ("0.95", ""))
        for process in range(timeline.processes):
            bars = [((one.start_us - start) / 1e3, one.duration_us / 1e3) for one in timeline.events
                    if one.process == process and (one.category if one.category in shades else "") == category]
            axes.broken_barh(bars, (process - 0.4, 0.8), facecolors=color, hatch=hatch, edgecolor="0.3", linewidth=0.2,
                             label=(category or "other") if process == 0 else None)
    axes.set_xlabel("ms")
    axes.set_ylabel("process")
    axes.set_yticks(list(range(timeline.processes)))
    axes.invert_yaxis()
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.18), ncol=4, frameon=False)


def _draw_bytes(timeline: Timeline, axes: Any, figure: Any) -> None:
    moved = summarise(timeline).moved
    rows: Sequence[Sequence[float]] = [[moved.get((origin, target), 0) / 1e3 for target in range(timeline.processes)]
                                       for origin in range(timeline.processes)]
    image = axes.imshow(rows, cmap="Greys", vmin=0)
    figure.colorbar(image, ax=axes, label="kB")
    axes.set_xlabel("to process")
    axes.set_ylabel("from process")
    axes.set_xticks(list(range(timeline.processes)))
    axes.set_yticks(list(range(timeline.processes)))
