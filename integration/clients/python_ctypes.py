#!/usr/bin/python3
"""A program in Python that loads the library by ctypes: it puts, gets, accumulates and takes tickets.

Processes of even number load it with RTLD_LOCAL, the others with RTLD_GLOBAL."""

import os
import sys
from ctypes import CDLL

import ctypes_mpi


def main() -> int:
    is_local = ctypes_mpi.launcher_rank() % 2 == 0
    armci = CDLL(ctypes_mpi.LIBRARY, mode=os.RTLD_LOCAL if is_local else os.RTLD_GLOBAL)
    mpi = ctypes_mpi.Mpi(armci)
    mpi.start()
    faults = int(armci.ARMCI_Init() != 0)
    region = ctypes_mpi.Region(armci, 1000)
    region.check(4711)
    region.free()
    faults += region.faults + (armci.ARMCI_Finalize() != 0)
    return ctypes_mpi.finish("python_ctypes", mpi, faults, region.processes, region.me == 0)


if __name__ == "__main__":
    sys.exit(main())
