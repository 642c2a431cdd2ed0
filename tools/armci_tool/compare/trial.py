"""A short comparison as a user starts it, as a test: whether its report has all that it should. How fast anything is
does not matter."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import Callable, Sequence

from armci_tool import process, scratch_folders
from armci_tool.compare import page, record
from armci_tool.errors import ToolError
from armci_tool.repository import ROOT
from armci_tool.results import FAILED, PASSED, Case

CANDIDATES = ("shmem", "mpi-rma")
BENCHMARKS = ("transfers", "mg")
ROUNDS = 3
WORDS = ("compare", "--impl", ",".join(CANDIDATES), "--no-peers", "--quick", "--rounds", str(ROUNDS), "--seconds", "0.2",
         *BENCHMARKS)
_DEADLINE_S = 300.0
_PNG = b"\x89PNG\r\n\x1a\n"
# In a page: what would be loaded.
_LOADED = re.compile(r"""<script | (?<=\ src=")(?!data:)[^"]* | \ srcset=[^>]* | <link[^>]*href=[^>]* | url\(.*
                         | @import.*""", re.X)


def run(note: Callable[[str], None]) -> Sequence[Case]:
    """The command, and what it wrote."""
    with scratch_folders.make() as scratch:
        folder = scratch / "report"
        result = process.run([str(ROOT / "tools" / "armci"), *WORDS, "--report", str(folder)], on_line=note,
                             timeout_s=_DEADLINE_S)
        found = problems(folder, CANDIDATES, BENCHMARKS, ROUNDS)
    if not result.ok:
        found += [f"status {result.status}", result.tail(40)]
    return [Case("report of a comparison", FAILED if found else PASSED, result.seconds, "\n".join(found))]


def problems(folder: Path, candidates: Sequence[str], benchmarks: Sequence[str], rounds: int) -> list[str]:
    """The faults of a report; none if it has a cell of each candidate for each case."""
    missing = [name for name in (page.PAGE_NAME, record.JSON_NAME, record.CSV_NAME) if not (folder / name).is_file()]
    if missing:
        return [f"{name} is missing" for name in missing]
    pictures = sorted((folder / page.PICTURES).glob("*.png"))
    found = [f"{path.name} is no PNG" for path in pictures if not path.read_bytes().startswith(_PNG)]
    found += [] if pictures else ["there are no pictures"]
    source = (folder / page.PAGE_NAME).read_text(encoding="utf-8")
    found += [f"the page needs {one:.60}" for one in _LOADED.findall(source)]
    try:
        cells = record.read(folder / record.JSON_NAME).cells.table
    except ToolError as error:
        return [*found, f"{error}: {error.where}"]
    lines = list(csv.DictReader(io.StringIO((folder / record.CSV_NAME).read_text())))
    if len(lines) != len(cells):
        found.append(f"{len(lines)} lines of {record.CSV_NAME} for {len(cells)} cells")
    for candidate in candidates:
        for benchmark in benchmarks:
            own = cells.rounds[(cells.candidate == candidate) & (cells.benchmark == benchmark)]
            if own.empty or (own != rounds).any():
                found.append(f"not {rounds} rounds of {candidate} in {benchmark}")
    return found
