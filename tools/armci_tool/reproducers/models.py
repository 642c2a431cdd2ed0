"""The serial model of a program: C that does with plain memory what the calls of one process do, and compares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Sequence

from armci_tool.reproducers import places
from armci_tool.reproducers.trace import Call, signature
from armci_tool.reproducers.words import ELEMENTS, Writer


@dataclass
class Model:
    """Of one part of a region, which the last get reads."""

    region: int  # number in the program
    rank: int
    bytes: int
    last: Call
    writer: Writer
    # The type of the elements of accumulates; empty where there are none.
    element: str = ""

    def helpers(self) -> list[str]:
        """A copy of any shape; where it accumulates, `scale` is not 0."""
        recursion = "  for (int i = 0; l > 0 && i < n[l]; i++) move(d + (long)i * ds[l - 1], ds, s + (long)i * ss[l - 1], ss, n, l - 1"
        head = "static void move(char *d, const int *ds, const char *s, const int *ss, const int *n, int l"
        if not self.element:
            return [f"{head}) {{", "  if (l == 0) memcpy(d, s, n[0]);", f"{recursion});", "}"]
        one = self.element
        return [f"{head}, {one} scale) {{", "  if (l == 0 && scale == 0) memcpy(d, s, n[0]);",
                f"  for (int i = 0; l == 0 && scale != 0 && i < n[0] / (int)sizeof({one}); i++)",
                f"    (({one} *)d)[i] += scale * (({one} *)s)[i];", f"{recursion}, scale);", "}"]

    def declarations(self) -> list[str]:
        """The image of the part."""
        return [f"  char *want = calloc(1, {self.bytes + 1}L);"]

    def after(self, call: Call) -> list[str]:
        """The effect of a call on the image, or the comparison."""
        if call is self.last:
            found = self._offset(call, "src")
            buffer = self.writer.address(call, int(call.values[signature(call.name).index("dst")], 16), False)
            size = call.value("bytes") or 0
            return [f"for (long i = 0; i < {size} && !failed; i++)",
                    f"  if (({buffer})[i] != want[{found} + i]) printf(\"FAIL [%s]: byte %ld of what process %d reads is %d, expected %d\\n\",",
                    f"    CLAUSE, i, me, ({buffer})[i], want[{found} + i]), failed = 1;"]
        if call.descriptors and "Get" not in call.name:
            return self._segments(call)
        offset = self._offset(call, "dst") if "Get" not in call.name else None
        if offset is None:
            return []
        names = [parameter.name for parameter in signature(call.name).parameters]
        if "src" not in names:
            return self._value(call, offset)
        source = self.writer.address(call, int(call.values[names.index("src")], 16), False)
        if "stride_levels" in names:
            levels = places.levels_of(call)
            arrays = [places.ints(call.content(name), levels + (name == "count")) for name in ("dst_stride", "src_stride", "count")]
            to, by, count = ["(int[]){" + (", ".join(map(str, one)) or "0") + "}" for one in arrays]
        else:
            levels, to, by, count = 0, "NULL", "NULL", f"(int[]){{{call.value('bytes')}}}"
        return [f"move(want + {offset}, {to}, {source}, {by}, {count}, {levels}{self._scale(call)});"]

    def _segments(self, call: Call) -> list[str]:
        lines = []
        for number, (size, length, _) in enumerate(call.descriptors):
            length = min(length, self.writer.segments)
            base = f"(char *)base[{self.region}][{self.rank}]"
            lines += [f"for (int i = 0; i < {length}; i++) move(want + ((char *)d{number}[i] - {base}), NULL, s{number}[i], NULL, "
                      f"(int[]){{{size}}}, 0{self._scale(call)});"]
        return lines

    def _value(self, call: Call, offset: int) -> list[str]:
        kind = {"I": "int", "L": "long", "F": "float", "D": "double"}.get(call.name.split("Value")[-1][:1], "")
        return [f"*({kind} *)(want + {offset}) = {call.values[0]};"] if kind and "Value" in call.name else []

    def _scale(self, call: Call) -> str:
        if not self.element:
            return ""
        if "Acc" not in call.name:
            return ", 0"
        return ", *" + self.writer._scale(call, int(call.values[signature(call.name).index("scale")], 16))  # pylint: disable=protected-access

    def _offset(self, call: Call, name: str) -> Optional[int]:
        at = signature(call.name).index(name)
        if at < 0 or not call.values[at].startswith("0x"):
            return None
        found = self.writer.made.in_region(int(call.values[at], 16), call.value("proc"), call)
        if not found or self.writer.regions.get(found[0].number) != self.region or found[1] != self.rank:
            return None
        return found[2]


def model_of(calls: Sequence[Call], writer: Writer) -> Optional[Model]:
    """The model for the last call, if that is a contiguous get from a region."""
    last = calls[-1]
    at = signature(last.name).index("src")
    if last.name != "ARMCI_Get" or at < 0:
        return None
    found = writer.made.in_region(int(last.values[at], 16), last.value("proc"), last)
    if not found or found[0].number not in writer.regions:
        return None
    names = {ELEMENTS.get(writer.made.process.constants.get(("datatype", call.value("datatype") or 0), ""), ("", "", 2))
             for call in calls if "Acc" in call.name}
    if len(names) > 1 or any(element[2] != 1 for element in names):
        return None
    region, rank, _ = found
    return Model(writer.regions[region.number], rank, region.sizes[rank], last, writer, next((one[0] for one in names), ""))
