"""Gives the addresses in recorded calls names that mean the same in another run: a region's part and an offset, or an
offset in a local buffer."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import Iterator, Optional, Sequence

from armci_tool.reproducers.trace import Call, Process, signature

ALLOCATES = ("ARMCI_Malloc", "ARMCI_Malloc_memdev", "ARMCI_Malloc_group", "ARMCI_Malloc_group_memdev")
FREES = ("ARMCI_Free", "ARMCI_Free_memdev", "ARMCI_Free_group")
# An address so near to a region is meant to miss it.
_NEAR_BYTES = 4096
# Addresses that no memory has: tests pass them as they are.
_LOWEST_ADDRESS = 4096
# More of a vector descriptor are not recorded.
SEGMENTS_MAX = 64
# Local addresses closer to each other lie in one buffer.
_GAP_BYTES = 256
# The longest local buffer of a program.
BUFFER_BYTES_MAX = 1 << 33
CREATES_GROUP = ("ARMCI_Group_create", "ARMCI_Group_create_child", "ARMCI_Group_get_default", "ARMCI_Group_get_world")
# By these two groups differ: the communicator comes first, or what stands for it.
_GROUP_KEY_BYTES = 8


def ints(content: bytes, count: int) -> list[int]:
    """The first numbers of an array of int."""
    count = max(0, min(count, len(content) // 4))
    return list(struct.unpack(f"={count}i", content[:4 * count]))


def pointers(content: bytes, count: int) -> list[int]:
    """The first addresses of an array."""
    count = max(0, min(count, len(content) // 8))
    return list(struct.unpack(f"={count}Q", content[:8 * count]))


def levels_of(call: Call) -> int:
    """The stride levels of a strided call, as far as arrays were recorded."""
    return max(0, min(call.value("stride_levels") or 0, 9))


def group_source(process: Process, call: Call, name: str) -> Optional[Call]:
    """The call that made the group of an argument: at that address, or at another one that it was copied from."""
    address = call.values[signature(call.name).index(name)]
    made = [one for one in process.calls() if one.time < call.time and one.name in CREATES_GROUP and one is not call]
    content = call.content(name)[:_GROUP_KEY_BYTES]
    same = [one for one in made if one.values[signature(one.name).index("out")] == address]
    copied = [one for one in made if any(content) and one.content("out", after=True)[:_GROUP_KEY_BYTES] == content]
    fitting = [one for one in same if one in copied]
    return next(iter([*reversed(fitting), *reversed(copied), *reversed(same)]), None)


def extent_of(call: Call, name: str) -> int:
    """The bytes that a call may touch from a pointer argument on."""
    if name in ("src", "dst") and (size := call.value("bytes")) is not None:
        return max(size, 1)
    if name in ("src", "dst") and signature(call.name).index("stride_levels") >= 0:
        levels = levels_of(call)
        count, strides = ints(call.content("count"), levels + 1), ints(call.content(f"{name}_stride"), levels)
        spans = [stride * (number - 1) for stride, number in zip(strides, count[1:]) if number > 0 and stride > 0]
        return max(1, sum(spans) + max(count[:1] + [1]))
    if name in ("x", "buf"):
        number = call.value("n") or call.value("len") or call.value("buflen") or 1
        return max(1, 8 * number)
    return 64


@dataclass
class Region:
    """One collective allocation as a process sees it."""

    number: int
    call: Call
    bases: list[int]
    sizes: list[int]
    freed: Optional[Call] = None

    def offset(self, rank: int, address: int) -> Optional[int]:
        """Of an address in the part of a rank, or near it; None if it is elsewhere."""
        if rank >= len(self.bases) or not self.bases[rank]:
            return None
        offset = address - self.bases[rank]
        return offset if -_NEAR_BYTES <= offset < self.sizes[rank] + _NEAR_BYTES else None


def regions_of(process: Process, world: Sequence[Process]) -> list[Region]:
    """The regions of a process, in the order of their allocation. The n-th allocation of each process is one."""
    sizes = [[call.value("bytes") or 0 for call in one.calls() if call.name in ALLOCATES] for one in world]
    made: list[Region] = []
    for call in process.calls():
        if call.name in ALLOCATES and call.result == "0":
            bases = pointers(call.content("ptr", after=True), process.size)
            number = len([one for one in process.calls() if one.name in ALLOCATES and one.time < call.time])
            own = [size[number] if number < len(size) else call.value("bytes") or 0 for size in sizes]
            made.append(Region(number, call, bases, (own + [own[0] if own else 0] * len(bases))[:max(len(bases), 1)]))
        elif call.name in FREES:
            for region in reversed(made):
                if region.freed is None and call.value("ptr") and call.value("ptr") == region.bases[max(process.rank, 0)]:
                    region.freed = call
                    break
    return made


@dataclass
class Places:
    """The addresses of one process' chosen calls."""

    process: Process
    regions: list[Region]
    # Begin and end of each local buffer, in the order of their use.
    buffers: list[tuple[int, int]] = field(default_factory=list)

    def in_region(self, address: int, proc: Optional[int], before: Call) -> Optional[tuple[Region, int, int]]:
        """Region, rank and offset. Parts of two ranks may have one address: `proc` says which is meant."""
        made = [region for region in self.regions if region.call.time < before.time]
        alive = [region for region in made if region.freed is None or region.freed.time > before.time]
        ranks = [proc] if proc is not None and proc >= 0 else [self.process.rank]
        for region in [*reversed(alive), *reversed([one for one in made if one not in alive])]:
            for rank in ranks:
                if (offset := region.offset(rank, address)) is not None:
                    return region, rank, offset
        return None

    def note(self, address: int, extent: int) -> None:
        """A local address that the calls use."""
        if address < _LOWEST_ADDRESS or extent > BUFFER_BYTES_MAX:
            return
        begin, end = address, address + extent
        kept: list[tuple[int, int]] = []
        at = len(self.buffers)
        for number, (first, last) in enumerate(self.buffers):
            if first - _GAP_BYTES <= end and begin <= last + _GAP_BYTES:
                begin, end, at = min(begin, first), max(end, last), min(at, number)
            else:
                kept.append((first, last))
        kept.insert(min(at, len(kept)), (begin, end))
        self.buffers = kept

    def sizes(self) -> list[int]:
        """The bytes of each local buffer, which keeps the alignment of its addresses to 64."""
        return [end - begin + begin % 64 for begin, end in self.buffers]

    def local(self, address: int) -> str:
        """The expression for a local address."""
        for number, (begin, end) in enumerate(self.buffers):
            if begin <= address <= end:
                offset = address - begin + begin % 64
                return f"b{number} + {offset}" if offset else f"b{number}"
        return f"(void *)0x{address:x}" if address else "NULL"


def is_remote(call: Call, name: str) -> bool:
    """Whether a pointer argument is an address of the process that the call names."""
    if name == "prem" or (name == "flag" and "flag" in call.name):
        return True
    return name == ("src" if "Get" in call.name else "dst") and signature(call.name).index("proc") >= 0


def addresses(call: Call) -> Iterator[tuple[int, int, bool]]:
    """Every address of a call that is not a handle, a group or an array of numbers: address, extent, whether remote."""
    for parameter, value in zip(signature(call.name).parameters, call.values):
        if is_plain(parameter.type, parameter.name) and value.startswith("0x"):
            yield int(value, 16), extent_of(call, parameter.name), is_remote(call, parameter.name)
    get = "Get" in call.name
    for size, _, pairs in call.descriptors:
        for source, target in pairs:
            yield source, max(size, 1), get
            yield target, max(size, 1), not get


def is_plain(kind: str, name: str) -> bool:
    """Whether a pointer parameter is memory that a program has to provide as such."""
    if not kind.endswith("*") or kind.startswith(("ARMCI_Group", "armci_hdl_t", "armci_giov_t", "const char")):
        return False
    return name not in ("src_stride", "dst_stride", "count", "scale", "pids") and "**" not in kind.replace(" ", "")
