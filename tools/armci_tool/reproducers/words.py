"""One recorded call as words of C."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import Optional

from armci_tool.reproducers import places
from armci_tool.reproducers.trace import Call, Parameter, signature

# The C type of an element, by the name of a datatype of accumulates or of messages, and its letters for struct.
ELEMENTS = {"ARMCI_ACC_INT": ("int", "i", 1), "ARMCI_ACC_LNG": ("long", "q", 1), "ARMCI_ACC_FLT": ("float", "f", 1),
            "ARMCI_ACC_DBL": ("double", "d", 1), "ARMCI_ACC_CPL": ("float", "f", 2), "ARMCI_ACC_DCP": ("double", "d", 2),
            "ARMCI_INT": ("int", "i", 1), "ARMCI_LONG": ("long", "q", 1), "ARMCI_LONG_LONG": ("long long", "q", 1),
            "ARMCI_FLOAT": ("float", "f", 1), "ARMCI_DOUBLE": ("double", "d", 1)}
_BY_TYPE = {"int *": "ARMCI_INT", "long *": "ARMCI_LONG", "armci_long_long_t *": "ARMCI_LONG_LONG", "float *": "ARMCI_FLOAT",
            "double *": "ARMCI_DOUBLE"}
_CONSTANTS = {"datatype": "datatype", "domain": "domain", "scope": "scope", "type": "type", "op": "rmw"}


@dataclass
class Names:
    """The names of handles and groups of one process, by their addresses."""

    handles: list[int] = field(default_factory=list)
    groups: list[int] = field(default_factory=list)

    @staticmethod
    def _name(known: list[int], address: int, letter: str) -> str:
        if address == 0:
            return "NULL"
        if address not in known:
            known.append(address)
        return f"&{letter}[{known.index(address)}]"

    def handle(self, address: int) -> str:
        """Of a handle."""
        return self._name(self.handles, address, "h")

    def group(self, address: int) -> str:
        """Of a group."""
        return self._name(self.groups, address, "g")


@dataclass
class Writer:
    """Writes the calls of one process."""

    made: places.Places
    names: Names = field(default_factory=Names)
    # The number of a region in the program, by its number in the trace.
    regions: dict[int, int] = field(default_factory=dict)
    # The greatest number of segments of each vector descriptor.
    segments: int = places.SEGMENTS_MAX

    def statements(self, call: Call) -> tuple[list[str], str]:
        """The lines that prepare a call, and the call."""
        before = self._contents(call)
        if call.descriptors:
            before += self._descriptors(call)
        words = [self._argument(call, parameter, value)
                 for parameter, value in zip(signature(call.name).parameters, call.values)]
        return before, f"{call.name}({', '.join(words)})"

    def _argument(self, call: Call, parameter: Parameter, value: str) -> str:
        kind, name = parameter.type, parameter.name
        if not value.startswith("0x"):
            return self._constant(name, value)
        address = int(value, 16)
        if kind.startswith("armci_hdl_t"):
            return self.names.handle(address)
        if kind.startswith("ARMCI_Group"):
            source = call if name == "out" else places.group_source(self.made.process, call, name) if address else None
            return self.names.group(source.time if source else address)
        if kind.startswith("const char"):
            return _literal(call.content(name)) if address else "NULL"
        if kind.startswith("armci_giov_t"):
            return "v" if call.descriptors else "NULL"
        if name == "ptr" and call.name in places.ALLOCATES:
            return f"base[{self.regions.get(self._number(call), 0)}]"
        if name in ("src_stride", "dst_stride", "count", "pids"):
            return self._numbers(call, name, address)
        if name == "scale":
            return self._scale(call, address)
        return self.address(call, address, places.is_remote(call, name))

    def address(self, call: Call, address: int, remote: bool) -> str:
        """A place in a region, or in a local buffer."""
        found = self.made.in_region(address, call.value("proc") if remote else None, call)
        if found and found[0].number in self.regions:
            region, rank, offset = found
            owner = "me" if rank == self.made.process.rank else str(rank)
            base = f"base[{self.regions[region.number]}][{owner}]"
            base = f"(char *){base}" if offset else base
            return f"{base} + {offset}" if offset > 0 else f"{base} - {-offset}" if offset < 0 else base
        return self.made.local(address)

    def _number(self, call: Call) -> int:
        return next((region.number for region in self.made.regions if region.call is call), -1)

    def _constant(self, name: str, value: str) -> str:
        constants = self.made.process.constants
        if (kind := _CONSTANTS.get(name)) and value.lstrip("-").isdigit():
            return constants.get((kind, int(value)), value)
        return value

    @staticmethod
    def _numbers(call: Call, name: str, address: int) -> str:
        levels = places.levels_of(call)
        count = (call.value("n") or 0) if name == "pids" else levels + (name == "count")
        if address == 0:
            return "NULL"
        numbers = places.ints(call.content(name), count)
        return f"(int[]){{{', '.join(map(str, numbers)) or '0'}}}"

    def _scale(self, call: Call, address: int) -> str:
        element = ELEMENTS.get(self._constant("datatype", str(call.value("datatype"))))
        if address == 0:
            return "NULL"
        if not element:
            return "(double[]){1, 0}"
        return f"({element[0]}[]){{{', '.join(_decoded(call.content('scale'), element[1], element[2]))}}}"

    def _contents(self, call: Call) -> list[str]:
        """The values of small local buffers that the call reads: of messages, and of a swap."""
        name = next((one for one in ("x", "ploc") if signature(call.name).index(one) >= 0), "")
        if not name:
            return []
        element = self.element(call, name)
        number = (call.value("n") or 0) if name == "x" else 1
        values = _decoded(call.content(name), element[1], number * element[2])
        if not values or len(values) < number:
            return []
        place = self._argument(call, Parameter("void *", name), call.values[signature(call.name).index(name)])
        if place.startswith(("NULL", "(void")):
            return []
        return [f"memcpy({place}, ({element[0]}[]){{{', '.join(values)}}}, {len(values)} * sizeof({element[0]}));"]

    def element(self, call: Call, name: str) -> tuple[str, str, int]:
        """The type of the elements that a pointer argument points to."""
        kind = signature(call.name).parameters[signature(call.name).index(name)].type
        if name == "ploc":
            return ELEMENTS["ARMCI_LONG" if "LONG" in self._constant("op", str(call.value("op"))) else "ARMCI_INT"]
        by_argument = self._constant("type", str(call.value("type")))
        return ELEMENTS.get(by_argument) or ELEMENTS[_BY_TYPE.get(kind, "ARMCI_INT")]

    def _descriptors(self, call: Call) -> list[str]:
        lines = []
        get = "Get" in call.name
        for number, (size, length, every) in enumerate(call.descriptors):
            length, pairs = min(length, self.segments), every[:self.segments]
            sides = [", ".join(self.address(call, pair[side], get == (side == 0)) for pair in pairs) or "NULL" for side in (0, 1)]
            lines += [f"void *s{number}[] = {{{sides[0]}}}, *d{number}[] = {{{sides[1]}}};"]
            fields = {"src_ptr_array": f"s{number}", "dst_ptr_array": f"d{number}", "bytes": size, "ptr_array_len": length}
            lines += [" ".join(f"v[{number}].{name} = {value};" for name, value in fields.items())]
        return [f"armci_giov_t v[{max(1, len(call.descriptors))}];", *lines]


def _decoded(content: bytes, letter: str, number: int) -> list[str]:
    size = struct.calcsize(letter)
    number = max(0, min(number, len(content) // size))
    values = struct.unpack(f"={number}{letter}", content[:number * size])
    return [_number(value) for value in values]


def _number(value: float) -> str:
    text = repr(value)
    return "0" if text in ("nan", "inf", "-inf") else text


def _literal(content: bytes) -> str:
    text = content.split(b"\0")[0][:40].decode("ascii", "replace")
    return '"' + "".join(c if 32 <= ord(c) < 127 and c not in '"\\' else "?" for c in text) + '"'


def result_type(name: str) -> Optional[str]:
    """The type of the value of a call; None where it has none."""
    kind = signature(name).result
    return None if kind == "void" else kind
