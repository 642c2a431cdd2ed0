"""A comparison as one HTML page that needs no other file, no network and no script; and its pictures as files."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Sequence

from armci_tool import console, pages
from armci_tool.compare import cells, earlier, guidelines, pictures, statistics, text
from armci_tool.compare.cells import LIBRARY, RAW
from armci_tool.compare.pictures import Picture
from armci_tool.compare.record import Comparison

if TYPE_CHECKING:
    from pandas import DataFrame  # type: ignore[import]

PAGE_NAME = "index.html"
PICTURES = "pictures"
# Cases with fewer sizes share a table.
_OWN_TABLE = pictures.SIZES_LEAST


@dataclass(frozen=True)
class Section:
    """An operation, or the cases of a benchmark that are no operation over sizes: pictures and cells."""

    identifier: str
    title: str
    pictures: Sequence[Picture]
    table: DataFrame
    names: Sequence[str]  # of the libraries, in their order

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Of each question the cells by candidate."""
        return cells.answers(self.table)

    @property
    def columns(self) -> list[tuple[str, bool]]:
        """Candidates, and whether they are raw layers."""
        present = self.table.groupby("candidate", sort=False).kind.first()
        return [*((name, False) for name in self.names if name in present),
                *((name, True) for name in present.index[present == RAW])]

    @property
    def has_percentile(self) -> bool:
        """Whether it has times, of which a reader may want the tail."""
        return bool((~self.table.counted & (self.table.moved == 0)).any())


def require() -> None:
    """Raises ToolError when it cannot be made here; called before anything that takes long."""
    pages.environment()
    pictures.require()


def write(folder: Path, made: Comparison, note: Callable[[str], None] = lambda said: None) -> list[Path]:
    """The page and the pictures."""
    sections = build_sections(made, note)
    maps = _maps(made)
    place = folder / PICTURES
    place.mkdir(exist_ok=True)
    for stale in place.glob("*.png"):
        stale.unlink()
    written = []
    for picture in [*maps, *(picture for section in sections for picture in section.pictures)]:
        written.append(place / f"{picture.name}.png")
        written[-1].write_bytes(picture.png)
    written.append(folder / PAGE_NAME)
    written[-1].write_text(render(made, sections, maps), encoding="utf-8")
    return written


def render(made: Comparison, sections: Sequence[Section], maps: Sequence[Picture]) -> str:
    """The page."""
    environment = pages.environment()
    environment.filters.update(figure=text.figure, times=statistics.text, time_text=console.time_text, uri=_uri)
    return environment.get_template("compare.html.j2").render(
        made=made, sections=sections, maps=maps, text=text, violations=guidelines.violations(made.checks),
        regressions=earlier.regressions(made.changes), gains=earlier.gains(made.changes))


def build_sections(made: Comparison, note: Callable[[str], None] = lambda said: None) -> list[Section]:
    """An operation over sizes each, then what is left of each benchmark; kernels first."""
    table = made.cells.table
    shown = table[table.question.isin(table.question[table.kind == LIBRARY])].assign(whole=lambda shown: ~shown.kernel)
    sections = []
    for (_, benchmark, processes), own in shown.groupby(["whole", "benchmark", "processes"], sort=True):
        note(benchmark)
        sections += _of_benchmark(benchmark, processes, own, made.names)
    return sections


def _of_benchmark(benchmark: str, processes: int, own: DataFrame, names: Sequence[str]) -> list[Section]:
    sections, rest = [], own
    for case, asked in own.groupby("case", sort=False) if not own.kernel.any() else ():
        name = _name(benchmark, case, processes)
        drawn = pictures.curves(name, f"{benchmark}, {case}", asked, names)
        if drawn or asked.question.nunique() >= _OWN_TABLE:
            sections.append(Section(name, _title(benchmark, case, processes), drawn, asked, names))
            rest = rest[rest.case != case]
    if not rest.empty:
        name = _name(benchmark, "cases", processes)
        bars = pictures.bars(name, benchmark, rest, names) if own.kernel.any() else None
        sections.append(Section(name, _title(benchmark, "", processes), [bars] if bars else [], rest, names))
    return sections


def _maps(made: Comparison) -> list[Picture]:
    """One for each benchmark and number of processes, and one of the kernels."""
    table = made.cells.table
    drawn = [pictures.ratio_map(f"map_{benchmark}_np{processes}", _title(benchmark, "", processes), own, made.names)
             for (benchmark, processes), own in table[~table.kernel].groupby(["benchmark", "processes"], sort=False)]
    drawn.append(pictures.kernel_map("map_kernels", "kernels, over messages", table, made.names))
    return [one for one in drawn if one is not None]


def _title(benchmark: str, case: str, processes: int) -> str:
    return f"{benchmark}{', ' + case if case else ''} ({processes} processes)"


def _name(benchmark: str, case: str, processes: int) -> str:
    return re.sub(r"[^a-z0-9]+", "_", f"{benchmark}_{case}".lower()).strip("_") + f"_np{processes}"


def _uri(picture: Picture) -> str:
    return "data:image/svg+xml;base64," + base64.b64encode(picture.svg).decode()
