"""Command blocks of pages are found, and run against an installation."""

from __future__ import annotations

from pathlib import Path

import pytest
from armci_tool import documented
from armci_tool.installed import Place
from armci_tool.repository import ROOT, source_files
from armci_tool.results import PASSED

PAGE = """# A page

<!-- runnable: program.c -->

    grep -q ARMCI_Init program.c    a remark
    test -d /opt/armci

Text.

    false

<!-- runnable: -->

    mpicc --version; %s
"""


@pytest.fixture(name="place")
def _place(tmp_path: Path) -> Place:
    return Place(tmp_path, tmp_path, "openmpi", ("shmem",), "shmem")


def page(folder: Path, last: str) -> Path:
    path = folder / "page.md"
    path.write_text(PAGE % last)
    return path


def test_marked_blocks_alone_are_found(tmp_path: Path) -> None:
    first, second = documented.blocks(page(tmp_path, "true"))
    assert first.commands == "grep -q ARMCI_Init program.c\ntest -d /opt/armci"
    assert (first.line, first.files) == (5, ("program.c",)) and second.files == ()


@pytest.mark.parametrize(("last", "passes"), [("true", True), ("false", False)])
def test_a_block_that_fails_is_a_failure(place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, last: str,
                                         passes: bool) -> None:
    path = page(tmp_path, last)
    monkeypatch.setattr(documented, "ROOT", tmp_path)
    monkeypatch.setattr(documented, "source_files", lambda *_: [path])
    first, second = documented.run(place, {})
    assert first.outcome == PASSED and (second.outcome == PASSED) == passes


def test_an_installed_implementation_stands_for_one_that_is_not(place: Place) -> None:
    assert documented._of_the_installation("--impl ucx -L/opt/armci/lib/armci/mpi-rma", place) == \
        f"--impl shmem -L{place.root}/lib/armci/shmem"


def test_the_pages_have_runnable_blocks() -> None:
    assert sum(len(documented.blocks(path)) for path in source_files(ROOT, ".md")) >= 5
