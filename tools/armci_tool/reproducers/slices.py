"""Chooses the calls of a program: those of the failure, and the earlier ones that they need."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Iterable, Sequence

from armci_tool.reproducers import places
from armci_tool.reproducers.trace import Call, Process, signature

STARTS = ("ARMCI_Init", "ARMCI_Init_args", "ARMCI_Init_thread", "ARMCI_Init_thread_comm", "ARMCI_Init_mpi_comm")
ENDS = ("ARMCI_Finalize",)
# A program does these by itself, or they change nothing.
LEFT_OUT = ("ARMCI_Initialized", "ARMCI_Access_begin", "ARMCI_Access_end", "armci_domain_same_id", "ARMCI_Cleanup")
_COLLECTIVE_PARTS = ("Malloc", "Free", "mutexes", "Barrier", "barrier", "Group_create", "Group_free", "gop", "bcast", "brdcst",
                     "reduce", "_sel", "exchange_address", "Init", "Finalize", "Memget", "Memctl")
_LOCAL_PARTS = ("_local", "Set_shm")


def is_collective(name: str) -> bool:
    """Whether the other processes make the call as well."""
    return any(part in name for part in _COLLECTIVE_PARTS) and not any(part in name for part in _LOCAL_PARTS)


@dataclass
class Slice:
    """The chosen calls of each process, in order; the first process is the one that failed."""

    processes: list[Process]
    chosen: dict[int, list[Call]] = field(default_factory=dict)
    regions: dict[int, list[places.Region]] = field(default_factory=dict)

    def has(self, process: Process, call: Call) -> bool:
        """Whether a call is chosen."""
        return any(one is call for one in self.chosen[process.identifier])


def choose(processes: Sequence[Process], seeds: dict[int, list[Call]]) -> Slice:
    """The calls in `seeds`, by the identifier of their process, with what they need in their own process and the calls of
    the other processes that belong to collective ones."""
    made = Slice(list(processes), {one.identifier: [] for one in processes},
                 {one.identifier: places.regions_of(one, processes) for one in processes})
    work = [(one, call) for one in processes for call in seeds.get(one.identifier, [])]
    while work:
        process, call = work.pop()
        if made.has(process, call):
            continue
        made.chosen[process.identifier].append(call)
        work += [(process, needed) for needed in _needs(process, call, made.regions[process.identifier])]
        if is_collective(call.name):
            work += _partners(process, call, processes)
    for one in processes:
        made.chosen[one.identifier].sort(key=lambda call: call.time)
    return made


def _partners(process: Process, call: Call, processes: Iterable[Process]) -> list[tuple[Process, Call]]:
    """The same call of the other processes: the one with the same number among those of its name."""
    number = [one for one in process.calls() if _is_same(one, call)].index(call)
    found = []
    for other in processes:
        same = [one for one in other.calls() if _is_same(one, call)]
        if other is not process and number < len(same):
            found.append((other, same[number]))
    return found


def _members(call: Call) -> list[int]:
    """The list of the members of a new group; empty for other calls."""
    return places.ints(call.content("pids"), call.value("n") or 0) if call.name.startswith("ARMCI_Group_create") else []


def _is_same(one: Call, other: Call) -> bool:
    """Whether two processes may make these calls together: of one name, and of groups with the same members."""
    return one.name == other.name and _members(one) == _members(other)


def lacks_members(process: Process, call: Call, processes: Sequence[Process]) -> bool:
    """Whether a call that makes a group waits for a member that is elsewhere: the failure is not there."""
    partners = {other.rank for other, _ in _partners(process, call, processes)}
    return any(rank not in partners for rank in _members(call) if rank != process.rank)


def _needs(process: Process, call: Call, regions: list[places.Region]) -> list[Call]:
    """The earlier calls that made the memory, the groups and the mutexes of a call."""
    found: list[Call] = []
    made = places.Places(process, regions)
    earlier = [one for one in process.calls() if one.time < call.time and one is not call]
    for address, _, remote in places.addresses(call):
        if place := made.in_region(address, call.value("proc") if remote else None, call):
            region = place[0]
            found += [region.call] + ([region.freed] if region.freed and region.freed.time < call.time else [])
    for parameter, value in zip(signature(call.name).parameters, call.values):
        is_input = parameter.name != "out" and value.startswith("0x") and int(value, 16) != 0
        if parameter.type.startswith("ARMCI_Group") and is_input:
            source = places.group_source(process, call, parameter.name)
            found += [source] if source else []
            found += [one for one in _latest(earlier, ("ARMCI_Group_free",), value) if source and one.time > source.time]
    if call.name in ("ARMCI_Lock", "ARMCI_Unlock", "ARMCI_Destroy_mutexes", "ARMCI_Create_mutexes"):
        state = [one for one in earlier if one.name in ("ARMCI_Create_mutexes", "ARMCI_Destroy_mutexes") and one.result == "0"]
        if state and (call.name.endswith("mutexes") or state[-1].name == "ARMCI_Create_mutexes"):
            found += state[-1:] if state[-1].name == "ARMCI_Create_mutexes" or call.name == "ARMCI_Destroy_mutexes" else []
    if call.name in ("ARMCI_Group_create",):
        found += [one for one in earlier if one.name == "ARMCI_Group_set_default"][-1:]
    if call.name == "ARMCI_Free_local":
        found += [one for one in earlier if one.name == "ARMCI_Malloc_local" and one.result == call.values[0]][-1:]
    return found


def _latest(earlier: Sequence[Call], names: Sequence[str], address: str) -> list[Call]:
    return [one for one in earlier if one.name in names and address in one.values][-1:]
