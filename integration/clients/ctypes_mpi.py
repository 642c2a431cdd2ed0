"""MPI and ARMCI by ctypes, for the programs of this folder in Python: the C functions, and MPI's handles."""

import ctypes
import os
from ctypes import CDLL, byref, c_int, c_long, c_void_p
from typing import Callable, Sequence

LIBRARY = "libarmci.so.1"
FETCH_AND_ADD_LONG = 1  # of armci.h
ACC_LNG = 1

_TICKETS = 50
_MPI_THREAD_MULTIPLE = 3
_MPICH_NUMBERS = {"int": 0x4C000405, "op_sum": 0x58000003, "comm_world": 0x44000000}


def _call(function: Callable[..., int], *arguments: object) -> int:
    """1 if the call failed."""
    return int(function(*arguments) != 0)


class Mpi:
    """The MPI library that an ARMCI library has loaded. Handles are addresses in Open MPI, and numbers in MPICH."""

    def __init__(self, armci: CDLL) -> None:
        self._mpi = armci  # a search in a library goes on in those that it needs

    def _handle(self, name: str) -> object:
        try:
            return byref(c_int.in_dll(self._mpi, "ompi_mpi_" + name))
        except ValueError:
            return c_int(_MPICH_NUMBERS[name])

    def start(self) -> None:
        provided = c_int()
        self._mpi.MPI_Init_thread(None, None, _MPI_THREAD_MULTIPLE, byref(provided))

    def end(self) -> None:
        self._mpi.MPI_Finalize()

    def rank(self) -> int:
        rank = c_int(-1)
        self._mpi.MPI_Comm_rank(self._handle("comm_world"), byref(rank))
        return rank.value

    def sum(self, value: int) -> int:
        mine, total = c_int(value), c_int(-1)
        self._mpi.MPI_Allreduce(byref(mine), byref(total), 1, *map(self._handle, ("int", "op_sum", "comm_world")))
        return total.value


class Region:
    """Memory of an ARMCI library: numbers, and each process has as many."""

    def __init__(self, armci: CDLL, length: int) -> None:
        self.armci, self.length = armci, length
        self.me, self.processes = armci.armci_msg_me(), armci.armci_msg_nproc()
        self.parts = (c_void_p * self.processes)()
        self.faults = _call(armci.ARMCI_Malloc, self.parts, c_long(8 * length))
        self.mine = (c_long * length).from_address(self.parts[self.me])
        self.mine[:] = [0] * length
        armci.ARMCI_Barrier()

    def at(self, process: int, index: int) -> c_void_p:
        return c_void_p(self.parts[process] + 8 * index)

    def free(self) -> None:
        self.faults += _call(self.armci.ARMCI_Free, c_void_p(self.parts[self.me]))

    def check(self, seed: int) -> None:
        """A put to the next process and a get from it, then accumulates and tickets; `faults` counts wrong answers."""
        armci, me, length = self.armci, self.me, self.length
        following, before = (me + 1) % self.processes, (me - 1) % self.processes
        values = (c_long * length)(*(seed + me * length + i for i in range(length)))
        self.faults += _call(armci.ARMCI_Put, values, self.at(following, 0), 8 * length, following)
        armci.ARMCI_Barrier()
        self.faults += self.mine[:] != [seed + before * length + i for i in range(length)]
        found = (c_long * length)()
        self.faults += _call(armci.ARMCI_Get, self.at(following, 0), found, 8 * length, following)
        self.faults += found[:] != values[:]
        armci.ARMCI_Barrier()
        self.mine[0:2] = [0, 0]
        armci.ARMCI_Barrier()
        self._check_atomics(seed)

    def _check_atomics(self, seed: int) -> None:
        armci, ticket, scale = self.armci, c_long(-1), c_long(2)
        for process in range(self.processes):
            self.faults += _call(armci.ARMCI_Acc, ACC_LNG, byref(scale), byref(c_long(seed)), self.at(process, 1), 8, process)
        for _ in range(_TICKETS):
            armci.ARMCI_Rmw(FETCH_AND_ADD_LONG, byref(ticket), self.at(0, 0), 1, 0)
            self.faults += not 0 <= ticket.value < _TICKETS * self.processes
        armci.ARMCI_Barrier()
        self.faults += self.mine[1] != 2 * seed * self.processes
        self.faults += self.me == 0 and self.mine[0] != _TICKETS * self.processes
        armci.ARMCI_Barrier()


def launcher_rank() -> int:
    """Before MPI is there."""
    return int(next(os.environ[name] for name in ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK") if name in os.environ))


def finish(name: str, mpi: Mpi, faults: int, processes: int, is_first: bool) -> int:
    """The exit status. Ends MPI."""
    all_faults = mpi.sum(faults)
    if is_first:
        print(f"{name}: {'FAIL' if all_faults else 'PASS'}, {processes} processes", flush=True)
    mpi.end()
    return int(all_faults != 0)
