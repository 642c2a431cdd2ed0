"""The one place that knows the command lines of the MPI libraries.

A launch starts `processes` ranks of a program where its placement says, with more ranks than cores allowed, ranks not
bound to cores (a progress thread would inherit the binding, and the launcher would bind the first rank of each node to
the same core, as the nodes are one machine), and the ARMCI_* settings of the caller forwarded to every rank.
"""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Iterator, Mapping, Optional

from armci_tool import leak_check, nodes, process, scratch_folders
from armci_tool.errors import ToolError
from armci_tool.placement import SIMULATED_SIZE_VARIABLE, Placement
from armci_tool.rdma import nodes as guests

# Forwarded to the ranks besides what a launch sets itself.
FORWARDED_PREFIXES = ("ARMCI_", "UCX_", "ASAN_", "UBSAN_", "TSAN_", "LSAN_", "HWLOC_", "GTEST_")
# Nodes made of namespaces look like one machine to UCX (its boot is the same): it must not go around the network. In
# guests it must not take the verbs device. Servers stay on the CPUs of their node.
NODE_ENVIRONMENT = {"UCX_TLS": "tcp,self", "UCX_NET_DEVICES": nodes.INTERFACE, "ARMCI_SERVER_CPUS": "own"}
# UCX would take a guest's verbs device for MPI's own messages, and time out now and then when it is software.
GUEST_ENVIRONMENT = {"UCX_TLS": "shm,tcp,self"}
# mpi-twosided's, where servers are processes unless it is "thread".
SERVER_VARIABLE = "ARMCI_SERVER"
SHARED_MEMORY = Path("/dev/shm")
_FOLDER_PREFIX = "armci-tool-"
# PMIx below Open MPI keeps 8.2 MB there, for 1 rank and for 32. With less the job hangs, or dies of SIGBUS.
_SESSION_BYTES = 9 << 20


@dataclass(frozen=True)
class MpiLibrary:
    """A launcher and its options."""

    name: str
    launcher: str
    compiler: str
    fixed: tuple[str, ...] = ()
    # Ranks that wait yield: where they are more than cores, one that spins holds up the one it waits for. Where each has a
    # core, nodes with CPUs of their own, a server that yields to a program that computes waits for whole turns of it.
    sharing_cores: tuple[str, ...] = ()
    # On this machine as it is; and on nodes, with {hosts} (NODE:RANKS,...), {agent}, {interface} and {preload}
    # to be filled in; the last is the library made from tools/PRELOAD_ON_NODES.c.
    on_machine: tuple[str, ...] = ()
    # The same where ARMCI_SERVER requests processes that MPI starts while the job runs, if that takes anything else.
    on_machine_to_spawn: tuple[str, ...] = ()
    on_nodes: tuple[str, ...] = ()
    preload_on_nodes: str = ""
    only_as_root: tuple[str, ...] = ()
    tag_output: tuple[str, ...] = ()
    # Option that forwards one variable; empty where the launcher forwards the whole environment.
    forward: tuple[str, ...] = ()
    # Settings of every job; the caller's environment goes first.
    environment: Mapping[str, str] = field(default_factory=dict)
    # Statuses of the launcher when it loses a rank that died, and does not name it.
    statuses_without_cause: tuple[int, ...] = ()
    # Standard input of a job that gets none of ours stays open until the job ends. In a guest it does not.
    input_stays_open: bool = False
    # Where its session files lie on this machine: the first of these variables that is set, else /tmp.
    session_folder_settings: tuple[str, ...] = ()
    # Variables that say where its shared memory files lie.
    backing_folder_settings: tuple[str, ...] = ()


MPI_LIBRARIES: dict[str, MpiLibrary] = {
    # One machine needs only shared memory; the TCP component would probe every interface. Between nodes, of the one-sided
    # components only ucx works over TCP at every thread level.
    "openmpi": MpiLibrary("openmpi", "mpirun.openmpi", "mpicc.openmpi",
                          fixed=("--oversubscribe", "--bind-to", "none"),
                          sharing_cores=("--mca", "mpi_yield_when_idle", "1"),
                          on_machine=("--mca", "btl", "vader,self"),
                          # Its shared memory does not reach processes that are started later.
                          on_machine_to_spawn=("--mca", "btl", "tcp,vader,self", "--mca", "btl_tcp_if_include", "lo"),
                          on_nodes=("-H", "{hosts}", "--mca", "plm_rsh_agent", "{agent}", "--mca", "orte_tmpdir_base",
                                    nodes.SESSION_FOLDER, "--mca", "oob_tcp_if_include", "{interface}", "--mca", "pml",
                                    "ob1", "--mca", "btl", "tcp,vader,self", "--mca", "btl_tcp_if_include",
                                    "{interface}", "--mca", "osc", "ucx"),
                          only_as_root=("--allow-run-as-root",), tag_output=("--tag-output",), forward=("-x",),
                          # A launcher above PMIx 4 whose event loop uses epoll leaves a process unanswered now and
                          # then, which waits in MPI_Init for good: once in a hundred times when it was started by
                          # MPI_Comm_spawn.
                          environment={"EVENT_NOEPOLL": "1"},
                          session_folder_settings=("OMPI_MCA_orte_tmpdir_base", "TMPDIR", "TEMP", "TMP"),
                          backing_folder_settings=("OMPI_MCA_btl_vader_backing_directory",
                                                   "OMPI_MCA_osc_sm_backing_directory",
                                                   "OMPI_MCA_osc_rdma_backing_directory")),
    # UCX below it would stop a process with a fatal error, for a debugger, and the job would hang. MPICH's launcher
    # dies of SIGPIPE, without a message, when it sends the end of standard input, or the notice that there is none, to a
    # proxy that has ended. With an open and empty pipe it sends neither.
    "mpich": MpiLibrary("mpich", "mpiexec.mpich", "mpicc.mpich", tag_output=("-prepend-rank",),
                        on_nodes=("-launcher", "ssh", "-launcher-exec", "{agent}", "-hosts", "{hosts}", "-iface",
                                  "{interface}", "-genv", "LD_PRELOAD", "{preload}"),
                        preload_on_nodes="mpich_finalize", environment={"UCX_HANDLE_ERRORS": "bt"},
                        # An assertion of the launcher, and SIGPIPE: about once in 30 ranks that die at their start.
                        statuses_without_cause=(255, 128 + signal.SIGPIPE), input_stays_open=True),
}
DEFAULT_MPI = "openmpi"


@dataclass(frozen=True)
class Launch:
    """The job to start: `program` with its arguments, on how many ranks of which MPI library."""

    program: tuple[str, ...]
    processes: int
    mpi: str = DEFAULT_MPI
    environment: Mapping[str, str] = field(default_factory=dict)
    tag_output: bool = False
    placement: Placement = Placement()
    # True: nodes made of namespaces have no CPUs of their own, so that tests end sooner, and see more orders of events.
    shares_cpus: bool = False

    def settings(self) -> dict[str, str]:
        """The environment of the job besides what is there; a network that the user chose stays."""
        network = NODE_ENVIRONMENT if self.placement.nodes else GUEST_ENVIRONMENT if self.placement.guest else {}
        own = {name: value for name, value in network.items() if name not in os.environ}
        return {**own, **self.placement.environment(), **self.environment}

    def command_line(self, *, as_root: Optional[bool] = None,
                     present: Optional[Mapping[str, str]] = None) -> list[str]:
        """The argument list that starts the job."""
        library = mpi_library(self.mpi)
        if self.processes < 1:
            raise ToolError(f"cannot start {self.processes} processes", next_step="give -n a number of at least 1")
        line = [library.launcher]
        # In a guest every process runs as root.
        if as_root if as_root is not None else os.geteuid() == 0 or self.placement.guest:
            line += library.only_as_root
        present = os.environ if present is None else present
        line += [*library.fixed, *self._where(library, {**present, **self.settings()})]
        if self.tag_output:
            line += library.tag_output
        if library.forward:
            for name in self._forwarded(present):
                line += [*library.forward, name]
        line += ["-n", str(self.processes), *self.program]
        if self.placement.nodes:
            return node_kind(self.placement).command_line(self.placement.nodes, line, library.preload_on_nodes,
                                                          self.shares_cpus)
        return guests.command_line(1, line) if self.placement.guest else line

    def _where(self, library: MpiLibrary, settings: Mapping[str, str]) -> list[str]:
        if not self.placement.nodes:
            may_spawn = settings.get(SERVER_VARIABLE, "thread") != "thread"
            on_machine = library.on_machine_to_spawn or library.on_machine if may_spawn else library.on_machine
            return [*library.sharing_cores, *on_machine]
        ranks = self.placement.ranks_per_node(self.processes)
        has_cores = not self.placement.guest and not self.shares_cpus and nodes.has_cores_for(ranks)
        kind = node_kind(self.placement)
        hosts = ",".join(f"{kind.host(node)}:{count}" for node, count in enumerate(ranks))
        values = {"hosts": hosts, "agent": str(kind.agent), "interface": kind.interface,
                  "preload": kind.preload(library.preload_on_nodes)}
        return [*(() if has_cores else library.sharing_cores), *(word.format(**values) for word in library.on_nodes)]

    def _forwarded(self, present: Mapping[str, str]) -> list[str]:
        names = {name for name in present if name.startswith(FORWARDED_PREFIXES)}
        return sorted(names | set(self.settings()))


def mpi_library(name: str) -> MpiLibrary:
    """The library of that name."""
    if name not in MPI_LIBRARIES:
        raise ToolError(f"there is no MPI library {name!r}", next_step="use one of: " + ", ".join(MPI_LIBRARIES))
    return MPI_LIBRARIES[name]


def node_kind(placement: Placement) -> nodes.NodeKind:
    """The kind of the nodes of a placement."""
    return guests.GUESTS if placement.guest else nodes.NAMESPACES


def require(placement: Placement, preloaded: str = "") -> None:
    """Raises ToolError if there cannot be its nodes here."""
    if placement.nodes:
        node_kind(placement).require(placement.nodes, preloaded)


def user_settings() -> tuple[str, ...]:
    """The settings of ARMCI in our environment, which the ranks get; placement.py has those for the places of ranks."""
    return tuple(f"{name}={value}" for name, value in sorted(os.environ.items())
                 if name.startswith("ARMCI_") and name != SIMULATED_SIZE_VARIABLE)


def start(launch: Launch, *, timeout_s: Optional[float] = None, silence_s: Optional[float] = None,
          capture: bool = True, on_line: Optional[process.LineHandler] = None,
          cwd: Optional[Path] = None) -> process.Result:
    """Runs the job to its end; nothing of it is left whichever way it ends. See process.run.

    The result lists what the job left behind. With `capture` false tools/nodes lists it on stderr instead.
    """
    require(launch.placement, mpi_library(launch.mpi).preload_on_nodes)
    _require_session_folder(launch)
    environment, marker = leak_check.mark({**mpi_library(launch.mpi).environment, **os.environ, **launch.settings()})
    with _shared_memory_folder(launch) as folder, leak_check.SharedMemoryWatch(marker) as watch:
        environment = {**environment, **folder}
        result = process.run(launch.command_line(), cwd=cwd, environment=environment, timeout_s=timeout_s, silence_s=silence_s,
                             capture=capture, on_line=on_line,
                             input_stays_open=mpi_library(launch.mpi).input_stays_open)
        if result.timed_out:
            return result
        abandoned = watch.abandoned()
    on_nodes = [line.removeprefix(nodes.LEFT_BEHIND) for line in result.output.splitlines()
            if launch.placement.nodes and line.startswith(nodes.LEFT_BEHIND)]
    return replace(result, left_behind=(*result.left_behind, *abandoned, *on_nodes))


def describe_status(launch: Launch, status: int) -> str:
    """A sentence about a status that stands for a death of ranks, which a launcher may leave out; empty for others."""
    library = mpi_library(launch.mpi)
    if status in library.statuses_without_cause:
        killed = "a signal, such as SIGSEGV"
    elif status - 128 in list(signal.Signals):
        killed = signal.Signals(status - 128).name
    else:
        return ""
    return f"{library.launcher} ended with status {status}: a rank was killed by {killed}, or ended with that status"


def _require_session_folder(launch: Launch) -> None:
    """Raises ToolError if the launcher cannot keep its session files: its own account of that is 30 lines without the cause."""
    settings = mpi_library(launch.mpi).session_folder_settings
    if not settings or launch.placement.nodes or launch.placement.guest:  # nodes and guests have folders of their own
        return
    present = {**os.environ, **launch.settings()}
    name = next((name for name in settings if present.get(name)), "TMPDIR")
    scratch_folders.require_room(Path(present.get(name) or "/tmp"), _SESSION_BYTES, name)


@contextmanager
def _shared_memory_folder(launch: Launch) -> Iterator[Mapping[str, str]]:
    """Settings by which the job's shared memory files lie in a folder that goes when it ends: the launcher forgets those
    of a job that aborts. Folders of tools that were killed go as well."""
    library = mpi_library(launch.mpi)
    elsewhere = launch.placement.nodes or launch.placement.guest
    if not library.backing_folder_settings or elsewhere or not SHARED_MEMORY.is_dir():
        yield {}
        return
    for stale in SHARED_MEMORY.glob(f"{_FOLDER_PREFIX}*"):
        if not Path("/proc", stale.name.removeprefix(_FOLDER_PREFIX).split("-")[0]).exists():
            shutil.rmtree(stale, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=f"{_FOLDER_PREFIX}{os.getpid()}-", dir=SHARED_MEMORY,
                                     ignore_cleanup_errors=True) as folder:
        yield {name: folder for name in library.backing_folder_settings}
