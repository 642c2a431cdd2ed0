"""Makes a file of the table of functions: generate.py NAME api_table.h [HEADER...].

NAME is parmci.h, libarmci.map or armci.f90, the Fortran module, which needs the public headers for types and constants."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import NamedTuple

import fortran

HEADER = """\
/* parmci.h - the profiling names of every call: PF is the strong definition behind the weak F.
 * Only tools that interpose need it; programs include armci.h, message.h and armcix.h. */
#ifndef ARMCI_SPEC_PARMCI_H_
#define ARMCI_SPEC_PARMCI_H_

#include "armci.h"
#include "armcix.h"
#include "message.h"

#ifdef __cplusplus
extern "C" {{
#endif

{prototypes}

#ifdef __cplusplus
}}
#endif

#endif /* ARMCI_SPEC_PARMCI_H_ */
"""

MAP = """\
/* The symbols that libarmci.so.1 exports. The linker leaves everything else inside, and impl/exports_test.sh compares
   every library with this list. */
{{
  global:
    /* The calls, and their names in the profiling interface. */
    {functions}
    /* Marks of the library: its binary interface, and which implementation it is. */
    armci_abi_version_1;
    armci_implementation;
    /* Calls of MPI that some implementations wrap, through its profiling interface. */
    {mpi}
  local:
    *;
}};
"""

MPI = """
MPI_Accumulate MPI_Allgather MPI_Allreduce MPI_Alltoall MPI_Barrier MPI_Bcast MPI_Compare_and_swap MPI_Fetch_and_op
MPI_Finalize MPI_Gather MPI_Get_accumulate MPI_Init MPI_Init_thread MPI_Probe MPI_Raccumulate MPI_Recv MPI_Reduce
MPI_Send MPI_Sendrecv MPI_Wait MPI_Waitall MPI_Waitany MPI_Waitsome MPI_Win_fence MPI_Win_flush MPI_Win_flush_all
MPI_Win_flush_local MPI_Win_flush_local_all MPI_Win_lock MPI_Win_unlock MPI_Win_unlock_all
mpi_finalize_ mpi_finalize_f08_ mpi_init_ mpi_init_f08_ mpi_init_thread_ mpi_init_thread_f08_
""".split()


class Function(NamedTuple):
    """A row of the table."""

    result: str
    strong: str
    weak: str
    parameters: str


def rows(table: str) -> list[Function]:
    """The rows, X(result, strong name, weak name, (parameters), (arguments)), in order."""
    text = re.sub(r"\s*\\\n\s*", " ", table)
    found = re.findall(r"\bX\(([^,()]+), (\w+), (\w+), (\((?:[^()]|\([^()]*\))*\)),", text)
    return [Function(*(part.strip() for part in row)) for row in found]


def prototype(function: Function) -> str:
    """The declaration of the profiling name, in one line."""
    space = "" if function.result.endswith("*") else " "
    return f"{function.result}{space}{function.strong}{re.sub(r' [*] ', ' *', function.parameters)};"


def generate(name: str, table: str, headers: list[str]) -> str:
    """The text of the file of that name."""
    functions = rows(table)
    if name == "parmci.h":
        return HEADER.format(prototypes="\n".join(map(prototype, functions)))
    if name == "libarmci.map":
        names = sorted({name for function in functions for name in (function.weak, function.strong)})
        return MAP.format(functions="\n    ".join(f"{name};" for name in names), mpi="\n    ".join(f"{name};" for name in MPI))
    if name == "armci.f90":
        return fortran.module(list(functions), headers)
    raise SystemExit(f"generate.py: no file named {name}; next: parmci.h, libarmci.map or armci.f90")


if __name__ == "__main__":
    sys.stdout.write(generate(sys.argv[1], Path(sys.argv[2]).read_text(), [Path(name).read_text() for name in sys.argv[3:]]))
