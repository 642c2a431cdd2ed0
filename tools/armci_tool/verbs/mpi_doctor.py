"""`mpi-doctor`: which faults of one-sided communication an MPI library has."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from armci_tool import doctor, environment, launch, nodes, option_types
from armci_tool.console import Progress
from armci_tool.errors import ToolError
from armci_tool.placement import Placement
from armci_tool.verbs import make_parser, require_folder


def add_parser(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Declares the verb."""
    made = make_parser(verbs, "mpi-doctor", "try every known fault of MPI's one-sided communication in a job of its own",
                       "tools/armci mpi-doctor --mpi mpich --output DIR", execute)
    made.add_argument("--mpi", choices=doctor.CHOICES, default="all", help="MPI library (default: %(default)s)")
    made.add_argument("--nodes", type=option_types.count, default=0, metavar="N",
                      help="on N nodes: network namespaces of this machine with TCP between them; needs root")
    made.add_argument("--only", action="append", default=[], type=option_types.words, metavar="ID[,ID...]",
                      help="only these faults; may be repeated")
    made.add_argument("--output", type=option_types.path, metavar="DIR",
                      help="write the programs there, with a README, to be sent to maintainers")


def execute(options: argparse.Namespace) -> int:
    """Runs the verb. Faults are what it is for, so its status is 0 with and without them."""
    faults = _choose([each for part in options.only for each in part])
    placement = Placement(options.nodes)
    if placement.nodes:
        nodes.require(placement.nodes)
    if options.output:
        require_folder(options.output)
    libraries = sorted(launch.MPI_LIBRARIES) if options.mpi == "all" else [options.mpi]
    sections = []
    for mpi in libraries:
        title = ", ".join(part for part in (_name(mpi), placement.label) if part)
        with tempfile.TemporaryDirectory() as scratch, Progress(mpi) as progress:
            made = doctor.examine_all(faults, mpi, placement, Path(scratch), progress.note)
        sections.append((title, made))
        print(f"{title}: {doctor.summary(made)}\n{doctor.table(made)}\n")
    if options.output:
        doctor.write_report(options.output, sections)
        print(f"programs and README: {options.output}")
    return 0


def _choose(names: list[str]) -> list[doctor.Fault]:
    faults = doctor.read_faults()
    unknown = [name for name in names if name not in {fault.id for fault in faults}]
    if unknown:
        raise ToolError("there is no fault " + ", ".join(unknown),
                        next_step="use some of: " + ", ".join(fault.id for fault in faults))
    return [fault for fault in faults if not names or fault.id in names]


def _name(mpi: str) -> str:
    version = environment.describe([mpi])[f"MPI: {mpi}"]
    return f"{mpi} {version}"
