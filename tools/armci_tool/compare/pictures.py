"""Pictures of a comparison: curves over size, bars of kernels, and a map of ratios. They can be read in black and white:
each contestant has its own marker and line, each bar its own hatching, each cell of the map its number."""

from __future__ import annotations

import io
import math
from dataclasses import dataclass
from typing import Any, Callable, Mapping, Optional, Sequence

from armci_tool import console
from armci_tool.compare.cells import LIBRARY, RAW, Cell, Question
from armci_tool.compare.standings import Standing, amount
from armci_tool.compare.statistics import FASTER, UNCLEAR, verdict
from armci_tool.errors import ToolError

# Colours that differ in brightness as well, for eyes that see them otherwise; raw layers are grey.
_STYLES = (("#0072b2", "o", "-"), ("#d55e00", "s", "--"), ("#009e73", "^", "-."), ("#cc79a7", "D", ":"),
           ("#e69f00", "v", (0, (5, 1, 1, 1, 1, 1))), ("#000000", "P", (0, (7, 2))), ("#56b4e9", "X", (0, (2, 1))))
_RAW_STYLES = (("#555555", "x", (0, (1, 2))), ("#777777", "+", (0, (4, 3))), ("#999999", "1", (0, (1, 1))),
               ("#bbbbbb", "2", (0, (3, 1, 1, 1))))
_HATCHES = ("", "//", "..", "xx", "\\\\", "++", "--", "oo")
# Fewer sizes make no curve.
SIZES_LEAST = 3
_DPI = 130


@dataclass(frozen=True)
class Picture:
    """A drawing, as a scalable one for the page and as a PNG file."""

    name: str
    title: str
    svg: bytes
    png: bytes


def require() -> None:
    """Raises ToolError when nothing can be drawn here; asked before anything that takes long."""
    _library()


def _library() -> Any:
    # Not at the top: the verb that installs what is missing must start without it.
    try:
        import matplotlib.figure  # type: ignore[import]
    except ImportError as error:
        raise ToolError("the pictures of the report need python3-matplotlib", where=str(error),
                        next_step="run tools/armci setup") from error
    # Drawn without a screen, with the same names inside whenever it is drawn.
    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "armci", "font.size": 11, "axes.grid": True, "grid.color": "#dddddd",
                                "axes.axisbelow": True, "hatch.linewidth": 0.7})
    return matplotlib


def curves(name: str, title: str, cells: Sequence[Cell], names: Sequence[str]) -> list[Picture]:
    """Time and bandwidth of an operation over size; none where there are too few sizes."""
    lines = _lines(cells, names)
    if len({size for _, points in lines for size, _ in points}) < SIZES_LEAST:
        return []

    def draw(axes: Any, value: Callable[[Cell], Optional[float]], unit: str) -> None:
        for (contestant, points), style in zip(lines, _styles(lines, names)):
            shown = [(size, cell, amount) for size, cell in points if (amount := value(cell))]
            axes.plot([size for size, _, _ in shown], [amount for _, _, amount in shown], label=contestant,
                      color=style[0], marker=style[1], linestyle=style[2], markersize=5.5, linewidth=1.6)
            if contestant in names:
                _shade(axes, shown, style[0])
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        _label_sizes(axes, sorted({size for _, points in lines for size, _ in points}))
        axes.yaxis.set_major_formatter(_library().ticker.EngFormatter(unit))

    return [_picture(f"{name}_time", f"{title}: time", lambda axes: draw(axes, lambda cell: cell.value * 1e-9, "s")),
            _picture(f"{name}_bandwidth", f"{title}: bandwidth",
                     lambda axes: draw(axes, lambda cell: cell.rate and cell.rate * 1e9, "B/s"))]


def bars(name: str, title: str, cells: Sequence[Cell], names: Sequence[str]) -> Optional[Picture]:
    """A panel for each case, each with its own scale: a bar for each contestant, with its time and its interval; below it
    a thin one for the raw layer in its own program, with the time over that."""
    groups: dict[str, list[Cell]] = {}
    for cell in cells:
        if cell.level is not None:
            size = f", {cell.question.size}" if cell.question.size not in ("", "-") else ""
            groups.setdefault(cell.question.case + size, []).append(cell)
    if not groups:
        return None
    order = _present(cells, names)
    heights = [0.7 + 0.3 * len(group) for group in groups.values()]
    figure = _library().figure.Figure(figsize=(6.2, sum(heights) + 0.6), layout="constrained")
    panels = figure.subplots(len(groups), squeeze=False, gridspec_kw={"height_ratios": heights})[:, 0]
    for axes, (case, group) in zip(panels, groups.items()):
        _bars_of(axes, [cell for contestant in order for cell in group if cell.contestant == contestant], order, names)
        axes.set_title(case, fontsize=10, loc="left")
    raw = list(dict.fromkeys(cell.baseline for cell in cells if cell.baseline))
    figure.suptitle(title + (f"\nthin: {', '.join(raw)} in the same program" if raw else ""), fontsize=11)
    return Picture(name, title, _bytes_of(figure, "svg"), _bytes_of(figure, "png"))


def _bars_of(axes: Any, group: Sequence[Cell], order: Sequence[str], names: Sequence[str]) -> None:
    # What reaches beyond is cut: one that varies much would hide how the others differ.
    most = 1.35e-9 * max(max(cell.value, cell.baseline_value if cell.baseline else 0) for cell in group)
    for line, cell in enumerate(group):
        number = order.index(cell.contestant)
        colour = _STYLES[number % len(_STYLES)][0] if cell.contestant in names else "#aaaaaa"
        axes.barh(line, cell.value * 1e-9, 0.6, color=colour, hatch=_HATCHES[number % len(_HATCHES)], edgecolor="white",
                  linewidth=0.5)
        said = console.time_text(cell.value)
        if cell.baseline and cell.over_baseline:
            axes.barh(line + 0.38, cell.baseline_value * 1e-9, 0.14, color="#777777")
            said += f"; {cell.over_baseline.middle:.2f}"
        if cell.level and cell.level.bounded:
            axes.plot([cell.level.low * 1e-9, min(cell.level.high * 1e-9, most)], [line, line], color="black",
                      linewidth=1.2, marker="|", markersize=7, clip_on=True)
        axes.text(most * 1.01, line, said, va="center", fontsize=9)
    axes.set_yticks(range(len(group)), [cell.contestant for cell in group], fontsize=9)
    axes.set_ylim(len(group) - 0.4, -0.6)
    axes.set_xlim(0, most)
    axes.xaxis.set_major_formatter(_library().ticker.EngFormatter("s"))
    axes.tick_params(axis="x", labelsize=8)
    axes.locator_params(axis="x", nbins=5)
    axes.grid(axis="y", visible=False)


def ratio_map(name: str, title: str, questions: Sequence[Question], answers: dict[Question, list[Standing]],
              names: Sequence[str]) -> Optional[Picture]:
    """Time over that of the fastest library, for each contestant and operation, over size."""
    rows = list(dict.fromkeys((question.case, contestant) for question in questions for contestant in names))
    columns = sorted({question.size for question in questions}, key=lambda size: (_bytes(questions, answers, size), size))
    values = {((one.cell.question.case, one.cell.contestant), question.size): one
              for question in questions for one in answers[question]
              if one.cell.kind == LIBRARY and one.over_fastest is not None}
    rows = [row for row in rows if any((row, column) in values for column in columns)]
    if len(rows) < 2 or not columns:
        return None
    fields = {key: _Field(one.over_fastest.middle, one.verdict == UNCLEAR, one.wins)
              for key, one in values.items() if one.over_fastest is not None}
    return _map(name, title, fields, rows, columns)


def kernel_map(name: str, title: str, cells: Sequence[Cell], names: Sequence[str]) -> Optional[Picture]:
    """Time over that of the raw side in the same program, for each kernel and contestant."""
    fields = {((f"{cell.question.title}, {cell.question.processes} processes", ""), cell.contestant):
              _Field(cell.over_baseline.middle, verdict(cell.over_baseline) == UNCLEAR, verdict(cell.over_baseline) == FASTER)
              for cell in cells if cell.kind == LIBRARY and cell.over_baseline is not None}
    if not fields:
        return None
    rows = list(dict.fromkeys(row for row, _ in fields))
    return _map(name, title, fields, rows, [one for one in names if any(one == column for _, column in fields)])


@dataclass(frozen=True)
class _Field:
    """Of a map: what it says, whether that is uncertain, and whether it stands out."""

    ratio: float
    is_unclear: bool
    is_bold: bool


Row = tuple[str, str]


def _map(name: str, title: str, fields: Mapping[tuple[Row, str], _Field], rows: Sequence[Row],
         columns: Sequence[str]) -> Picture:
    labels = [", ".join(part for part in row if part) for row in rows]

    def draw(axes: Any) -> None:
        axes.set_xlim(-0.5, len(columns) - 0.5)
        axes.set_ylim(len(rows) - 0.5, -0.5)
        for line, row in enumerate(rows):
            for place, column in enumerate(columns):
                if (row, column) in fields:
                    _draw_field(axes, place, line, fields[(row, column)])
        axes.set_xticks(range(len(columns)), columns, rotation=45, ha="right", fontsize=9)
        axes.set_yticks(range(len(rows)), labels, fontsize=9)
        axes.grid(visible=False)
        for line in range(1, len(rows)):
            if rows[line][1] and rows[line][0] != rows[line - 1][0]:
                axes.axhline(line - 0.5, color="#333333", linewidth=1)

    width = 0.8 + 0.085 * max(map(len, labels)) + 0.62 * len(columns)
    return _picture(name, title, draw, max(width, 5.0), 1.3 + 0.28 * len(rows), legend=False)


def _draw_field(axes: Any, place: int, line: int, one: _Field) -> None:
    ratio = one.ratio
    # From white to dark at four times the fastest.
    depth = min(1.0, max(0.0, math.log(ratio) / math.log(4.0))) if ratio > 1 else 0.0
    colour = (1 - 0.75 * depth, 1 - 0.62 * depth, 1 - 0.35 * depth)
    axes.add_patch(_library().patches.Rectangle((place - 0.5, line - 0.5), 1, 1, facecolor=colour, edgecolor="white"))
    text = f"{ratio:.2f}" if ratio < 9.995 else f"{ratio:.1f}" if ratio < 99.95 else f"{ratio:.0f}"
    text += " ?" if one.is_unclear else ""
    axes.text(place, line, text, ha="center", va="center", fontsize=8.5, color="white" if depth > 0.75 else "black",
              fontweight="bold" if one.is_bold else "normal")


def _picture(name: str, title: str, draw: Callable[[Any], None], width: float = 6.0, height: float = 4.2,
             legend: bool = True) -> Picture:
    figure = _library().figure.Figure(figsize=(width, height), layout="constrained")
    axes = figure.add_subplot()
    draw(axes)
    axes.set_title(title, fontsize=12)
    if legend:
        axes.legend(fontsize=9, handlelength=3.2)
    return Picture(name, title, _bytes_of(figure, "svg"), _bytes_of(figure, "png"))


def _bytes_of(figure: Any, kind: str) -> bytes:
    stream = io.BytesIO()
    figure.savefig(stream, format=kind, dpi=_DPI, **({"metadata": {"Date": None}} if kind == "svg" else {}))
    return stream.getvalue()


Lines = list[tuple[str, list[tuple[int, Cell]]]]


def _lines(cells: Sequence[Cell], names: Sequence[str]) -> Lines:
    """Of each contestant its cells by size; rows and segments, of which several shapes have one size, are no curve."""
    made: Lines = []
    for contestant in _present(cells, names):
        points = sorted(((cell.question.bytes, cell) for cell in cells if cell.contestant == contestant
                         and cell.question.bytes and " x " not in cell.question.size and cell.level is not None),
                        key=lambda one: one[0] or 0)
        if points:
            made.append((contestant, [(size or 0, cell) for size, cell in points]))
    return made


def _present(cells: Sequence[Cell], names: Sequence[str]) -> list[str]:
    """The libraries in their order, then the raw layers that were seen in most sizes."""
    raw = [cell.contestant for cell in cells if cell.kind == RAW]
    most = sorted(set(raw), key=lambda name: (-raw.count(name), raw.index(name)))[:len(_RAW_STYLES)]
    return [name for name in names if any(cell.contestant == name for cell in cells)] + most


def _styles(lines: Lines, names: Sequence[str]) -> list[Any]:
    """The same for a library in all pictures."""
    raw = [contestant for contestant, _ in lines if contestant not in names]
    return [_STYLES[list(names).index(contestant) % len(_STYLES)] if contestant in names
            else _RAW_STYLES[raw.index(contestant) % len(_RAW_STYLES)] for contestant, _ in lines]


def _shade(axes: Any, shown: Sequence[tuple[int, Cell, float]], colour: str) -> None:
    """The interval, where it is narrow enough to say anything; elsewhere there is a gap."""
    nothing = (math.nan, math.nan)
    edges = [(amount * cell.level.low / cell.level.middle, amount * cell.level.high / cell.level.middle)
             if cell.level and cell.level.bounded and cell.level.high < 3 * cell.level.low else nothing
             for _, cell, amount in shown]
    axes.fill_between([size for size, _, _ in shown], [low for low, _ in edges], [high for _, high in edges], color=colour,
                      alpha=0.12, linewidth=0)


def _label_sizes(axes: Any, sizes: Sequence[int]) -> None:
    step = max(1, math.ceil(len(sizes) / 8))
    shown = sizes[::step]
    axes.set_xticks(shown, [_size_text(size) for size in shown], rotation=30, ha="right", fontsize=9)
    axes.set_xticks([], minor=True)


def _size_text(size: int) -> str:
    for unit, factor in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if size >= factor and size % factor == 0:
            return f"{size // factor} {unit}"
    return f"{size} B"


def _bytes(questions: Sequence[Question], answers: dict[Question, list[Standing]], size: str) -> int:
    return next(amount(question, answers[question]) or 0 for question in questions if question.size == size)
