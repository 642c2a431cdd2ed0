"""Files that the build makes of the table of functions."""

from __future__ import annotations

import subprocess
import sys

from armci_tool.repository import ROOT


def generated(name: str) -> str:
    """The text of spec/NAME."""
    command = [sys.executable, "-B", "spec/generate.py", "spec/api_table.h", name]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
