"""The summary of a timeline (ARMCI_TRACE=FILE): the time in each call, the part of it that was waiting, and the bytes from
each process to each other."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Mapping, NamedTuple

from armci_tool import console
from armci_tool.compare import statistics
from armci_tool.errors import ToolError

if TYPE_CHECKING:
    from pandas import DataFrame, Series  # type: ignore[import]

WAIT = "wait"
TOP = 12
_SHOWN = 32
# Of the format: what an event of each phase has to have.
_REQUIRED: Mapping[str, Mapping[str, tuple[type, ...]]] = {
    "X": {"name": (str,), "cat": (str,), "ts": (int, float), "dur": (int, float), "pid": (int,), "tid": (int,),
          "args": (dict,)},
    "M": {"name": (str,), "pid": (int,), "args": (dict,)},
}
# Bytes of these go from the peer to the process. What reads and writes counts as a write.
_GETS = r"ARMCIX?_(?:Nb)?Get"
_SCALE = " .:-=+*#%@"
# Of a picture: brightness and hatching of each category.
_LOOKS = {WAIT: ("0.85", "///"), "message": ("0.6", "..."), "transfer": ("0.25", ""), "other": ("0.95", "")}


class Event(NamedTuple):
    """A call of a process; times in microseconds."""

    name: str
    category: str
    start_us: float
    duration_us: float
    process: int
    thread: int
    peer: int = -1
    bytes: int = 0


@dataclass(frozen=True)
class Timeline:
    """A whole job."""

    title: str
    processes: int
    events: tuple[Event, ...]

    @property
    def table(self) -> DataFrame:
        """A row for each event."""
        import pandas
        return pandas.DataFrame(self.events, columns=Event._fields)

    @property
    def span_us(self) -> float:
        """From the first call to the end of the last."""
        return max((one.start_us + one.duration_us for one in self.events), default=0.0) - min(
            (one.start_us for one in self.events), default=0.0)


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
    # A file of another program need not say how many processes there are.
    seen = max((max(one.process, one.peer) for one in events), default=0) + 1
    return Timeline(str(about.get("title", "timeline")), max(about.get("processes", 1), seen), events)


def check(document: Any) -> str:
    """The first breach of the trace-event format, in its form with an object of traceEvents; "" if there is none."""
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


def calls(events: DataFrame) -> DataFrame:
    """By name, what took most of the time first: how many calls, their time, the mean, the longest, and the bytes."""
    times = events.groupby("name", sort=False).duration_us.agg(["size", "sum", "mean", "max"])
    return times.join(events.groupby("name").bytes.sum()).sort_values("sum", ascending=False, kind="stable")


def processes(events: DataFrame) -> DataFrame:
    """By process: the time inside of calls, and what of it was waiting."""
    waiting = events.duration_us.where(events.category == WAIT, 0.0)
    return events.assign(waiting=waiting).groupby("process")[["duration_us", "waiting"]].sum()


def moved(events: DataFrame) -> Series:
    """Bytes by the process that they come from, and the one that they go to."""
    sent = events[(events.peer >= 0) & (events.bytes > 0)]
    gets = sent.name.str.match(_GETS)
    return sent.groupby([sent.peer.where(gets, sent.process), sent.process.where(gets, sent.peer)]).bytes.sum()


def _matrix(found: Series, count: int) -> DataFrame:
    """Of the first processes."""
    return found.unstack(fill_value=0).reindex(index=range(count), columns=range(count), fill_value=0)


def render(timeline: Timeline) -> str:
    """Tables for a terminal."""
    if not timeline.events:
        return f"{timeline.title}: no calls"
    statistics.require("sums of a timeline", "pandas")
    events, span = timeline.table, timeline.span_us or 1.0
    of_each = [[f"process {process}", f"{inside / span:.1%}", f"{waiting / span:.1%}"]
               for process, inside, waiting in processes(events).itertuples()]
    parts = [f"{timeline.title}: {len(timeline.events)} calls in {_time(timeline.span_us)}", _calls(calls(events)),
             console.table(["of the time", "in calls", "waiting"], of_each)]
    found = moved(events)
    return "\n\n".join([*parts, *([] if found.empty else [_heat_map(found, timeline.processes)])])


def _calls(found: DataFrame) -> str:
    total, rest = found["sum"].sum() or 1.0, found[TOP:]
    lines = [[name, str(count), f"{us / total:.0%}", _time(us), _time(mean), _time(longest), _bytes(size)]
             for name, count, us, mean, longest, size in found[:TOP].itertuples()]
    if not rest.empty:
        us = rest["sum"].sum()
        lines.append([f"{len(rest)} others", str(rest["size"].sum()), f"{us / total:.0%}", _time(us), "", "",
                      _bytes(rest.bytes.sum())])
    return console.table(["call", "calls", "of time", "time", "mean", "longest", "bytes"], lines)


def _heat_map(found: Series, count: int) -> str:
    """Bytes by where they come from (down) and go to (across); a letter of the scale for each decade below the most."""
    shown = min(count, _SHOWN)
    width = len(str(shown - 1)) + 1
    cut = f", the first {shown} of {count} processes" if shown < count else ""
    lines = [["", *map(str, range(shown))]]
    for origin, *row in _matrix(found, shown).itertuples():
        lines.append([str(origin), *(_SCALE[_shade(one, found.max())] for one in row)])
    return "\n".join([f"bytes, from (down) to (across){cut}:",
                      *("".join(word.rjust(width) for word in line).rstrip() for line in lines),
                      f"{_SCALE[-1]}: {_bytes(found.max())}, {_SCALE[1]}: a {10 ** 4:,}th of it or less, blank: none"])


def _shade(moved_bytes: int, most: int) -> int:
    """From 0 for nothing to the last for the most, half a decade each."""
    if moved_bytes == 0:
        return 0
    steps = len(_SCALE) - 1
    return min(steps, max(1, steps + 1 - math.ceil(2 * math.log10(most / moved_bytes))))


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
    statistics.require("pictures", "matplotlib")
    from matplotlib.figure import Figure  # type: ignore[import]
    figure = Figure(figsize=(11, 3.6), layout="tight")
    along, between = figure.subplots(1, 2, gridspec_kw={"width_ratios": [3, 1]})
    _draw_calls(timeline, along)
    image = between.imshow(_matrix(moved(timeline.table), timeline.processes) / 1e3, cmap="Greys", vmin=0)
    figure.colorbar(image, ax=between, label="kB")
    processes = range(timeline.processes)
    between.set(xlabel="to process", ylabel="from process", xticks=processes, yticks=processes)
    figure.suptitle(timeline.title)
    try:
        figure.savefig(target, dpi=110, format="png")
    except OSError as error:
        raise ToolError(f"cannot write the picture {target}", where=str(error), next_step="give another --picture") from error


def _draw_calls(timeline: Timeline, axes: Any) -> None:
    events = timeline.table
    events["look"] = events.category.where(events.category.isin(list(_LOOKS)), "other")
    events["start_ms"], events["ms"] = (events.start_us - events.start_us.min()) / 1e3, events.duration_us / 1e3
    for look, (color, hatch) in _LOOKS.items():
        for process in range(timeline.processes):
            own = events[(events.process == process) & (events["look"] == look)]
            axes.broken_barh(own[["start_ms", "ms"]].to_numpy(), (process - 0.4, 0.8), facecolors=color, hatch=hatch,
                             edgecolor="0.3", linewidth=0.2, label=look if process == 0 else None)
    axes.set(xlabel="ms", ylabel="process", yticks=range(timeline.processes))
    axes.invert_yaxis()
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.18), ncol=4, frameon=False)
