"""`compare`: measures implementations, and other ARMCIs, against each other, in turns."""

from __future__ import annotations

from types import SimpleNamespace as Namespace
from typing import Any, Sequence

import click

from armci_tool import bazel, environment, launch, libraries, scratch_folders
from armci_tool.commands import options
from armci_tool.compare import candidates, earlier, noise, page, plan, record, runner, statistics, text
from armci_tool.console import Progress, duration
from armci_tool.errors import ToolError
from armci_tool.placement import Placement

@options.command("compare", "tools/armci compare --report report",
                 "tools/armci compare --impl shmem,mpi-rma --quick rma",
                 "tools/armci compare --nodes 2 --mpi mpich --report report --baseline before/results.json --strict",
                 "tools/armci compare --nodes 2 --peer armci-mpi-master --peer other=/opt/other --report report",
                 "tools/armci compare --rdma transfers",
                 "tools/armci compare --impl mpi-rma --prefix /opt/other --libs -larmci --name other rma rma_shapes")
@options.implementations("implementations (default: all that can be measured there)", default=["all"])
@options.repeated("-n", "--np", "processes", of=options.COUNT, default=["2"], show_default=True, metavar="N[,N...]",
                  help="numbers of processes, raised where a benchmark needs more")
@options.mpi
@options.placed
@click.option("--rdma", is_flag=True,
              help="between nodes with a verbs device, for native-verbs as well: all of them on simulated nodes of one "
              "process in a guest (see tools/armci rdma), if this machine has no device")
@click.option("--quick", is_flag=True, help="fewer cases, and some two minutes")
@click.option("--rounds", type=options.COUNT, metavar="R",
              help=f"how often each has its turn, however long it takes (default: {plan.ROUNDS_LEAST} to {plan.ROUNDS}, "
              "as the time allows)")
@click.option("--seconds", type=options.SECONDS, metavar="S",
              help=f"of each program in each round (default: so that {plan.ROUNDS_LEAST} rounds fit into some five "
              "minutes)")
@click.option("--filter", metavar="F", help="only cases whose name or size contains this")
@click.option("--target-sleeps", is_flag=True, help="no process helps by being inside MPI while another is measured")
@click.option("--report", type=options.PATH, metavar="DIR",
              help=f"write index.html, {record.CSV_NAME}, {record.JSON_NAME} and the pictures there")
@click.option("--baseline", type=options.PATH, metavar="FILE",
              help=f"a {record.JSON_NAME} of before: what has become slower, and do the two runs agree?")
@click.option("--strict", is_flag=True, help="status 1 when something has become slower than in --baseline")
@click.option("--no-peers", is_flag=True,
              help=f"leave out Debian's ARMCI ({candidates.PEER_NAME}) and the OpenSHMEM of the MPI library, which take "
              "part where they are installed")
@options.repeated("--peer", "peers", metavar="NAME=PREFIX",
                  help="an installed ARMCI that takes part: PREFIX/include/armci.h, PREFIX/lib/libarmci.*; "
                  f"{candidates.MASTER_NAME} without a prefix: ARMCI-MPI, built from its source as for tools/armci application")
@options.foreign
@options.verbose
@options.argument("benchmarks", nargs=-1, metavar="[BENCHMARK]...",
                  help="names (default: " + ", ".join(plan.DEFAULT_BENCHMARKS) + ", and all kernels)")
def execute(where: Placement, **values: Any) -> int:
    """Runs the command; not 0 when an implementation of ours failed, or (--strict) has become slower."""
    given = Namespace(**values)
    statistics.require()
    if given.strict and not given.baseline:
        raise ToolError("--strict compares with an earlier run, and none is given", next_step="add --baseline FILE")
    if given.strict and given.rounds is not None and given.rounds < plan.ROUNDS_LEAST:
        raise ToolError(f"--strict needs {plan.ROUNDS_LEAST} rounds: fewer have no interval", next_step="raise --rounds")
    before = record.read(given.baseline) if given.baseline else None
    if given.report:
        page.require()
        options.require_folder(given.report)
    launch.require(where)
    chosen = [*candidates.choose(given.impl, where, given.rdma),
              *candidates.peers(_given_peers(given), given.mpi,
                                not given.no_peers and not _is_simulated(given, where), bool(given.benchmarks)),
              *([] if given.no_peers else candidates.others(given.mpi, where.kind == "machine" and not given.rdma))]
    candidates.require_distinct(chosen)
    questions = plan.choose(given.benchmarks, given.rdma or where.kind != "machine", given.rdma, given.processes)
    planned = plan.make(plan.entries(questions, given.processes, where, given.rdma, chosen, _quick(given)),
                        given.quick, given.rounds, given.seconds)
    remarks = [*plan.left_out(questions, given.processes), *_remarks(planned, chosen)]
    print("\n".join([planned.text, *remarks]))
    made = _measure(planned, chosen, remarks, given)
    made.conclude(before.cells if before else ())
    if before:
        made.changes, made.baseline = earlier.changes(before.cells, made.cells), before.title(made.environment)
        made.agreements = earlier.agreements(before.cells, made.cells)
    print("\n" + text.render(made) + f"\n\nnoise before: {made.noise_before.text}\nnoise after:  {made.noise_after.text}")
    _write(given, made)
    if made.course.stopped is not None:
        raise made.course.stopped
    return _status(made, chosen, given)


def _given_peers(given: Namespace) -> list[libraries.ForeignLibrary]:
    foreign = libraries.foreign(given.prefix, given.libs, given.name)
    with Progress("peers") as progress:
        return [*candidates.named_peers(given.peers, given.mpi, progress.note), *([foreign] if foreign else [])]


def _is_simulated(given: Namespace, where: Placement) -> bool:
    """Whether nodes are only simulated: a peer ignores that."""
    return where.kind == "simulated" or (given.rdma and where.kind == "machine")


def _measure(planned: plan.Plan, chosen: Sequence[candidates.Candidate], remarks: Sequence[str],
             given: Namespace) -> record.Comparison:
    base = bazel.Configuration(given.mpi)
    failures: list[runner.Failure] = []

    def not_built(peer: candidates.Candidate, benchmark: str, said: str) -> None:
        failures.append(runner.Failure(peer.name, benchmark, 0, 0, "could not be built", runner.last_lines(said)))

    questions = list(dict.fromkeys(entry.question for entry in planned.entries))
    with scratch_folders.make() as folder:
        programs = candidates.build(chosen, questions, base, folder, given.verbose, not_built)
        quiet = noise.measure()
        print(f"noise before: {quiet.text}")
        with Progress("comparing") as progress:
            course = runner.run(planned, programs, given.mpi, _words(given), progress.note)
    course.failures[:0] = failures
    print("\n".join([f"{course.rounds} rounds in {duration(course.seconds)}", *course.left_out]))
    return record.Comparison(environment.describe([given.mpi]), _plan_as_json(planned, given),
                             [{"name": one.name, "kind": one.kind, "what": _describe(one)} for one in chosen], quiet, noise.measure(),
                             course, [*remarks, *course.left_out])


def _quick(given: Namespace) -> plan.Quick:
    """Kernels are whole computations: the long cases run only if the user names benchmarks."""
    return lambda question: given.quick or (question.is_kernel and not given.benchmarks)


def _words(given: Namespace) -> list[str]:
    words = ["--filter", given.filter] if given.filter else []
    return words + (["--target-sleeps"] if given.target_sleeps else [])


def _plan_as_json(planned: plan.Plan, given: Namespace) -> dict[str, object]:
    return {"text": planned.text, "rounds": planned.rounds, "rounds_least": planned.rounds_least,
            "seconds": planned.seconds, "quick": planned.quick, "estimate_s": round(planned.estimate_s),
            "mpi": given.mpi, "filter": given.filter or "", "target_sleeps": given.target_sleeps,
            "benchmarks": list(dict.fromkeys(entry.question.name for entry in planned.entries)),
            "processes": sorted({entry.processes for entry in planned.entries}),
            "placement": planned.entries[0].placement.label}


def _describe(one: candidates.Candidate) -> str:
    library = one.library
    if isinstance(library, candidates.OtherInterface):
        return "another one-sided interface"
    return f"{library.libs} in {library.prefix}" if isinstance(library, libraries.ForeignLibrary) else "of this repository"


def _remarks(planned: plan.Plan, chosen: Sequence[candidates.Candidate]) -> list[str]:
    """Remarks that a reader has to know before the figures."""
    said = []
    for one in chosen:
        without = sorted({entry.question.name for entry in planned.entries if one not in entry.candidates})
        if isinstance(one.library, candidates.OtherInterface):
            continue
        if without and one.common_memory:
            said.append(f"{one.name} has no program of {', '.join(without)}")
        elif without:
            said.append(f"{one.name} takes no part in {', '.join(without)}: those read the memory of other processes")
    if any(entry.placement.kind == "simulated" for entry in planned.entries):
        said += [f"{one.name} knows nothing of simulated nodes: its processes are on one" for one in chosen if one.is_peer]
        said.append("simulated nodes are one machine: MPI between them goes by shared memory, so only the rest "
                    "resembles a network")
    return said


def _write(given: Namespace, made: record.Comparison) -> None:
    if not given.report:
        return
    written = record.write(given.report, made)
    with Progress("drawing") as progress:
        written += page.write(given.report, made, progress.note)
    for path in written:
        if path.suffix != ".png":
            print(f"wrote {path}")


def _status(made: record.Comparison, chosen: Sequence[candidates.Candidate], given: Namespace) -> int:
    peers = {one.name for one in chosen if one.is_peer}
    broken = sorted({f"{one.candidate} ({one.benchmark})" for one in made.course.failures if one.candidate not in peers})
    if broken:
        raise ToolError("no result of " + ", ".join(broken), next_step="see their last lines above", status=1)
    if not made.cells:
        raise ToolError("no case was measured", where=f"--filter {given.filter!r}" if given.filter else "",
                        next_step="see the names of cases: tools/armci bench BENCHMARK", status=1)
    if given.strict and not made.changes:
        raise ToolError("nothing was compared: the earlier run has none of these cases",
                        next_step="give one of the same benchmarks and candidates", status=1)
    return 1 if given.strict and earlier.regressions(made.changes) else 0
