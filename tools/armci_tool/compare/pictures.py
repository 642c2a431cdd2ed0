"""Pictures of a comparison: curves over size, bars of kernels, and a map of ratios. They can be read in black and white:
each candidate has its own marker and line, each bar its own hatching, each cell of the map its number."""

from __future__ import annotations

import io
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Optional, Sequence

from armci_tool import console
from armci_tool.compare import statistics, text
from armci_tool.compare.cells import LIBRARY, RAW, UNITS, title as title_of
from armci_tool.compare.statistics import FASTER, UNCLEAR

if TYPE_CHECKING:
    from pandas import DataFrame  # type: ignore[import]

# Colours that differ in brightness as well, for eyes that see them otherwise; raw layers are grey.
_STYLES = (("#0072b2", "o", "-"), ("#d55e00", "s", "--"), ("#009e73", "^", "-."), ("#cc79a7", "D", ":"),
           ("#e69f00", "v", (0, (5, 1, 1, 1, 1, 1))), ("#000000", "P", (0, (7, 2))), ("#56b4e9", "X", (0, (2, 1))))
_RAW_STYLES = (("#555555", "x", (0, (1, 2))), ("#777777", "+", (0, (4, 3))), ("#999999", "1", (0, (1, 1))),
               ("#bbbbbb", "2", (0, (3, 1, 1, 1))))
_HATCHES = ("", "//", "..", "xx", "\\\\", "++", "--", "oo")
# Of a map: from the fastest to four times that.
_SHADES, _DARKEST = ("#ffffff", (0.25, 0.38, 0.65)), 4.0
# Fewer sizes make no curve.
SIZES_LEAST = 3
# An interval up to this many times the longest bar is shown whole: a longer one would hide how the others differ.
_INTERVAL_MOST = 3.0
_DPI = 130


@dataclass(frozen=True)
class Picture:
    """A drawing, as a scalable one for the page and as a PNG file."""

    name: str
    title: str
    svg: bytes
    png: bytes


def require() -> None:
    """Raises ToolError when nothing can be drawn here; called before anything that takes long."""
    statistics.require("the pictures of the report", "matplotlib")


def _library() -> Any:
    import matplotlib.figure  # type: ignore[import]
    # Drawn without a screen, with the same names inside whenever it is drawn.
    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "armci", "font.size": 11, "axes.grid": True, "grid.color": "#dddddd",
                                "axes.axisbelow": True, "hatch.linewidth": 0.7})
    return matplotlib


def curves(name: str, title: str, table: DataFrame, names: Sequence[str]) -> list[Picture]:
    """Time and bandwidth of an operation over size; none where there are too few sizes. Rows and segments, of which
    several shapes have one size, are no curve."""
    sized = table[(table.bytes > 0) & ~table["size"].str.contains(" x ", regex=False) & table.value_low.notna()]
    sized = sized.astype({"bytes": float}).sort_values("bytes")
    if sized.bytes.nunique() < SIZES_LEAST:
        return []
    shown = [(one, sized[sized.candidate == one]) for one in _present(sized, names)]
    raw = iter(_RAW_STYLES)
    styles = [_STYLES[names.index(one) % len(_STYLES)] if one in names else next(raw) for one, _ in shown]

    def draw(axes: Any, column: str, scale: float, unit: str) -> None:
        for (candidate, own), (colour, marker, line) in zip(shown, styles):
            amount = own[column] * scale
            axes.plot(own.bytes, amount, label=candidate, color=colour, marker=marker, linestyle=line, markersize=5.5,
                      linewidth=1.6)
            # The interval, where it is narrow enough to say anything; elsewhere there is a gap.
            relative = (amount / own.value).where(own.value_high < 3 * own.value_low)
            if candidate in names:
                axes.fill_between(own.bytes, relative * own.value_low, relative * own.value_high, color=colour,
                                  alpha=0.12, linewidth=0)
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        sizes = sorted(sized.bytes.unique())[::max(1, math.ceil(sized.bytes.nunique() / 8))]
        axes.set_xticks(sizes, [_size_text(int(size)) for size in sizes], rotation=30, ha="right", fontsize=9)
        axes.set_xticks([], minor=True)
        ticker, (low, high) = _library().ticker, axes.get_ylim()
        axes.yaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5) if high < 1000 * low else (1,)))
        axes.yaxis.set_minor_formatter(ticker.NullFormatter())
        axes.yaxis.set_major_formatter(ticker.EngFormatter(unit))
        axes.set_title(f"{title}: {'time' if unit == 's' else 'bandwidth'}", fontsize=12)
        axes.legend(fontsize=9, handlelength=3.2)

    return [_picture(f"{name}_time", f"{title}: time", lambda axes: draw(axes[0], "value", 1e-9, "s")),
            _picture(f"{name}_bandwidth", f"{title}: bandwidth", lambda axes: draw(axes[0], "rate", 1e9, "B/s"))]


def bars(name: str, title: str, table: DataFrame, names: Sequence[str]) -> Optional[Picture]:
    """A panel for each case, each with its own scale: a bar for each candidate, with its time and its interval; below it
    a thin one for the raw layer in its own program, with the time over that."""
    timed = table[table.value_low.notna()]
    order = _present(timed, names)
    timed = timed[timed.candidate.isin(order)].sort_values("candidate", key=lambda column: column.map(order.index),
                                                            kind="stable")
    groups = [group for _, group in timed.groupby("question")]
    if not groups:
        return None
    heights = [0.7 + 0.3 * len(group) for group in groups]
    raw = [one for one in table.baseline.unique() if one]

    def draw(panels: Sequence[Any]) -> None:
        for axes, group in zip(panels, groups):
            _bars_of(axes, group, order, names)
            axes.set_title(title_of(next(group.itertuples())).partition(": ")[2], fontsize=10, loc="left")
        panels[0].figure.suptitle(title + (f"\nthin: {', '.join(raw)} in the same program" if raw else ""), fontsize=11)

    return _picture(name, title, draw, 6.2, sum(heights) + 0.6, heights)


def _bars_of(axes: Any, group: DataFrame, order: Sequence[str], names: Sequence[str]) -> None:
    longest = max(group.value.max(), group.baseline_ns.fillna(0).max())
    whole = group.value_high[statistics.bounded(group, "value") & (group.value_high < _INTERVAL_MOST * longest)]
    most = 1.05e-9 * max([1.25 * longest, *whole])
    for line, cell in enumerate(group.itertuples()):
        number = order.index(cell.candidate)
        colour = _STYLES[number % len(_STYLES)][0] if cell.candidate in names else "#aaaaaa"
        axes.barh(line, cell.value * 1e-9, 0.6, color=colour, hatch=_HATCHES[number % len(_HATCHES)], edgecolor="white",
                  linewidth=0.5)
        said = console.time_text(cell.value)
        if cell.baseline:
            axes.barh(line + 0.38, cell.baseline_ns * 1e-9, 0.14, color="#777777")
            said += f"; {cell.over_baseline:.2f} x raw" if cell.over_baseline > 0 else ""
        if cell.value_low > 0:
            axes.plot([cell.value_low * 1e-9, min(cell.value_high * 1e-9, most)], [line, line], color="black",
                      linewidth=1.2, marker="|", markersize=7)
        axes.text(most * 1.01, line, said, va="center", fontsize=9)
    axes.set_yticks(range(len(group)), group.candidate, fontsize=9)
    axes.set_ylim(len(group) - 0.4, -0.6)
    axes.set_xlim(0, most)
    axes.xaxis.set_major_formatter(_library().ticker.EngFormatter("s"))
    axes.tick_params(axis="x", labelsize=8)
    axes.locator_params(axis="x", nbins=5)
    axes.grid(axis="y", visible=False)


def ratio_map(name: str, title: str, table: DataFrame, names: Sequence[str]) -> Optional[Picture]:
    """Time over that of the fastest library, for each candidate and operation, over size; none of one library alone."""
    known = table[(table.kind == LIBRARY) & table.over_fastest.notna()]
    if known.candidate.nunique() < 2:
        return None
    sizes = known.fillna({"amount": 0}).drop_duplicates("size").sort_values(["amount", "size"])["size"]
    fields = known.assign(row=list(zip(known.case, known.candidate)), column=known["size"], ratio=known.over_fastest,
                          unclear=known.verdict == UNCLEAR, bold=known.wins)
    rows = [(case, one) for case in known.case.unique() for one in names if (case, one) in set(fields.row)]
    return _map(name, title, fields, rows, list(sizes))


def kernel_map(name: str, title: str, table: DataFrame, names: Sequence[str]) -> Optional[Picture]:
    """Time over that of the raw side in the same program, for each kernel and candidate."""
    known = table[table.kernel & (table.kind == LIBRARY) & table.over_baseline.notna()]
    if known.empty:
        return None
    said = statistics.verdicts(known, "over_baseline")
    fields = known.assign(row=[(title_of(one, True),) for one in known.itertuples()], column=known.candidate,
                          ratio=known.over_baseline, unclear=said == UNCLEAR, bold=said == FASTER)
    return _map(name, title, fields, list(fields.row.unique()), [one for one in names if one in set(known.candidate)])


def _map(name: str, title: str, fields: DataFrame, rows: Sequence[tuple[str, ...]], columns: Sequence[str]) -> Picture:
    """Of rows of the fields row, column, ratio, unclear and bold; a line between rows of different first words."""
    labels = [", ".join(row) for row in rows]

    def draw(panels: Sequence[Any]) -> None:
        import numpy
        axes = panels[0]
        shades = _library().colors.LinearSegmentedColormap.from_list("", _SHADES)
        depths = numpy.full((len(rows), len(columns)), math.nan)
        for one in fields.itertuples():
            place, line = columns.index(one.column), rows.index(one.row)
            depths[line, place] = min(1.0, max(0.0, math.log(one.ratio, _DARKEST)))
            axes.text(place + 0.5, line + 0.5, text.ratio(one.ratio) + " ?" * one.unclear, ha="center", va="center",
                      fontsize=8.5, color="white" if depths[line, place] > 0.75 else "black",
                      fontweight="bold" if one.bold else "normal")
        axes.pcolormesh(depths, cmap=shades, vmin=0, vmax=1, edgecolors="white")
        axes.invert_yaxis()
        axes.set_xticks(numpy.arange(len(columns)) + 0.5, columns, rotation=45, ha="right", fontsize=9)
        axes.set_yticks(numpy.arange(len(rows)) + 0.5, labels, fontsize=9)
        axes.grid(visible=False)
        axes.set_title(title, fontsize=12)
        for line in range(1, len(rows)):
            if len(rows[line]) > 1 and rows[line][0] != rows[line - 1][0]:
                axes.axhline(line, color="#333333", linewidth=1)

    width = 0.8 + 0.085 * max(map(len, labels)) + 0.62 * len(columns)
    return _picture(name, title, draw, max(width, 5.0), 1.3 + 0.28 * len(rows))


def _picture(name: str, title: str, draw: Callable[[Sequence[Any]], None], width: float = 6.0, height: float = 4.2,
             heights: Sequence[float] = (1.0,)) -> Picture:
    """Of panels below each other, of such relative heights."""
    figure = _library().figure.Figure(figsize=(width, height), layout="constrained")
    draw(figure.subplots(len(heights), squeeze=False, gridspec_kw={"height_ratios": heights})[:, 0])
    made = {}
    for kind, options in (("svg", {"metadata": {"Date": None}}), ("png", {})):
        stream = io.BytesIO()
        figure.savefig(stream, format=kind, dpi=_DPI, **options)
        made[kind] = stream.getvalue()
    return Picture(name, title, made["svg"], made["png"])


def _present(table: DataFrame, names: Sequence[str]) -> list[str]:
    """The libraries in their order, then the raw layers that were seen in most sizes."""
    raw = table.candidate[table.kind == RAW]
    most = raw.groupby(raw, sort=False).size().sort_values(ascending=False, kind="stable").index
    return [name for name in names if (table.candidate == name).any()] + list(most[:len(_RAW_STYLES)])


def _size_text(size: int) -> str:
    return next(f"{size // factor} {unit}" for unit, factor in reversed(UNITS.items()) if size % factor == 0)
