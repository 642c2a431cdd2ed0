"""The doctor: its table and programs belong together, it understands how a job ended, and it reports without failing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from armci_tool import doctor, launch, process
from helpers import armci

FAULTS = doctor.read_faults()
HEADER = (doctor.PREFLIGHT / "faults.h").read_text()


def result(output: str, status: int = 0, timed_out: bool = False) -> process.Result:
    return process.Result(("job",), status, output, 1.0, timed_out)


def test_every_row_of_the_table_is_read() -> None:
    body = HEADER[HEADER.index("enum class Fault"):HEADER.index("kCount,")]
    assert len(FAULTS) == len(re.findall(r"^  k\w+,", body, re.MULTILINE))
    assert {fault.evidence for fault in FAULTS} == {"Probe", "Version", "Timing"}
    assert all(fault.description.endswith(".") and fault.safe_method.endswith(".") for fault in FAULTS)


def test_every_fault_has_a_program_and_every_program_a_fault() -> None:
    programs = {path.stem for path in (doctor.PREFLIGHT / "reproducers").glob("*.c")}
    assert programs == {fault.id for fault in FAULTS}


def test_every_program_includes_the_shared_header_once() -> None:
    for fault in FAULTS:
        text = fault.source.read_text()
        assert text.count('#include "reproducer.h"\n') == 1, fault.id
        assert text.count("int main(") == 1 and "MPI_Init" not in text, fault.id


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: str(fault.id))
def test_programs_stand_alone(fault: doctor.Fault) -> None:
    text = fault.text
    assert f"mpicc {fault.id}.c -o {fault.id} && mpiexec -n {fault.processes} ./{fault.id}" in text
    assert "Control: " in text and "alarm(" in text
    assert "Status of the program: 0: fault absent; 1: present; 2: the control fails." in text
    assert not re.search(r'#include "|#pragma|armci', text, re.IGNORECASE)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: str(fault.id))
def test_a_program_compiles_alone_and_has_only_what_it_uses(fault: doctor.Fault, tmp_path: Path) -> None:
    (tmp_path / "alone.c").write_text(fault.text)
    compiler = launch.mpi_library(sorted(launch.MPI_LIBRARIES)[0]).compiler
    built = process.run([compiler, "-std=gnu99", "-Wall", "-Werror=unused", "-Werror=implicit-function-declaration",
                         "-c", str(tmp_path / "alone.c"), "-o", str(tmp_path / "alone.o")], timeout_s=120)
    assert built.ok, built.output


@pytest.mark.parametrize("name, missing", [
    ("messages_wrong", "moves_wrong"),
    ("kMovedWords", "no_such_window"),
    ("kIndexed", "kStrided"),
    ("begin", "open_window"),
])
def test_shared_parts_come_with_what_they_use_and_no_more(name: str, missing: str) -> None:
    parts = doctor.shared_parts(f"int main(void) {{ return (int){name}; }} /* {missing} */")
    assert re.search(rf"\b{name}\b", parts) and not re.search(rf"\b{missing}\b", parts)
    assert parts.startswith("#include <mpi.h>\n")


@pytest.mark.parametrize("job, outcome, evidence", [
    (result("control: ok\nfault: absent\n"), doctor.ABSENT, "not seen by its program"),
    (result("control: ok\nfault: present\n", 1), doctor.PRESENT, "seen by its program"),
    (result("control: ok\nthere is no such window\nfault: present\n", 1), doctor.PRESENT, "there is no such window"),
    (result("control: failed\n", 2), doctor.UNKNOWN, "the control fails: ends with status 2"),
    (result("control: ok\n", 124, True), doctor.PRESENT, "hangs"),
    (result("control: ok\nmpirun noticed that process rank 0 exited on signal 14 (Alarm clock).\n", 142), doctor.PRESENT,
     "hangs"),
    (result("control: ok\nmpirun noticed that process rank 1 exited on signal 11 (Segmentation fault).\n", 139),
     doctor.PRESENT, "ends the process: 11 (Segmentation fault)"),
    (result("control: ok\nUCX  ERROR no room\n", 1), doctor.PRESENT, "ends the process: UCX  ERROR no room"),
    (result("control: ok\nfault: absent\n", 139), doctor.PRESENT, "ends with status 139"),
    (result("", 139), doctor.UNKNOWN, "the control fails: ends with status 139"),
])
def test_the_end_of_a_job_is_understood(job: process.Result, outcome: str, evidence: str) -> None:
    assert doctor.judge(job) == (outcome, evidence)


def test_the_summary_counts() -> None:
    made = [doctor.Examination(fault, outcome, "") for fault, outcome in
            zip(FAULTS, (doctor.PRESENT, doctor.ABSENT, doctor.ABSENT))]
    assert doctor.summary(made) == "1 present, 2 absent"


@pytest.mark.parametrize("mpi", sorted(launch.MPI_LIBRARIES))
def test_the_doctor_reports(mpi: str, tmp_path: Path) -> None:
    done = armci("mpi-doctor", "--mpi", mpi, "--only", "fetch-and-op,compare-and-swap", "--output", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    assert f"{mpi} " in done.stdout and "0 present, 2 absent" in done.stdout
    readme = (tmp_path / "out" / "README.md").read_text()
    assert "mpicc NAME.c" in readme and "compare-and-swap" in readme
    assert {path.stem for path in (tmp_path / "out").glob("*.c")} == {fault.id for fault in FAULTS}


def test_a_fault_is_no_failure_of_the_doctor() -> None:
    # A process that computes makes no progress for others under MPICH: allowed, and found.
    done = armci("mpi-doctor", "--mpi", "mpich", "--only", "passive-progress")
    assert done.returncode == 0
    assert "present (allowed)" in done.stdout
