"""The environment of programs built with a sanitizer."""

from __future__ import annotations

from typing import Mapping, Optional

from armci_tool import repository

BOTH = "asan-ubsan"
# Those of misuse, which look at whole programs; ThreadSanitizer is for what has threads.
OF_MISUSE = (BOTH, "asan", "ubsan")

# Leaks: the MPI libraries keep memory until the process ends; what is looked for is misuse. What is freed is kept aside to
# notice its use, but not so much that a process seems to grow (MEM-7). Server processes preload the library where the
# program has loaded it late: it is before the sanitizer's then. Without hwloc's part for PCI: its list of names
# grows by 8600 reallocations, and the sanitizer copies it each time, 1.2 GB in every process.
_ADDRESS = {"ASAN_OPTIONS": "detect_leaks=0:abort_on_error=0:quarantine_size_mb=16:verify_asan_link_order=0",
            "LSAN_OPTIONS": "detect_leaks=0",
            "HWLOC_COMPONENTS": "-pci"}
_UNDEFINED = {"UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1"}
# Races inside MPI are not ours, and Open MPI's and UCX's hooks into memory management are called when a thread is past all
# that ThreadSanitizer knows.
_THREAD = {"TSAN_OPTIONS": "ignore_noninstrumented_modules=1:halt_on_error=1:history_size=7:suppressions="
                           f"{repository.ROOT / 'tools' / 'tsan_suppressions.txt'}",
           "OMPI_MCA_memory": "^patcher", "UCX_MEM_EVENTS": "no"}

_ENVIRONMENT: Mapping[str, Mapping[str, str]] = {
    BOTH: {**_ADDRESS, **_UNDEFINED},
    "asan": _ADDRESS,
    "ubsan": _UNDEFINED,
    "tsan": _THREAD,
}

# How many times as long as usual something may take.
_DEADLINES = 3.0


def environment(mode: str, present: Mapping[str, str]) -> dict[str, str]:
    """For programs built in this mode; what the caller says in `present` wins, option by option."""
    return {name: _joined(name, own, present.get(name)) for name, own in _ENVIRONMENT.get(mode, {}).items()}


def _joined(name: str, own: str, callers: Optional[str]) -> str:
    if callers is None:
        return own
    return f"{own}:{callers}" if name.endswith("_OPTIONS") else callers  # the last of two options is taken


def deadline_factor(mode: str) -> float:
    """How many times as long as usual something may take in this mode."""
    return _DEADLINES if mode in _ENVIRONMENT else 1.0
