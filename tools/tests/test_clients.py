"""Programs above our libraries: which there are."""

from __future__ import annotations

from pathlib import Path

import pytest
from armci_tool import clients


@pytest.mark.parametrize("folder", clients.FOLDERS, ids=[folder.name for folder in clients.FOLDERS])
def test_every_source_with_a_main_program_is_one_that_is_run(folder: Path) -> None:
    mains = {source.stem for source in folder.iterdir() if source.suffix in (".c", ".cc", ".f90", ".F90")
             and any(word in source.read_text() for word in ("int main(", f"program {source.stem}"))}
    scripts = {source.name for source in folder.iterdir() if source.suffix == ".py" and source.read_text().startswith("#!")}
    listed = clients.programs(folder) + clients.programs(folder, "LARGE_PROGRAMS")
    assert mains and sorted(listed) == sorted(mains | scripts)
