"""The candidates of a comparison: the implementations that can run in the requested place, and peers, that is any
installed ARMCI."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Optional, Sequence, Union

from armci_tool import bazel, bench, libraries, repository
from armci_tool.applications import armci, sources
from armci_tool.errors import ToolError
from armci_tool.libraries import ForeignLibrary, Library, OwnLibrary
from armci_tool.placement import Placement

# The ARMCI that Debian has.
PEER_NAME = "armci-mpi"
PEER_PREFIX = Path("/usr")
PEER_LIBS = "-larmci-{mpi}"
# The present ARMCI-MPI, of whose source the tool makes an installation, as for applications.
MASTER_NAME = "armci-mpi-master"
VERBS = "verbs"
OWN, PEER, INTERFACE = "own", "peer", "interface"


@dataclass(frozen=True)
class OtherInterface:
    """A one-sided interface that is not ARMCI: its programs, in bench/NAME, have the names and the cases of ours."""

    name: str

    def label(self, benchmark: str) -> str:
        """The program of a benchmark."""
        return f"//bench/{self.name}:{benchmark}"

    def has(self, benchmark: str) -> bool:
        """Whether there is one."""
        return (repository.ROOT / "bench" / self.name / f"{benchmark}.cc").is_file()


OPENSHMEM = OtherInterface("openshmem")
OPENSHMEM_MPI = "openmpi"
OPENSHMEM_COMPILER = "shmemcc"


@dataclass(frozen=True)
class Candidate:
    """A library that is measured; what it needs between nodes; whether processes of a node have memory in common, which
    a peer need not have."""

    library: Union[Library, OtherInterface]
    device: str = ""
    common_memory: bool = True

    @property
    def name(self) -> str:
        """As in all tables."""
        return self.library.name

    @property
    def kind(self) -> str:
        """Whether it is an implementation of ours, another ARMCI, or no ARMCI."""
        return INTERFACE if isinstance(self.library, OtherInterface) else PEER if self.is_peer else OWN

    @property
    def is_peer(self) -> bool:
        """Whether it is not of this repository."""
        return not isinstance(self.library, OwnLibrary)

    def takes(self, question: bench.Question) -> bool:
        """Whether there is a program of the benchmark with it that can run."""
        if isinstance(self.library, OtherInterface):
            return self.library.has(question.name)
        return question.device in ("", self.device) and (question.between_nodes or self.common_memory)


def choose(names: Sequence[str], where: Placement, rdma: bool,
           table: Optional[Sequence[repository.Implementation]] = None) -> list[Candidate]:
    """The implementations named; of `all`, those that can be measured there. ToolError for one that is named and
    cannot."""
    rows = [row for row in (repository.implementation_table() if table is None else table) if not row.test_only]
    between_nodes = rdma or where.kind != "machine"
    requested = [row.name for row in rows] if "all" in names else list(dict.fromkeys(names))
    chosen = []
    for name in requested:
        row = next((row for row in rows if row.name == name), None)
        if row is None:
            raise ToolError(f"there is no implementation {name!r} to compare",
                            next_step="use some of: " + ", ".join(row.name for row in rows) + ", or all")
        fault = _fault(row, between_nodes, rdma)
        if fault is None:
            chosen.append(Candidate(OwnLibrary(name), row.device))
        elif "all" not in names:
            raise ToolError(f"{name} cannot be measured there: {fault[0]}", next_step=fault[1])
    return chosen


def _fault(row: repository.Implementation, between_nodes: bool, rdma: bool) -> Optional[tuple[str, str]]:
    """Why it has no part in it, and what would help."""
    if between_nodes and not row.spans_nodes:
        return "it spans no nodes", "leave it out, or compare on one node"
    if between_nodes and row.device == VERBS and not rdma:
        return "it takes a verbs device between nodes", "give --rdma, which has all of them in the same guest"
    return None


def peers(given: Sequence[ForeignLibrary], mpi: str, ask_debian: bool, named: bool = False) -> list[Candidate]:
    """The libraries given, and Debian's if it is installed and another one. The tool cannot see whether a peer has memory in
    common. If the user names the benchmarks, the tool assumes it of the libraries given."""
    debian = ForeignLibrary(PEER_PREFIX, PEER_LIBS, PEER_NAME)
    are_debian = [_same(one, debian, mpi) for one in given]
    found = [Candidate(one, common_memory=named and not is_debian) for one, is_debian in zip(given, are_debian)]
    if ask_debian and _is_installed(mpi) and not any(are_debian):
        found.append(Candidate(debian, common_memory=False))
    return found


def named_peers(words: Sequence[str], mpi: str, note: Callable[[str], None]) -> list[ForeignLibrary]:
    """Of --peer: NAME=PREFIX, or MASTER_NAME, which is built from its source. ToolError before anything is built."""
    found: list[tuple[str, Optional[ForeignLibrary]]] = []
    for word in words:
        name, equals, prefix = word.partition("=")
        if equals:
            found.append((name, libraries.installed(name, Path(prefix).expanduser(), mpi)))
        elif name == MASTER_NAME:
            found.append((name, None))
        else:
            raise ToolError(f"--peer {word} does not say where {name} is installed",
                            next_step=f"give --peer {name}=PREFIX, or --peer {MASTER_NAME}, which the tool builds")
    if all(one for _, one in found):
        return [one for _, one in found if one]
    source = sources.find(armci.BASELINE_PATTERN, None)
    return [one or ForeignLibrary(armci.baseline(mpi, source, note).prefix, name=name) for name, one in found]


def others(mpi: str, on_one_node: bool) -> list[Candidate]:
    """OpenSHMEM where the MPI library has it. Between nodes that makes no progress while its target sleeps, as targets do
    here."""
    return [Candidate(OPENSHMEM)] if on_one_node and mpi == OPENSHMEM_MPI and shutil.which(OPENSHMEM_COMPILER) else []


def require_distinct(chosen: Sequence[Candidate]) -> None:
    """Raises ToolError if two candidates have the same name, or if there is no candidate."""
    if not chosen:
        raise ToolError("there is no candidate to compare", next_step="give --impl all, or --prefix")
    for one in chosen:
        if sum(one.name == other.name for other in chosen) > 1:
            raise ToolError(f"two candidates are called {one.name}", next_step="give another --name")


def build(chosen: Sequence[Candidate], questions: Sequence[bench.Question], base: bazel.Configuration, folder: Path,
          verbose: bool, on_failure: Callable[[Candidate, str, str], None]) -> dict[tuple[str, str], Path]:
    """The programs by candidate and benchmark. Those of peers are copied to `folder`, as the next peer's have the same
    place; programs of a peer that cannot be built are reported and left out."""
    made: dict[tuple[str, str], Path] = {}
    own = {(one.name, question.name): one.library.label(question.name) if isinstance(one.library, OtherInterface)
           else bench.label(question.name, one.name)
           for one in chosen if not isinstance(one.library, ForeignLibrary)
           for question in questions if one.takes(question)}
    # Before the peers, as Bazel forgets much when one comes and goes.
    if own:
        bazel.build(list(own.values()), base, verbose=verbose)
        made.update((key, bazel.binary(label, base)) for key, label in own.items())
    for peer in chosen:
        if not isinstance(peer.library, ForeignLibrary):
            continue
        used = peer.library.configuration(base)
        labels = {question.name: bench.label(question.name, libraries.DEFAULT_NAME) for question in questions
                  if peer.takes(question)}
        for name in _buildable(labels, used, verbose, lambda name, said: on_failure(peer, name, said)):
            copy = folder / f"{name}_{peer.name}"
            shutil.copy2(bazel.binary(labels[name], used), copy)
            made[(peer.name, name)] = copy
    return made


def _buildable(labels: dict[str, str], used: bazel.Configuration, verbose: bool,
               on_failure: Callable[[str, str], None]) -> list[str]:
    try:
        bazel.build(list(labels.values()), used, verbose=verbose)
        return list(labels)
    except ToolError:
        # One after the other, to know which it is.
        good = []
        for name, label in labels.items():
            try:
                bazel.build([label], used, verbose=verbose)
                good.append(name)
            except ToolError as error:
                on_failure(name, error.where)
        return good


def _is_installed(mpi: str) -> bool:
    wanted = PEER_LIBS.replace("{mpi}", mpi).removeprefix("-l")
    return (PEER_PREFIX / "include" / "armci.h").is_file() and any((PEER_PREFIX / "lib").glob(f"*/lib{wanted}.*"))


def _same(one: ForeignLibrary, other: ForeignLibrary, mpi: str) -> bool:
    [first, second] = [(library.prefix.resolve(), library.libs.replace("{mpi}", mpi)) for library in (one, other)]
    return first == second
