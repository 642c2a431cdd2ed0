"""`compare`: measures implementations, and other ARMCIs, against each other, in turns."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Sequence

from armci_tool import bazel, environment, launch, libraries, nodes, option_types, placement
from armci_tool.compare import contestants, earlier, noise, page, plan, record, runner, statistics, text
from armci_tool.console import Progress, duration
from armci_tool.errors import ToolError
from armci_tool.placement import Placement
from armci_tool.verbs import add_verbose, make_parser, require_folder

DEFAULT_PROCESSES = 2
_EXAMPLES = "\n  ".join((
    "tools/armci compare --report report",
    "tools/armci compare --impl shmem,mpi-rma --quick rma",
    "tools/armci compare --nodes 2 --mpi mpich --report report --baseline before/results.json --strict",
    "tools/armci compare --rdma transfers",
    "tools/armci compare --impl mpi-rma --prefix /opt/other --libs -larmci --name other rma rma_shapes"))


def add_parser(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Declares the verb."""
    made = make_parser(verbs, "compare", "measure implementations and other ARMCIs against each other, in turns",
                       _EXAMPLES, execute)
    made.add_argument("--impl", type=option_types.words, default=["all"], metavar="NAME[,NAME...]",
                      help="implementations (default: all that can be measured there)")
    made.add_argument("-n", "--np", dest="processes", type=option_types.counts, default=[DEFAULT_PROCESSES],
                      metavar="N[,N...]", help=f"numbers of processes, raised where a benchmark needs more "
                      f"(default: {DEFAULT_PROCESSES})")
    made.add_argument("--mpi", choices=sorted(launch.MPI_LIBRARIES), default=launch.DEFAULT_MPI,
                      help="MPI library underneath (default: %(default)s)")
    placement.add_arguments(made)
    made.add_argument("--rdma", action="store_true",
                      help="between nodes with a verbs device, for native-verbs as well: all of them on simulated nodes of "
                      "one process in a guest (see tools/armci rdma), if this machine has no device")
    made.add_argument("--quick", action="store_true", help="fewer cases, and some two minutes")
    made.add_argument("--rounds", type=option_types.count, metavar="R",
                      help=f"how often each has its turn, however long it takes (default: {plan.ROUNDS_LEAST} to {plan.ROUNDS}, "
                      "as the time allows)")
    made.add_argument("--seconds", type=option_types.seconds, metavar="S",
                      help=f"of each program in each round (default: so that {plan.ROUNDS_LEAST} rounds fit into some five minutes)")
    made.add_argument("--filter", metavar="F", help="only cases whose name or size contains this")
    made.add_argument("--target-sleeps", action="store_true",
                      help="no process helps by being inside MPI while another is measured")
    made.add_argument("--report", type=option_types.path, metavar="DIR",
                      help=f"write index.html, {record.CSV_NAME}, {record.JSON_NAME} and the pictures there")
    made.add_argument("--baseline", type=option_types.path, metavar="FILE",
                      help=f"a {record.JSON_NAME} of before: what has become slower, and do the two runs agree?")
    made.add_argument("--strict", action="store_true", help="status 1 when something has become slower than in --baseline")
    made.add_argument("--no-peers", action="store_true",
                      help=f"leave out Debian's ARMCI ({contestants.PEER_NAME}) and the OpenSHMEM of the MPI library, which "
                      "take part where they are installed")
    libraries.add_foreign_arguments(made)
    add_verbose(made)
    made.add_argument("benchmarks", metavar="BENCHMARK", nargs="*",
                      help="names (default: " + ", ".join(plan.DEFAULT_BENCHMARKS) + ", and all kernels)")


def execute(options: argparse.Namespace) -> int:
    """Runs the verb; not 0 when an implementation of ours failed, or (--strict) has become slower."""
    statistics.require()
    if options.strict and not options.baseline:
        raise ToolError("--strict is about what has become slower", next_step="add --baseline FILE")
    if options.strict and options.rounds is not None and options.rounds < plan.ROUNDS_LEAST:
        raise ToolError(f"--strict needs {plan.ROUNDS_LEAST} rounds: fewer have no interval", next_step="raise --rounds")
    before = record.read(options.baseline) if options.baseline else None
    if options.report:
        page.require()
        require_folder(options.report)
    where = placement.from_options(options)
    if where.nodes:
        nodes.require(where.nodes)
    chosen = [*contestants.choose(options.impl, where, options.rdma),
              *contestants.peers(libraries.foreign_from_options(options), options.mpi,
                                 not options.no_peers and not _is_simulated(options, where), bool(options.benchmarks)),
              *([] if options.no_peers else contestants.others(options.mpi, where.kind == "machine" and not options.rdma))]
    contestants.require_distinct(chosen)
    questions = plan.choose(options.benchmarks, options.rdma or where.kind != "machine", options.rdma, options.processes)
    planned = plan.make(plan.entries(questions, options.processes, where, options.rdma, chosen, _quick(options)),
                        options.quick, options.rounds, options.seconds)
    remarks = [*plan.left_out(questions, options.processes), *_remarks(planned, chosen)]
    print("\n".join([planned.text, *remarks]))
    made = _measure(planned, chosen, remarks, options)
    made.conclude(before.cells if before else ())
    if before:
        made.changes, made.baseline = earlier.changes(before.cells, made.cells), before.title(made.environment)
        made.agreements = earlier.agreements(before.cells, made.cells)
    print("\n" + text.render(made) + f"\n\nnoise before: {made.noise_before.text}\nnoise after:  {made.noise_after.text}")
    _write(options, made)
    return _status(made, chosen, options)


def _is_simulated(options: argparse.Namespace, where: Placement) -> bool:
    """Whether nodes are only told of, which a peer does not hear."""
    return where.kind == "simulated" or (options.rdma and where.kind == "machine")


def _measure(planned: plan.Plan, chosen: Sequence[contestants.Contestant], remarks: Sequence[str],
             options: argparse.Namespace) -> record.Comparison:
    base = bazel.Configuration(options.mpi)
    failures: list[runner.Failure] = []

    def not_built(peer: contestants.Contestant, benchmark: str, said: str) -> None:
        failures.append(runner.Failure(peer.name, benchmark, 0, 0, "could not be built", runner.last_lines(said)))

    questions = list(dict.fromkeys(entry.question for entry in planned.entries))
    with tempfile.TemporaryDirectory(prefix="armci-compare-") as folder:
        programs = contestants.build(chosen, questions, base, Path(folder), options.verbose, not_built)
        quiet = noise.measure()
        print(f"noise before: {quiet.text}")
        with Progress("comparing") as progress:
            course = runner.run(planned, programs, options.mpi, _words(options), progress.note)
    course.failures[:0] = failures
    print("\n".join([f"{course.rounds} rounds in {duration(course.seconds)}", *course.left_out]))
    return record.Comparison(environment.describe([options.mpi]), _plan_as_json(planned, options),
                             [{"name": one.name, "what": _describe(one)} for one in chosen], quiet, noise.measure(),
                             course, [*remarks, *course.left_out])


def _quick(options: argparse.Namespace) -> plan.Quick:
    """Kernels are whole computations: nobody waits for the long ones who has not named them."""
    return lambda question: options.quick or (question.is_kernel and not options.benchmarks)


def _words(options: argparse.Namespace) -> list[str]:
    words = ["--filter", options.filter] if options.filter else []
    return words + (["--target-sleeps"] if options.target_sleeps else [])


def _plan_as_json(planned: plan.Plan, options: argparse.Namespace) -> dict[str, object]:
    return {"text": planned.text, "rounds": planned.rounds, "rounds_least": planned.rounds_least, "seconds": planned.seconds, "quick": planned.quick,
            "estimate_s": round(planned.estimate_s), "mpi": options.mpi, "filter": options.filter or "",
            "target_sleeps": options.target_sleeps,
            "benchmarks": list(dict.fromkeys(entry.question.name for entry in planned.entries)),
            "processes": sorted({entry.processes for entry in planned.entries}),
            "placement": planned.entries[0].placement.label}


def _describe(one: contestants.Contestant) -> str:
    library = one.library
    if isinstance(library, contestants.OtherInterface):
        return "another one-sided interface"
    return f"{library.libs} in {library.prefix}" if isinstance(library, libraries.ForeignLibrary) else "of this repository"


def _remarks(planned: plan.Plan, chosen: Sequence[contestants.Contestant]) -> list[str]:
    """What a reader has to know before the figures."""
    said = []
    for one in chosen:
        without = sorted({entry.question.name for entry in planned.entries if one not in entry.contestants})
        if isinstance(one.library, contestants.OtherInterface):
            continue
        if without and one.common_memory:
            said.append(f"{one.name} has no program of {', '.join(without)}")
        elif without:
            said.append(f"{one.name} takes no part in {', '.join(without)}: those read the memory of other processes")
    if any(entry.placement.kind == "simulated" for entry in planned.entries):
        said += [f"{one.name} knows nothing of simulated nodes: its processes are on one" for one in chosen if one.is_peer]
        said.append("simulated nodes are one machine: what goes by MPI between them goes by shared memory, so only what "
                    "does not is told of a network")
    return said


def _write(options: argparse.Namespace, made: record.Comparison) -> None:
    if not options.report:
        return
    written = record.write(options.report, made)
    with Progress("drawing") as progress:
        written += page.write(options.report, made, progress.note)
    for path in written:
        if path.suffix != ".png":
            print(f"wrote {path}")


def _status(made: record.Comparison, chosen: Sequence[contestants.Contestant], options: argparse.Namespace) -> int:
    peers = {one.name for one in chosen if one.is_peer}
    broken = sorted({f"{one.contestant} ({one.benchmark})" for one in made.course.failures if one.contestant not in peers})
    if broken:
        raise ToolError("no result of " + ", ".join(broken), next_step="see their last lines above", status=1)
    if not made.cells:
        raise ToolError("no case was measured", where=f"--filter {options.filter!r}" if options.filter else "",
                        next_step="see the names of cases: tools/armci bench BENCHMARK", status=1)
    if options.strict and not made.changes:
        raise ToolError("nothing was compared: the earlier run has none of these cases",
                        next_step="give one of the same benchmarks and contestants", status=1)
    return 1 if options.strict and earlier.regressions(made.changes) else 0
