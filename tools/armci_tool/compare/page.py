"""A comparison as one HTML page that needs no other file, no network and no script; and its pictures as files."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Optional, Sequence

from armci_tool import console, pages
from armci_tool.compare import earlier, pictures, standings, text
from armci_tool.compare.cells import LIBRARY, RAW, Cell, Question
from armci_tool.compare.pictures import Picture
from armci_tool.compare.record import Comparison
from armci_tool.compare.standings import Standing

PAGE_NAME = "index.html"
PICTURES = "pictures"
# Cases with fewer sizes share a table.
_OWN_TABLE = pictures.SIZES_LEAST


@dataclass(frozen=True)
class Column:
    """A contestant in a table."""

    name: str
    kind: str


@dataclass(frozen=True)
class Table:
    """Answers of all contestants to some questions."""

    columns: Sequence[Column]
    rows: Sequence[tuple[Question, dict[str, Standing]]]

    @property
    def has_percentile(self) -> bool:
        """Whether it is about times that a reader may ask the tail of."""
        return any(not one.cell.counted and not one.cell.moved for _, answers in self.rows for one in answers.values())


@dataclass(frozen=True)
class Section:
    """An operation, or the cases of a benchmark that are no operation over sizes: pictures and a table."""

    identifier: str
    title: str
    pictures: Sequence[Picture]
    table: Table


def require() -> None:
    """Raises ToolError when it cannot be made here; asked before anything that takes long."""
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
    environment, names = pages.environment(), text.contestants(made)
    environment.filters.update(figure=text.figure, means_text=text.means_text, times=text.times, time_text=console.time_text, uri=_uri)
    return environment.get_template("compare.html.j2").render(
        made=made, sections=sections, maps=maps, names=names,
        means=standings.tables(standings.means(made.standings, names[0])) if len(names) > 1 else [],
        winners=standings.tables(standings.winners(made.standings)),
        scores={name: score for name, score in standings.scores(made.standings).items() if score.asked},
        several_processes=len({question.processes for question in made.standings}) > 1,
        regressions=earlier.regressions(made.changes), gains=earlier.gains(made.changes), RAW=RAW,
        regression=earlier.REGRESSION)


def build_sections(made: Comparison, note: Callable[[str], None] = lambda said: None) -> list[Section]:
    """An operation over sizes each, then what is left of each benchmark; kernels first."""
    names = text.contestants(made)
    groups: dict[tuple[str, str, int], list[Question]] = {}
    for question in made.standings:
        if any(one.cell.kind == LIBRARY for one in made.standings[question]):
            groups.setdefault((question.benchmark, question.case, question.processes), []).append(question)
    sections = []
    for benchmark in sorted({key[0] for key in groups}, key=lambda name: name not in made.kernels):
        for processes in sorted({key[2] for key in groups if key[0] == benchmark}):
            own = {key: asked for key, asked in groups.items() if (key[0], key[2]) == (benchmark, processes)}
            note(benchmark)
            sections += _of_benchmark(made, benchmark, processes, own, names)
    return sections


def _of_benchmark(made: Comparison, benchmark: str, processes: int, groups: dict[tuple[str, str, int], list[Question]],
                  names: Sequence[str]) -> list[Section]:
    sections, rest = [], []
    for (_, case, _), questions in groups.items():
        cells = _cells(made, questions)
        name = _name(benchmark, case, processes)
        drawn = [] if benchmark in made.kernels else pictures.curves(name, f"{benchmark}, {case}", cells, names)
        if drawn or (len(questions) >= _OWN_TABLE and benchmark not in made.kernels):
            sections.append(Section(name, _title(benchmark, case, processes), drawn, _table(made, questions, names)))
        else:
            rest += questions
    if rest:
        name = _name(benchmark, "cases", processes)
        bars = pictures.bars(name, benchmark, _cells(made, rest), names) if benchmark in made.kernels else None
        sections.append(Section(name, _title(benchmark, "", processes), [bars] if bars else [], _table(made, rest, names)))
    return sections


def _maps(made: Comparison) -> list[Picture]:
    """One for each benchmark and number of processes, and one of the kernels."""
    groups: dict[tuple[str, int], list[Question]] = {}
    for question in made.standings:
        if question.benchmark not in made.kernels:
            groups.setdefault((question.benchmark, question.processes), []).append(question)
    drawn = [pictures.ratio_map(f"map_{benchmark}_np{processes}", _title(benchmark, "", processes), questions,
                                made.standings, text.contestants(made))
             for (benchmark, processes), questions in groups.items()]
    kernels = [cell for cell in made.cells if cell.question.benchmark in made.kernels]
    drawn.append(pictures.kernel_map("map_kernels", "kernels, over messages", kernels,
                                     text.contestants(made)))
    return [one for one in drawn if one is not None]


def _table(made: Comparison, questions: Sequence[Question], names: Sequence[str]) -> Table:
    rows = [(question, {one.cell.contestant: one for one in made.standings[question]}) for question in questions]
    raw = list(dict.fromkeys(name for _, answers in rows for name, one in answers.items() if one.cell.kind == RAW))
    present = [name for name in names if any(name in answers for _, answers in rows)]
    return Table([*(Column(name, LIBRARY) for name in present), *(Column(name, RAW) for name in raw)], rows)


def _cells(made: Comparison, questions: Sequence[Question]) -> list[Cell]:
    return [one.cell for question in questions for one in made.standings[question]]


def _title(benchmark: str, case: str, processes: int) -> str:
    return f"{benchmark}{', ' + case if case else ''} ({processes} processes)"


def _name(benchmark: str, case: str, processes: int) -> str:
    return re.sub(r"[^a-z0-9]+", "_", f"{benchmark}_{case}".lower()).strip("_") + f"_np{processes}"


def _uri(picture: Optional[Picture]) -> str:
    return "data:image/svg+xml;base64," + base64.b64encode(picture.svg).decode() if picture else ""
