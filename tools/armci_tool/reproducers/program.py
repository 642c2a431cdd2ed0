"""Writes a program in plain C of chosen calls, which judges by itself what they do."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Iterator, Optional, Sequence

from armci_tool.reproducers import models, places, slices
from armci_tool.reproducers.slices import Slice
from armci_tool.reproducers.trace import Call, Process, signature
from armci_tool.reproducers.words import Names, Writer, result_type

LINES_MAX = 60
_WIDTH = 118
# As the record counts them.
_LEVELS = ("MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED", "MPI_THREAD_SERIALIZED", "MPI_THREAD_MULTIPLE")
# A call that takes longer does not return; one that waits for a process that computes has that time too.
_PATIENCE_S = 5
_COMPUTE_S = 4
_PROGRESS_S = 2


# How a call that does not come back is reported. A process without a call died of what an earlier one has done.
_SAYS = ["static void say(const char *what) {",
         '  printf("FAIL [%s]: process %d: %s %s\\n", CLAUSE, me, now ? now : "a later call", what), now = NULL;', "  fflush(stdout);", "}"]
_DEATHS = ['static void ended(void) { if (now) say("ended the job"); }',
           "int MPI_Abort(MPI_Comm comm, int code) { ended(); return PMPI_Abort(comm, code ? code : 1); }"]


@dataclass(frozen=True)
class Judge:
    """How a program finds the failure, in the chosen calls of the first process.

    returns     every call returns
    ends        the last call ends the job, with a status that is not 0
    progress    every call returns, while process `other` computes
    result      the last call returns a value such that VALUE `operator` `wanted`
    value       `expression` has such a value after the last call
    warns       the last call prints a warning in one process at least
    bytes       the last call, a get, reads what the calls before have stored
    """

    kind: str = "returns"
    operator: str = "=="
    wanted: str = "0"
    expression: str = ""
    type: str = "long"
    other: int = -1


@dataclass(frozen=True)
class Story:
    """The words at the top of a program."""

    test: str
    clause: str
    clause_text: str
    library: str
    found: str
    processes: int


@dataclass
class _Step:
    """One line or a few of one process, or of all."""

    time: int
    rank: Optional[int]
    lines: list[str]
    epoch: int = 0
    last: bool = False
    name: str = ""


@dataclass
class _Maker:
    made: Slice
    judge: Judge
    story: Story
    segments: int
    names: Names = field(default_factory=Names)
    buffers: list[int] = field(default_factory=list)
    regions: dict[int, int] = field(default_factory=dict)
    helpers: set[str] = field(default_factory=set)
    model: Optional[models.Model] = None

    def steps(self) -> list[_Step]:
        """The calls of all processes in order, where equal ones of a collective call are one."""
        numbers = sorted({region.number for process in self.made.processes for region in self.made.regions[process.identifier]
                          if self.made.has(process, region.call)}
                         | {number for process in self.made.processes
                            for number, call in enumerate(one for one in process.calls() if one.name in places.ALLOCATES)
                            if self.made.has(process, call)})
        self.regions = {number: at for at, number in enumerate(numbers)}
        found = [step for process in self.made.processes for step in self._of(process)]
        return sorted(_merged(found, len(self.made.processes)), key=lambda step: step.time)

    def _of(self, process: Process) -> Iterator[_Step]:
        calls = self.made.chosen[process.identifier]
        place = places.Places(process, self.made.regions[process.identifier])
        for call in calls:
            for address, extent, remote in places.addresses(call):
                found = place.in_region(address, call.value("proc") if remote else None, call)
                if not found or found[0].number not in self.regions:
                    place.note(address, extent)
        self.buffers = [max(pair) for pair in zip_longest(self.buffers, place.sizes(), fillvalue=0)]
        writer = Writer(place, Names(), self.regions, self.segments)
        first = process is self.made.processes[0]
        if first and self.judge.kind == "bytes":
            self.model = models.model_of(calls, writer)
        for call in calls:
            if call.name in (*slices.STARTS, "ARMCI_Finalize") and not self._is_last(process, call):
                continue
            yield _Step(call.time, process.rank, self._lines(process, call, writer), self._epoch(process, call),
                        self._is_last(process, call), call.name)
        self.names.handles = max(self.names.handles, writer.names.handles, key=len)
        self.names.groups = max(self.names.groups, writer.names.groups, key=len)

    def _is_last(self, process: Process, call: Call) -> bool:
        """Whether the failure shows in it; the others may have a part in it too."""
        chosen, first = (self.made.chosen[one.identifier] for one in (process, self.made.processes[0]))
        if not chosen or call is not chosen[-1]:
            return False
        return process is self.made.processes[0] or (call.name == first[-1].name and slices.is_collective(call.name))

    @staticmethod
    def _epoch(process: Process, call: Call) -> int:
        return sum(event.time < call.time for event in process.events("meet"))

    def _lines(self, process: Process, call: Call, writer: Writer) -> list[str]:
        before, text = writer.statements(call)
        last = self._is_last(process, call)
        if call.name in places.ALLOCATES and call.result == "0" and "group" not in call.name and not last:
            self.helpers.add("CALL")
            region = f"base[{writer.regions.get(_number(writer, call), 0)}][me]"
            size = call.value("bytes") or 0
            # As tests do: a region starts as zero bytes.
            return [*before, f"CALL({text});", *([f"memset({region}, 0, {size});"] if 0 < size < 1 << 31 else [])]
        if last and self.judge.kind == "result" and result_type(call.name):
            self.helpers.add("CHECK")
            return [*before, f"CHECK({self.judge.type}, {text}, {self.judge.operator}, {self.judge.wanted});"]
        self.helpers.add("CALL")
        lines = [*before, f"CALL({text});"]
        if last and self.judge.kind == "warns":
            return [*before, "FILE *said = tmpfile();", "int console = dup(2), own, sum;", "dup2(fileno(said), 2);", f"CALL({text});",
                    "dup2(console, 2);", "own = lseek(fileno(said), 0, SEEK_END);",
                    "MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);",
                    'if (sum == 0) printf("FAIL [%s]: the call prints nothing, expected: a warning\\n", CLAUSE), failed = 1;']
        if self.model and process is self.made.processes[0]:
            lines += self.model.after(call)
        if last and self.judge.kind == "value":
            self.helpers.add("CHECK")
            lines.append(f"CHECK({self.judge.type}, {self._expression(call, writer)}, {self.judge.operator}, {self.judge.wanted});")
        if last and self.judge.kind == "ends":
            lines[-1] = f"if (setjmp(reported) == 0) {{ {lines[-1]}"
            lines.append('printf("FAIL [%s]: a call with bad input returned, expected: it ends the job\\n", CLAUSE), failed = 1; }')
        return lines

    def _expression(self, call: Call, writer: Writer) -> str:
        """With {name+offset} in the place of arguments, and {base} in that of the caller's part of an allocation."""
        def replaced(found: re.Match[str]) -> str:
            if found[1] == "base":
                return f"base[{writer.regions.get(_number(writer, call), 0)}][me]"
            name, _, offset = found[1].partition("+")
            address = int(call.values[signature(call.name).index(name)], 16) + int(offset or 0)
            return "(" + writer.address(call, address, places.is_remote(call, name)) + ")"
        return re.sub(r"\{([\w+]+)\}", replaced, self.judge.expression)


def _number(writer: Writer, call: Call) -> int:
    """The number of an allocation among those of its process."""
    return len([one for one in writer.made.process.calls() if one.name in places.ALLOCATES and one.time < call.time])


def _merged(steps: Sequence[_Step], processes: int) -> Iterator[_Step]:
    """The n-th collective call of a name is one call of all processes. Where its words differ it stays one of each."""
    groups: dict[tuple[str, int], list[_Step]] = {}
    seen: dict[tuple[Optional[int], str], int] = {}
    for step in steps:
        if not slices.is_collective(step.name):
            yield step
            continue
        number = seen[(step.rank, step.name)] = seen.get((step.rank, step.name), 0) + 1
        groups.setdefault((step.name, number), []).append(step)
    for group in groups.values():
        time = max(step.time for step in group)
        if len(group) == processes and len({tuple(step.lines) for step in group}) == 1:
            yield _Step(time, None, group[0].lines, group[0].epoch, any(step.last for step in group), group[0].name)
        else:
            yield from (_Step(time, step.rank, step.lines, step.epoch, step.last, step.name) for step in group)


def write(made: Slice, judge: Judge, story: Story, segments: int = places.SEGMENTS_MAX) -> str:
    """The program; `segments` is the greatest number of each vector descriptor."""
    maker = _Maker(made, judge, story, segments)
    steps = maker.steps()
    body = [f"  {line}" for line in _body(steps, made)]
    lines = [*_comment(story, judge), *_head(maker, steps), *_main(maker), *body, *_tail(maker)]
    return "\n".join(line for line in lines if line) + "\n"


def _comment(story: Story, judge: Judge) -> list[str]:
    says = {"ends": "the call reports its bad input by ending the job", "progress": "the call returns in bounded time",
            "bytes": "the get reads what was stored", "returns": "every call returns",
            "warns": "the call prints a warning"}
    wanted = says.get(judge.kind, f"a value {judge.operator} {judge.wanted}")
    text = [f"{story.clause}: {story.clause_text}", f"Test {story.test} on {story.library}.",
            f"Expected: {wanted}. Found: {story.found}.",
            f"mpicc THIS_FILE -larmci && mpirun -n {story.processes} ./a.out prints PASS, or FAIL and has a status that is not 0."]
    wrapped = [line for one in text for line in textwrap.wrap(one.replace("*/", "* /"), _WIDTH - 3, break_long_words=False)[:3]]
    return [f"{'/*' if at == 0 else ' *'} {line}" + (" */" if at == len(wrapped) - 1 else "") for at, line in enumerate(wrapped)]


def _head(maker: _Maker, steps: Sequence[_Step]) -> list[str]:
    uses_messages = any("armci_msg" in line or "exchange" in line for step in steps for line in step.lines)
    lines = ["#include <mpi.h>", "#include <setjmp.h>", "#include <signal.h>", "#include <stdio.h>", "#include <stdlib.h>", "#include <string.h>",
             "#include <unistd.h>", "#include <armci.h>"]
    if uses_messages:
        lines += ["#if __has_include(<armci_message.h>)", "#include <armci_message.h>", "#else", "#include <message.h>", "#endif"]
    lines += [f'#define CLAUSE "{maker.story.clause}"', "static int me = -1, failed;", "static const char *volatile now;"]
    patience = _PROGRESS_S if maker.judge.kind == "progress" else _PATIENCE_S
    lines.append(f"#define CALL(call) (now = #call, alarm({patience}), (call), alarm(30), now = NULL)")
    if "CHECK" in maker.helpers:
        lines += [f"#define CHECK(type, value, op, wanted) do {{ now = #value; alarm({patience}); type v = (type)(value); alarm(30); "
                  "now = NULL; \\",
                  '  if (!(v op (wanted))) printf("FAIL [%s]: process %d: %s is %g, expected %s %g\\n", CLAUSE, me, #value, \\',
                  "    (double)v, #op, (double)(wanted)), failed = 1; } while (0)"]
    lines += _SAYS
    if maker.judge.kind == "ends":
        lines += ["static jmp_buf reported;", "int MPI_Abort(MPI_Comm comm, int code) {",
                  "  if (now && code) longjmp(reported, 1);", '  puts("FAIL: the job ends with status 0"), fflush(stdout);',
                  "  return PMPI_Abort(comm, 1);", "}"]
    else:
        lines += _DEATHS
    lines.append("static void died(int number) { say(number == SIGALRM ? \"does not return\" : strsignal(number)); _exit(1); }")
    return lines + (list(maker.model.helpers()) if maker.model else [])


def _main(maker: _Maker) -> list[str]:
    lines = ["int main(int argc, char **argv) {", "  int all, provided;", "  for (int s = 1; s < 16; s++) if (s != SIGKILL && s != SIGTERM) signal(s, died);"]
    if maker.judge.kind != "ends":
        lines.append("  atexit(ended);")
    process = maker.made.processes[0]
    starts, ends = _before(maker.made, slices.STARTS), _before(maker.made, slices.ENDS)
    if _has_mpi(maker.made):
        lines += ["  MPI_Init_thread(&argc, &argv, " + _LEVELS[process.level] + ", &provided);",
                  "  MPI_Comm_rank(MPI_COMM_WORLD, &me);"]
    if starts:
        level = starts[0].values[0] if starts[0].name == "ARMCI_Init_thread" else ""
        lines.append("  ARMCI_Init_args(&argc, &argv);" if "args" in starts[0].name else
                     f"  ARMCI_Init_thread({level});" if level else "  ARMCI_Init();")
    if ends:
        lines.append("  ARMCI_Finalize();")
    if maker.regions:
        lines.append(f"  static void *base[{len(maker.regions)}][{max(2, process.size)}];")
    for letter, kind, count in (("h", "armci_hdl_t", len(maker.names.handles)), ("g", "ARMCI_Group", len(maker.names.groups))):
        if count:
            lines.append(f"  static {kind} {letter}[{count}];")
    if maker.names.handles:
        lines.append(f"  for (int i = 0; i < {len(maker.names.handles)}; i++) ARMCI_INIT_HANDLE(&h[i]);")
    for number, size in enumerate(maker.buffers):
        rounded = (max(size, 64) + 127) // 64 * 64
        lines.append(f"  char *b{number} = aligned_alloc(64, {rounded}L);")
        if size <= 1 << 28:
            lines.append(f"  for (long i = 0; i < {rounded}; i++) b{number}[i] = (char)(1 + i % 100);")
    return lines + (maker.model.declarations() if maker.model else [])


def _body(steps: Sequence[_Step], made: Slice) -> list[str]:
    """Neighbours of one process are one block."""
    lines: list[str] = []
    blocks: list[list[_Step]] = []
    for step in steps:
        if blocks and blocks[-1][0].rank == step.rank and step.rank is not None:
            blocks[-1].append(step)
        else:
            blocks.append([step])
    for at, block in enumerate(blocks):
        before, rank = blocks[at - 1][-1] if at else block[0], block[0].rank
        if at and before.epoch != block[0].epoch and rank is not None and len(made.processes) > 1:
            lines.append("MPI_Barrier(MPI_COMM_WORLD);")
        content = [line for step in block for line in _scoped(step.lines, len(block) > 1)]
        if rank is None or len(made.processes) == 1:
            lines += [line for step in block for line in _scoped(step.lines, True)]
        elif len(content) == 1:
            lines.append(f"if (me == {rank}) {content[0]}")
        else:
            lines += _block(f"if (me == {rank}) ", content)
    return [piece for line in lines for piece in _wrapped(line)]


def _scoped(lines: Sequence[str], shared: bool) -> list[str]:
    """Lines with variables of their own, in a block where others share the scope."""
    return _block("", lines) if shared and lines[0].startswith(("armci_giov_t", "FILE *")) else list(lines)


def _block(head: str, lines: Sequence[str]) -> list[str]:
    return [f"{head}{{", *(f"  {line}" for line in lines), "}"]


def _wrapped(line: str) -> list[str]:
    indent = len(line) - len(line.lstrip())
    return textwrap.wrap(line, _WIDTH, subsequent_indent=" " * (indent + 4), break_long_words=False,
                         break_on_hyphens=False) or [line]


def _tail(maker: _Maker) -> list[str]:
    process = maker.made.processes[0]
    lines = []
    if maker.judge.kind == "progress":
        lines += [f"  if (me == {maker.judge.other})", f"    for (double end = MPI_Wtime() + {_COMPUTE_S}; MPI_Wtime() < end;) {{}}"]
    if not _has_mpi(maker.made) and process.rank < 0:
        # The library starts and ends MPI.
        return [*lines, "  ARMCI_Finalize();", '  puts("PASS");', "  return 0;", "}"]
    lines += ["  MPI_Allreduce(&failed, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);",
              '  if (all == 0 && me == 0) puts("PASS");', "  fflush(stdout);", "  if (all) _exit(1);"]
    return [*lines, "  ARMCI_Finalize();" if _runs_at_end(maker.made) else "", "  return MPI_Finalize();", "}"]


def _last_time(made: Slice) -> int:
    chosen = made.chosen[made.processes[0].identifier]
    return chosen[-1].time if chosen else 0


def _before(made: Slice, names: Sequence[str]) -> list[Call]:
    """Calls of the first process that start or end the library, before the last one that is chosen."""
    return [call for call in made.processes[0].calls()
            if call.name in names and call.time < _last_time(made) and (call.result == "0" or names is slices.ENDS)]


def _has_mpi(made: Slice) -> bool:
    """Whether the program starts MPI."""
    process, chosen = made.processes[0], made.chosen[made.processes[0].identifier]
    last_starts = bool(chosen) and chosen[-1].name in slices.STARTS
    return process.mpi_first or (process.rank >= 0 and not last_starts and not _before(made, slices.STARTS))


def _runs_at_end(made: Slice) -> bool:
    """Whether the library has to be ended."""
    chosen = made.chosen[made.processes[0].identifier]
    last = chosen[-1].name if chosen else ""
    return last in slices.STARTS or (bool(_before(made, slices.STARTS)) and not _before(made, slices.ENDS) and last not in slices.ENDS)
