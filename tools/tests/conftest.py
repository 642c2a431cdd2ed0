"""Makes the tool's package importable, from wherever pytest is started."""

import signal
import sys
import threading
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))


def pytest_configure(config: pytest.Config) -> None:
    """Declares the marks, lets SIGHUP end what tests start, and tidies up at SIGTERM."""
    # Under nohup it would be ignored, and the commands that tests start would inherit that. Workers of xdist inherit it too, and
    # are no main thread.
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        # A run that is ended takes its folders and jobs away.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    config.addinivalue_line("markers", "real_launcher: starts the job through the MPI launcher")
