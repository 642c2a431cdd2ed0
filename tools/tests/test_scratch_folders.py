"""Scratch folders go with the process that has them, or with the next run."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from armci_tool import scratch_folders
from armci_tool.errors import ToolError

_ROOT = str(Path(scratch_folders.__file__).resolve().parents[1])


def wait_for(path: Path) -> str:
    """The text that another process writes there."""
    deadline = time.monotonic() + 20
    while not path.exists() or not path.read_text().endswith("\n"):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return path.read_text().strip()


def age(path: Path) -> None:
    """Makes the folder look old."""
    os.utime(path, (1, 1))


def test_a_folder_goes_at_the_end(tmp_path: Path) -> None:
    with scratch_folders.make(tmp_path) as made:
        (made / "file").write_text("x")
        assert made.parent == tmp_path
    assert not list(tmp_path.iterdir())


def test_what_a_killed_run_left_goes_and_what_is_in_use_stays(tmp_path: Path) -> None:
    report = tmp_path / "report"
    code = ("import sys, time; from pathlib import Path; from armci_tool import scratch_folders\n"
            "with scratch_folders.make(Path(sys.argv[1])) as made:\n"
            "    (made / 'file').write_text('x'); Path(sys.argv[2]).write_text(f'{made}\\n'); time.sleep(100)\n")
    victim = subprocess.Popen([sys.executable, "-B", "-c", code, str(tmp_path), str(report)],
                              env={**os.environ, "PYTHONPATH": _ROOT})
    left = Path(wait_for(report))
    age(left)
    with scratch_folders.make(tmp_path):
        assert (left / "file").exists()
    victim.kill()
    victim.wait()
    with scratch_folders.make(tmp_path) as mine:
        assert not left.exists()
        assert mine.exists()


def test_a_folder_that_is_just_being_made_stays(tmp_path: Path) -> None:
    young = tmp_path / f"{scratch_folders.prefix()}young"
    young.mkdir()
    with scratch_folders.make(tmp_path):
        assert young.exists()


def test_where_nothing_takes_temporary_files_the_folders_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(tempfile, "_candidate_tempdir_list", lambda: ["/proc/self", "/sys"])
    with pytest.raises(ToolError) as caught:
        with scratch_folders.make():
            pass
    assert "'/proc/self', '/sys'" in caught.value.where and "TMPDIR" in caught.value.next_step
