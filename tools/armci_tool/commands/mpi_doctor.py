"""`mpi-doctor`: which faults of one-sided communication an MPI library has."""

from __future__ import annotations

from pathlib import Path
from typing import Optional, Sequence

import click

from armci_tool import doctor, environment, launch, scratch_folders
from armci_tool import nodes as network
from armci_tool.commands import options
from armci_tool.console import Progress
from armci_tool.errors import ToolError
from armci_tool.placement import Placement


@options.command("mpi-doctor", "tools/armci mpi-doctor --mpi mpich --output DIR")
@click.option("--mpi", type=click.Choice(doctor.CHOICES), default="all", show_default=True, help="MPI library")
@click.option("--nodes", type=options.COUNT, metavar="N",
              help="on N nodes: network namespaces of this machine with TCP between them; needs root")
@options.repeated("--only", metavar="ID[,ID...]", help="only these faults; may be repeated")
@click.option("--output", type=options.PATH, metavar="DIR",
              help="write the programs there, with a README, to be sent to maintainers")
def execute(mpi: str, nodes: Optional[int], only: Sequence[str], output: Optional[Path]) -> int:
    """Runs the command. Faults are what it is for, so its status is 0 with and without them."""
    faults = _choose(only)
    placement = Placement(nodes or 0)
    if placement.nodes:
        network.require(placement.nodes)
    if output:
        options.require_folder(output)
    sections = []
    for library in sorted(launch.MPI_LIBRARIES) if mpi == "all" else [mpi]:
        version = environment.describe([library])[f"MPI: {library}"]
        title = ", ".join(part for part in (f"{library} {version}", placement.label) if part)
        with scratch_folders.make() as scratch, Progress(library) as progress:
            made = doctor.examine_all(faults, library, placement, scratch, progress.note)
        sections.append((title, made))
        print(f"{title}: {doctor.summary(made)}\n{doctor.table(made)}\n")
    if output:
        doctor.write_report(output, sections)
        print(f"programs and README: {output}")
    return 0


def _choose(names: Sequence[str]) -> list[doctor.Fault]:
    faults = doctor.read_faults()
    unknown = [name for name in names if name not in {fault.id for fault in faults}]
    if unknown:
        raise ToolError("there is no fault " + ", ".join(unknown),
                        next_step="use some of: " + ", ".join(fault.id for fault in faults))
    return [fault for fault in faults if not names or fault.id in names]
