"""Programs that show failures: what is written of a record of calls."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Optional

import pytest
from armci_tool.reproducers import causes, maker, program, slices, trace

STORY = program.Story("XFER.XFER1_a", "XFER-1", "A put moves bytes.", "theirs, openmpi", "a byte", 2)
# Two processes with a region of 64 bytes each, whose parts begin at these addresses for both.
BASES = (0x100000, 0x200000)
LOCAL = 0x7F0000000040


def hexed(*numbers: int, size: str = "Q") -> str:
    """Numbers as a record has them in memory."""
    return struct.pack(f"={len(numbers)}{size}", *numbers).hex()


class Record:
    """Writes the record of a job of two processes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.time = 0
        self.lines: dict[int, list[str]] = {0: [], 1: []}
        for rank in (0, 1):
            self.add(rank, "N datatype ARMCI_ACC_INT 3", "N rmw ARMCI_SWAP 2", f"P {rank} 2 3")
            self.add(rank, "E test XFER.XFER1_a")
            self.call(rank, "ARMCI_Init")
        for rank in (0, 1):
            self.call(rank, "ARMCI_Malloc 0x500000 64", after=f"A 0 {hexed(*BASES)}")

    def add(self, rank: int, *texts: str) -> None:
        """Lines of a process."""
        for text in texts:
            self.time += 1
            self.lines[rank].append(f"{self.time} {rank} {text}")

    def call(self, rank: int, text: str, before: str = "", after: str = "", result: Optional[str] = "0") -> None:
        """A call that returns, unless the result is None."""
        self.add(rank, f"C {text}", *([before] if before else []), *([after] if after else []))
        if result is not None:
            self.add(rank, f"R {result}")

    def read(self) -> list[trace.Process]:
        """The processes as the tool reads them."""
        for rank, lines in self.lines.items():
            (self.folder / f"{rank + 1}.setup").write_text("\n".join(lines) + "\n")
            (self.folder / f"{rank + 1}.0").write_text("\n".join(lines[-2:]) + "\n")
        return trace.read(self.folder)


@pytest.fixture
def record(tmp_path: Path) -> Record:
    return Record(tmp_path)


def first_text(processes: list[trace.Process], detail: str = "the job ended with status 1") -> str:
    """The program of the first guess."""
    guess = next(causes.guesses(processes, detail))
    return program.write(slices.choose(guess.processes, guess.seeds), guess.judge, STORY)


def test_a_call_in_two_files_is_one(record: Record) -> None:
    record.call(0, f"ARMCI_Put {LOCAL:#x} {BASES[1]:#x} 8 1")
    [first, second] = record.read()
    assert (first.rank, second.rank, first.size, first.mpi_first) == (0, 1, 2, True)
    assert [call.name for call in first.calls()] == ["ARMCI_Init", "ARMCI_Malloc", "ARMCI_Put"]


def test_the_call_that_did_not_return_is_the_program_with_the_memory_it_needs(record: Record) -> None:
    record.call(1, f"ARMCI_Put {LOCAL:#x} {BASES[0] + 8:#x} 8 0", result=None)
    text = first_text(record.read())
    assert "  CALL(ARMCI_Malloc(base[0], 64));" in text
    assert "if (me == 1) CALL(ARMCI_Put(b0, (char *)base[0][0] + 8, 8, 0));" in text
    assert text.count("ARMCI_Malloc") == 1 and text.count("\n") <= program.LINES_MAX
    assert text.startswith("/* XFER-1: A put moves bytes.\n")


def test_memory_that_is_no_region_is_a_buffer_and_small_addresses_stay(record: Record) -> None:
    record.call(0, f"ARMCI_Put 0x0 {LOCAL + 8:#x} 8 1", result=None)
    assert "ARMCI_Put(NULL, b0 + 8, 8, 1)" in first_text(record.read())
    record.lines[0].pop()
    record.call(0, "ARMCI_Put 0x40 0x40 0 1", result=None)
    assert "ARMCI_Put((void *)0x40, (void *)0x40, 0, 1)" in first_text(record.read())


def test_a_freed_region_is_freed_in_the_program(record: Record) -> None:
    for rank in (0, 1):
        record.call(rank, f"ARMCI_Free {BASES[rank]:#x}")
    record.call(0, f"ARMCI_Put {LOCAL:#x} {BASES[1]:#x} 8 1", result=None)
    text = first_text(record.read())
    assert text.index("CALL(ARMCI_Free(base[0][me]));") < text.index("CALL(ARMCI_Put(b0, base[0][1], 8, 1));")


def test_the_group_of_a_copied_struct_is_that_of_its_creation(record: Record) -> None:
    for rank in (0, 1):
        record.call(rank, "ARMCI_Group_get_world 0x600000", after=f"A 0 {hexed(77)}")
    record.call(0, "ARMCI_Absolute_id 0x700000 2", before=f"B 0 {hexed(77)}", result=None)
    text = first_text(record.read())
    assert "ARMCI_Group_get_world(&g[0])" in text and "ARMCI_Absolute_id(&g[0], 2)" in text


def test_a_result_code_that_is_no_success_is_checked(record: Record) -> None:
    record.call(0, f"ARMCI_Put {LOCAL:#x} {BASES[1]:#x} 8 1", result="5")
    record.add(0, "E fail the put returned 5 (seed 1)")
    assert "CHECK(long, ARMCI_Put(b0, base[0][1], 8, 1), ==, 0);" in first_text(record.read(), "FAIL")


def test_a_read_of_wrong_bytes_is_compared_with_a_serial_model(record: Record) -> None:
    strides = f"B 1 {hexed(16, size='i')}"
    record.call(0, f"ARMCI_PutS {LOCAL:#x} 0x800000 {BASES[1]:#x} 0x800000 0x800010 1 1", before=strides)
    record.add(0, "E fail Value of: same\tActual: false (1 of 64 bytes differ, offsets 3 to 3)")
    # The arrays of the put follow its line.
    put = next(at for at, line in enumerate(record.lines[0]) if "PutS" in line)
    head = record.lines[0][put].rsplit(" C ", 1)[0]
    record.lines[0][put + 1:put + 2] = [f"{head} B 1 {hexed(16, size='i')}", f"{head} B 3 {hexed(8, size='i')}",
                                        f"{head} B 4 {hexed(4, 3, size='i')}"]
    record.time += 1
    fail = record.lines[0].pop()
    record.call(0, f"ARMCI_Get {BASES[1]:#x} {LOCAL + 256:#x} 64 1")
    record.lines[0].append(f"{record.time + 1} {fail.split(' ', 1)[1]}")
    text = first_text(record.read(), "FAIL")
    assert "move(want + 0, (int[]){8}, b0, (int[]){16}, (int[]){4, 3}, 1);" in text
    assert "want[0 + i]" in text and text.count("\n") <= program.LINES_MAX


def test_a_process_that_waits_in_vain_computes_in_the_program(record: Record) -> None:
    record.call(0, f"ARMCI_Put {LOCAL:#x} {BASES[1]:#x} 8 1")
    record.add(1, "E gave_up the put of its neighbour")
    text = first_text(record.read(), "FAIL")
    assert "if (me == 1)\n    for (double end = MPI_Wtime()" in text and "alarm(2)" in text


def test_a_call_that_should_end_the_job_fails_when_it_returns(record: Record) -> None:
    for rank in (0, 1):
        record.lines[rank].insert(0, f"0 {rank} E child bad_input fence")
        record.call(rank, "ARMCI_Fence 99", result="")
    text = first_text(record.read(), "Expected: (result.status) != (0), actual: 0 vs 0\nARMCI_Fence: status 0")
    assert "ARMCI_Fence(99)" in text and "expected: it ends the job" in text
    assert "if (setjmp(reported) == 0)" in text


def test_only_the_predicted_failure_counts() -> None:
    guess = causes.Guess((), {1: [trace.Call(1, 1, "ARMCI_Put", [])]}, program.Judge())
    assert maker.is_meant("process 0: ARMCI_Put(b0, b1, 8, 0) ended the job", guess)
    assert not maker.is_meant("process 0: ARMCI_Malloc(base[0], 8) does not return", guess)
    result = causes.Guess((), guess.seeds, program.Judge("result"))
    assert not maker.is_meant("process 0: ARMCI_Put(b0, b1, 8, 0) ended the job", result)
