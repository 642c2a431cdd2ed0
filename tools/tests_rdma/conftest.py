"""Makes the tool's package importable, from wherever pytest is started."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))


def pytest_configure(config: pytest.Config) -> None:
    """Declares the marks."""
    config.addinivalue_line("markers", "real_launcher: starts the job through the MPI launcher")
