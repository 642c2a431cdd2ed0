#!/usr/bin/python3
"""Two implementations in one job.

The first process loads another one than the others: init fails on all of them, and names both. Then every process loads
both, each with RTLD_LOCAL, and uses them side by side."""

import os
import sys
import tempfile
from ctypes import CDLL
from pathlib import Path
from typing import Callable

import ctypes_mpi

_REACH_NODES = ("mpi-twosided", "mpi-rma")


def _printed(call: Callable[[], int]) -> "tuple[int, str]":
    """The result of the call, and the text that the call printed on stderr."""
    with tempfile.TemporaryFile() as file:
        old = os.dup(2)
        os.dup2(file.fileno(), 2)
        try:
            result = call()
        finally:
            os.dup2(old, 2)
            os.close(old)
        file.seek(0)
        return result, file.read().decode()


def main() -> int:
    own = Path(os.environ["LD_LIBRARY_PATH"].split(":")[0])  # .../lib/armci/NAME
    other = own.parent / next(name for name in _REACH_NODES if name != own.name)
    libraries = [CDLL(str(folder / ctypes_mpi.LIBRARY), mode=os.RTLD_LOCAL) for folder in (own, other)]
    mpi = ctypes_mpi.Mpi(libraries[0])
    mpi.start()
    rank, faults = mpi.rank(), 0
    if mpi.sum(1) > 1:
        result, text = _printed(libraries[0 if rank == 0 else 1].ARMCI_Init)
        faults += result == 0
        faults += rank > 0 and not (own.name in text and other.name in text)
        if faults:
            print(f"two_libraries: process {rank}: ARMCI_Init returned {result}: {text}", flush=True)

    faults += sum(armci.ARMCI_Init() != 0 for armci in libraries)
    regions = [ctypes_mpi.Region(armci, 500) for armci in libraries]
    for seed in range(1, 6):
        for region in regions:
            region.check(seed * 1000)
    for region in regions:
        region.free()
        faults += region.faults + (region.armci.ARMCI_Finalize() != 0)
    return ctypes_mpi.finish("two_libraries", mpi, faults, regions[0].processes, rank == 0)


if __name__ == "__main__":
    sys.exit(main())
