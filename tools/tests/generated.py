"""Files that the build makes of the table of functions."""

from __future__ import annotations

import subprocess
import sys

from armci_tool.repository import ROOT


def generated(name: str) -> str:
    """The text of spec/NAME."""
    headers = [f"spec/{header}.h" for header in ("armci_types", "armcix", "message")]
    command = [sys.executable, "-B", "spec/generate.py", name, "spec/api_table.h", *headers]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
