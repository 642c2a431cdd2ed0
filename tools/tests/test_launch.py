"""Command lines of both MPI libraries, and real launches with them."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from armci_tool import launch, nodes, process
from armci_tool.errors import ToolError
from armci_tool.launch import Launch
from armci_tool.placement import Placement
from helpers import ARMCI, alive, armci, pids_in, script

MPIS = sorted(launch.MPI_LIBRARIES)


def test_openmpi_line_as_user() -> None:
    line = Launch(("./p", "a b"), 3).command_line(as_root=False, present={})
    assert line[0] == "mpirun.openmpi"
    assert "--allow-run-as-root" not in line
    assert "--oversubscribe" in line
    assert line[line.index("--bind-to") + 1] == "none"
    assert line[line.index("-n"):] == ["-n", "3", "./p", "a b"]


def test_openmpi_line_as_root_differs_by_one_flag() -> None:
    user = Launch(("./p",), 1).command_line(as_root=False, present={})
    root = Launch(("./p",), 1).command_line(as_root=True, present={})
    assert [flag for flag in root if flag not in user] == ["--allow-run-as-root"]


def test_openmpi_forwards_settings_only() -> None:
    line = Launch(("./p",), 1, environment={"ARMCI_CHECK": "1"}).command_line(
        as_root=False, present={"ARMCI_TIMEOUT": "5", "HOME": "/", "ASAN_OPTIONS": "x"})
    forwarded = [line[i + 1] for i, flag in enumerate(line) if flag == "-x"]
    assert forwarded == ["ARMCI_CHECK", "ARMCI_TIMEOUT", "ASAN_OPTIONS"]


@pytest.mark.parametrize("server, components", [("", "vader,self"), ("thread", "vader,self"),
                                                ("auto", "tcp,vader,self"), ("process", "tcp,vader,self")])
def test_openmpi_has_tcp_where_processes_are_started_later(server: str, components: str) -> None:
    line = Launch(("./p",), 2).command_line(as_root=False, present={"ARMCI_SERVER": server} if server else {})
    assert line[line.index("btl") + 1] == components


def test_mpich_line_needs_no_flags() -> None:
    assert Launch(("./p",), 2, "mpich").command_line(as_root=True, present={"ARMCI_CHECK": "1"}) == [
        "mpiexec.mpich", "-n", "2", "./p"]


@pytest.mark.parametrize("mpi", MPIS)
def test_in_a_guest_mpi_leaves_the_verbs_device_alone(mpi: str) -> None:
    job = Launch(("./p",), 2, mpi, placement=Placement(simulated_node_size=1, guest=True))
    line = job.command_line(as_root=False, present={})
    assert line[1:6] == ["rdma", "--keep-for", str(os.getpid()), "--", launch.mpi_library(mpi).launcher]
    assert job.settings() == {"UCX_TLS": "shm,tcp,self", "ARMCI_NODE_SIZE": "1"}


@pytest.mark.parametrize("mpi", MPIS)
def test_a_network_that_the_user_chose_is_the_one_between_nodes(mpi: str, monkeypatch: pytest.MonkeyPatch) -> None:
    job = Launch(("./p",), 2, mpi, placement=Placement(nodes=2))
    monkeypatch.setenv("UCX_TLS", "tcp")
    assert job.settings() == {"UCX_NET_DEVICES": nodes.INTERFACE, "ARMCI_SERVER_CPUS": "own"}
    monkeypatch.delenv("UCX_TLS")
    assert job.settings()["UCX_TLS"] == "tcp,self"
    # A setting of UCX's reaches ranks that a launcher starts elsewhere.
    assert "UCX_MAX_RNDV_LANES" not in job.command_line(present={})
    if launch.mpi_library(mpi).forward:
        assert "UCX_MAX_RNDV_LANES" in job.command_line(present={"UCX_MAX_RNDV_LANES": "1"})


@pytest.mark.parametrize("bad", [Launch(("./p",), 0), Launch(("./p",), 1, "othermpi")])
def test_impossible_launches_are_errors(bad: Launch) -> None:
    with pytest.raises(ToolError):
        bad.command_line()


@pytest.mark.parametrize(("mpi", "name", "value"), [
    ("mpich", "UCX_HANDLE_ERRORS", "bt"),  # a fatal error below it ends the job
    ("openmpi", "EVENT_NOEPOLL", "1"),  # its launcher answers all processes
])
def test_an_mpi_library_has_settings_of_its_own_unless_the_user_wants_otherwise(
        mpi: str, name: str, value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = script(tmp_path, "p", f"echo setting: ${name}")
    monkeypatch.delenv(name, raising=False)
    assert f"setting: {value}" in launch.start(Launch((str(program),), 1, mpi), timeout_s=60).output
    monkeypatch.setenv(name, "other")
    assert "setting: other" in launch.start(Launch((str(program),), 1, mpi), timeout_s=60).output


@pytest.fixture(name="late", params=[
    "ssize_t read(int fd, void* data, size_t bytes) { LATE(ssize_t (*)(int, void*, size_t), read, fd == 0); }",
    # The one message of the launcher that tells its proxy of input: a header of this kind and size.
    "ssize_t write(int fd, const void* data, size_t bytes) {"
    " LATE(ssize_t (*)(int, const void*, size_t), write, bytes == 32 && *(const int*)data == 4); }",
], ids=["read", "write"])
def _late(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A library that makes the rare order certain: the proxy ends before the launcher sends its message about input."""
    (tmp_path / "late.c").write_text("""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>
/* Long enough for a program that prints a word, and its proxy, to end; too short a delay fails the control below. */
#define LATE(Type, name, due) \\
  if ((due) && strncmp(program_invocation_short_name, "mpiexec", 7) == 0) usleep(300000); \\
  return ((Type)dlsym(RTLD_NEXT, #name))(fd, data, bytes)
""" + str(request.param))
    library = tmp_path / "late.so"
    assert process.run(["gcc", "-shared", "-fPIC", "-o", str(library), str(tmp_path / "late.c"), "-ldl"]).ok
    return library


def test_a_job_may_end_before_its_launcher_has_passed_its_input_on(late: Path, tmp_path: Path) -> None:
    job = Launch((str(script(tmp_path, "p", "echo done")),), 1, "mpich", {"LD_PRELOAD": str(late)})
    done = launch.start(job, timeout_s=60)
    assert done.ok and "done" in done.output
    # MPICH's launcher dies with an input that ends, or with one that cannot be read.
    died = []
    for how in (os.O_RDONLY, os.O_WRONLY):
        nothing = os.open(os.devnull, how)
        died.append(subprocess.run(job.command_line(), stdin=nothing, env={**os.environ, **job.environment},
                                   capture_output=True, check=False).returncode == -signal.SIGPIPE)
        os.close(nothing)
    assert any(died)


@pytest.mark.parametrize("given, passed_on", [("terminal", False), (os.devnull, False), (__file__, True)])
def test_a_job_of_the_user_gets_no_end_of_an_input_that_is_none(given: str, passed_on: bool) -> None:
    terminal = os.openpty() if given == "terminal" else ()
    program = ("from armci_tool import process\n"
               "process.run(['sh', '-c', 'readlink /proc/$$/fd/0'], capture=False, input_stays_open=True)")
    with open(os.ttyname(terminal[1]) if terminal else given, "rb") as stdin:
        started = subprocess.run([sys.executable, "-B", "-c", program], stdin=stdin, capture_output=True, text=True, check=True,
                                 timeout=60, env={**os.environ, "PYTHONPATH": str(Path(process.__file__).parents[1])})
    for end in terminal:
        os.close(end)
    assert started.stdout.startswith(given if passed_on else "pipe:"), started


def test_shared_memory_files_of_a_job_go_with_it(tmp_path: Path) -> None:
    # As a job leaves them that aborts. The folder of a tool that has died (no process has so high an id) goes as well.
    stale = launch.SHARED_MEMORY / f"armci-tool-{2 ** 22 + 1}-test"
    stale.mkdir(exist_ok=True)
    program = script(tmp_path, "p", "cd $OMPI_MCA_btl_vader_backing_directory && touch left && pwd && kill -9 $$")
    result = launch.start(Launch((str(program),), 1), timeout_s=60)
    [folder] = [line for line in result.output.splitlines() if line.startswith("/dev/shm/armci-tool-")]
    assert not Path(folder).exists()
    assert not stale.exists()


@pytest.mark.parametrize("folder, cause", [("/proc/self", "No such file"), ("/dev/null", "Not a directory")])
def test_a_folder_that_takes_no_session_files_is_named_before_the_launch(folder: str, cause: str) -> None:
    done = armci("run", "-n", "1", "--mpi", "openmpi", "true", environment={"TMPDIR": folder})
    assert done.returncode == 2
    assert f"TMPDIR={folder} takes no temporary files of 9 MiB: {cause}" in done.stderr
    assert "next: make room there, or set TMPDIR" in done.stderr and len(done.stderr.splitlines()) == 3


def test_a_full_folder_of_session_files_is_named_before_the_launch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")
    monkeypatch.setattr(os, "posix_fallocate", full)
    monkeypatch.setenv("OMPI_MCA_orte_tmpdir_base", str(tmp_path))
    with pytest.raises(ToolError, match=f"OMPI_MCA_orte_tmpdir_base={tmp_path} takes no .*: No space left on device"):
        launch.start(Launch(("true",), 1, "openmpi"))
    assert not list(tmp_path.iterdir())


def test_a_folder_of_session_files_that_is_absent_is_created(tmp_path: Path) -> None:
    assert armci("run", "-n", "1", "true", environment={"TMPDIR": str(tmp_path / "a" / "b")}).returncode == 0


@pytest.mark.parametrize("mpi", MPIS)
def test_all_ranks_run_with_the_settings(tmp_path: Path, mpi: str) -> None:
    program = script(tmp_path, "p", "echo rank $ARMCI_EXAMPLE_SETTING")
    result = launch.start(Launch((str(program),), 3, mpi, {"ARMCI_EXAMPLE_SETTING": "seen"}), timeout_s=60)
    assert result.ok, result.output
    assert result.output.count("rank seen") == 3


@pytest.mark.parametrize("mpi", MPIS)
def test_status_of_the_job_is_carried_through(tmp_path: Path, mpi: str) -> None:
    done = armci("run", "-n", "2", "--mpi", mpi, str(script(tmp_path, "p", "exit 5")))
    assert done.returncode == 5, done.stderr


@pytest.mark.parametrize("body, status", [("exit 255", 255), ("kill -PIPE $$", 141)])
def test_a_launcher_that_names_no_cause_gets_a_sentence(tmp_path: Path, body: str, status: int) -> None:
    # As MPICH's does now and then when a rank dies of SIGSEGV.
    script(tmp_path, "mpiexec.mpich", body + "\n")
    done = armci("run", "-n", "1", "--mpi", "mpich", "true", environment={"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    assert done.returncode == status
    assert f"armci: true: mpiexec.mpich ended with status {status}" in done.stderr and "SIGSEGV" in done.stderr
    assert "\n  next: " in done.stderr


@pytest.mark.parametrize("mpi", MPIS)
def test_a_rank_that_dies_of_a_signal_is_reported(tmp_path: Path, mpi: str) -> None:
    done = armci("run", "-n", "2", "--mpi", mpi, str(script(tmp_path, "p", "kill -SEGV $$")))
    assert done.returncode in (11, 139, 141, 255)
    assert "Segmentation fault" in done.stdout + done.stderr or "SIGSEGV" in done.stderr


@pytest.mark.parametrize("mpi", MPIS)
def test_arguments_reach_the_program_unchanged(tmp_path: Path, mpi: str) -> None:
    done = armci("run", "-n", "1", "--mpi", mpi, str(script(tmp_path, "p", 'printf "<%s>" "$@"')), "a b", "--c", "$d")
    assert "<a b><--c><$d>" in done.stdout


@pytest.mark.parametrize("mpi", MPIS)
def test_timeout_of_run_is_status_124(tmp_path: Path, mpi: str) -> None:
    pids = tmp_path / "pids"
    program = script(tmp_path, "p", f"echo $$ >>{pids}; exec sleep 100")
    done = armci("run", "-n", "2", "--mpi", mpi, "--timeout", "3", str(program))
    assert done.returncode == process.TIMEOUT_STATUS
    assert len(pids_in(pids)) == 2
    assert not [pid for pid in pids_in(pids) if alive(pid)]


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("mpi", MPIS)
def test_ending_the_command_ends_the_ranks(tmp_path: Path, mpi: str, signum: signal.Signals) -> None:
    pids = tmp_path / "pids"
    program = script(tmp_path, "p", f"echo $$ >>{pids}; exec sleep 100")
    tool = subprocess.Popen([str(ARMCI), "run", "-n", "2", "--mpi", mpi, str(program)], stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL,
                            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    deadline = time.monotonic() + 30
    while not pids.exists() or len(pids_in(pids)) < 2:
        assert time.monotonic() < deadline, "the job did not start"
        time.sleep(0.02)
    os.kill(tool.pid, signum)
    status = tool.wait(20)
    if signum != signal.SIGKILL:
        assert status == 128 + signum
    # A killed tool cannot wait for its job: the kernel's signal to the launcher takes a moment to come through.
    while [pid for pid in pids_in(pids) if alive(pid)]:
        assert time.monotonic() < deadline, "ranks survive the command"
        time.sleep(0.02)
