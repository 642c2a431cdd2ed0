"""Jobs on nodes made of namespaces: separate hosts with a network between them, and nothing of them stays."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import Iterator, Sequence

import pytest
from armci_tool import launch, leak_check, nodes, process
from armci_tool.errors import ToolError
from armci_tool.launch import Launch
from armci_tool.placement import Placement
from helpers import ARMCI, armci, script

MPIS = sorted(launch.MPI_LIBRARIES)
SOURCE = Path(__file__).with_name("node_program.c")
MESSAGE_BYTES = 4 << 20
MISSING = nodes.missing_rights()
needs_root = pytest.mark.skipif(bool(MISSING), reason=f"network namespaces need {MISSING}")


@pytest.fixture(scope="module", params=MPIS)
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """The MPI library, and a plain MPI program for it."""
    path = tmp_path_factory.mktemp("nodes") / "program"
    process_result = process.run([launch.mpi_library(request.param).compiler, "-O1", "-o", str(path), str(SOURCE)])
    assert process_result.ok, process_result.output
    return request.param, path


def machine_state() -> tuple[str, str, str, set[str]]:
    """The state that a job on nodes must leave as it is: devices, mounts, names of hosts, and named namespaces."""
    run, hosts = Path("/run/netns"), Path("/etc/hosts")
    return (subprocess.run(["ip", "-o", "link"], text=True, capture_output=True, check=True).stdout,
            Path("/proc/self/mountinfo").read_text(), hosts.read_text() if hosts.exists() else "",
            set(os.listdir(run)) if run.is_dir() else set())


@pytest.fixture(autouse=True)
def machine_stays_as_it_is() -> Iterator[None]:
    """Around every test."""
    before = machine_state()
    yield
    assert machine_state() == before


def networks(pids: Sequence[int]) -> set[str]:
    """The network namespaces of processes."""
    return {os.readlink(f"/proc/{pid}/ns/net") for pid in pids}


def living_networks() -> set[str]:
    """Those that any process of the machine is in."""
    found = set()
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                found.add(os.readlink(f"/proc/{entry}/ns/net"))
            except OSError:
                continue
    return found


@pytest.mark.parametrize("count, processes, shares", [(2, 4, [2, 2]), (2, 3, [2, 1]), (3, 3, [1, 1, 1]), (1, 2, [2])])
def test_ranks_are_placed_in_blocks(count: int, processes: int, shares: list[int]) -> None:
    assert Placement(count).ranks_per_node(processes) == shares


def test_more_nodes_than_processes_is_an_error() -> None:
    with pytest.raises(ToolError) as caught:
        Launch(("./p",), 2, placement=Placement(3)).command_line()
    assert "cannot place 2 processes on 3 nodes" in caught.value.render()


def test_simulated_nodes_are_a_setting_and_called_so() -> None:
    simulated = Launch(("./p",), 4, placement=Placement(simulated_node_size=2))
    assert simulated.settings() == {"ARMCI_NODE_SIZE": "2"}
    assert simulated.command_line(present={})[0] == "mpirun.openmpi"
    assert "simulated" in simulated.placement.label


def test_both_kinds_of_nodes_at_once_are_refused() -> None:
    done = armci("run", "--nodes", "2", "--simulate-node-size", "1", "/bin/true")
    assert done.returncode == 2 and "not allowed with" in done.stderr


def test_without_root_simulated_nodes_are_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(ToolError) as caught:
        launch.start(Launch(("/bin/true",), 2, placement=Placement(2)))
    assert "--nodes needs root" in caught.value.what
    assert "--simulate-node-size" in caught.value.next_step


@pytest.mark.parametrize("rights, said, next_step", [
    ("CAP_SYS_ADMIN", "--nodes needs CAP_SYS_ADMIN", "where root has CAP_SYS_ADMIN"),
    ("root", "--nodes needs root", "as root")])
def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, rights: str, said: str, next_step: str) -> None:
    monkeypatch.setattr(nodes, "missing_rights", lambda: rights)
    with pytest.raises(ToolError) as caught:
        nodes.require(2)
    assert said in caught.value.what and next_step in caught.value.next_step


@needs_root
def test_root_without_a_capability_gets_no_advice_to_be_root() -> None:
    without = ["setpriv", "--bounding-set", "-sys_admin", "--inh-caps", "-sys_admin"]
    line = [*without, str(nodes.PROGRAM), "1", "--", "true"]
    done = subprocess.run(line, text=True, capture_output=True, check=False)
    assert done.returncode == 2 and "needs CAP_SYS_ADMIN" in done.stderr and "as root" not in done.stderr


@needs_root
@pytest.mark.parametrize("count, processes, shared", [(2, 4, [2, 2, 2, 2]), (3, 3, [1, 1, 1])])
def test_nodes_share_no_memory_and_messages_cross_the_network(program: tuple[str, Path], count: int, processes: int,
                                                              shared: list[int]) -> None:
    mpi, path = program
    result = launch.start(Launch((str(path),), processes, mpi, placement=Placement(count)), timeout_s=120)
    assert result.ok and not result.left_behind, result.output
    ranks = sorted(re.findall(r"RANK (\d+) (\S+) (\d+)", result.output))
    per_node = processes // count
    assert ranks == [(str(r), f"node{r // per_node}", str(shared[r])) for r in range(processes)]
    crossed = {kind: int(count) for kind, count in re.findall(r"NETWORK (\w+) (\d+)", result.output)}
    assert crossed["far"] >= MESSAGE_BYTES, result.output
    assert crossed["put"] >= MESSAGE_BYTES, result.output
    if per_node > 1:
        assert crossed["near"] < MESSAGE_BYTES / 8, result.output
    else:
        assert crossed["near"] >= MESSAGE_BYTES, result.output


@needs_root
def test_short_jobs_come_to_their_end(program: tuple[str, Path]) -> None:
    mpi, path = program
    if mpi != "mpich":
        pytest.skip("its finalize waits for no acknowledgements")
    # Without tools/mpich_finalize.c every third of these hangs.
    line = Launch((str(path),), 4, mpi, placement=Placement(4)).command_line()
    start = line.index("--") + 1
    repeated = f"for i in 1 2 3 4 5 6 7 8; do timeout 30 {' '.join(line[start:])} || exit; done"
    line[start:] = ["sh", "-c", repeated]
    result = process.run(line, environment=launch.NODE_ENVIRONMENT, timeout_s=120, input_stays_open=True)
    assert result.ok, result.output


@needs_root
@pytest.mark.parametrize("mpi", MPIS)
def test_status_and_arguments_come_through(tmp_path: Path, mpi: str) -> None:
    done = armci("run", "--nodes", "2", "-n", "2", "--mpi", mpi,
                 str(script(tmp_path, "p", 'printf "<%s>\\n" "$@"; exit 5')), "a b", "$c")
    assert done.returncode == 5, done.stderr
    assert done.stdout.count("<a b>") >= 1 and "<$c>" in done.stdout


@needs_root
def test_a_node_has_its_own_name_and_shared_memory(tmp_path: Path) -> None:
    body = "cd /dev/shm; ls; hostname >$(hostname); exec sleep 1"
    result = launch.start(Launch((str(script(tmp_path, "p", body)),), 2, placement=Placement(2)))
    assert "node0" not in result.output.splitlines() and "node1" not in result.output.splitlines()
    assert sorted(result.left_behind) == ["node0: /dev/shm/node0", "node1: /dev/shm/node1"]
    assert not set(leak_check.shared_memory_objects()) & {"node0", "node1"}


@pytest.mark.parametrize("cpus, count, shares", [
    ({0, 1}, 2, [{0}, {1}]), ({1, 3, 5}, 2, [{1, 3}, {5}]), ({2, 4}, 3, [{2, 4}] * 3), ({7}, 1, [{7}])])
def test_nodes_share_the_cpus_out_or_have_all_of_them(cpus: set[int], count: int, shares: list[set[int]]) -> None:
    assert nodes.shares_of_cpus(cpus, count) == shares


@pytest.mark.parametrize("cpus, ranks, has", [
    ({0, 1}, [1, 1], True), ({0, 1}, [2, 1], False), ({0, 1}, [1, 1, 1], False), ({0, 1, 2, 3}, [2, 2], True),
    ({0, 1, 2}, [2, 1], True)])
def test_ranks_of_a_node_yield_where_they_are_more_than_its_cpus(monkeypatch: pytest.MonkeyPatch, cpus: set[int],
                                                                 ranks: list[int], has: bool) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: cpus)
    assert nodes.has_cores_for(ranks) == has
    line = Launch(("p",), sum(ranks), "openmpi", placement=Placement(len(ranks))).command_line(as_root=False, present={})
    assert ("mpi_yield_when_idle" in line) == (not has)


@pytest.mark.parametrize("where, shares", [(Placement(), False), (Placement(simulated_node_size=1), False),
                                           (Placement(nodes=2), True), (Placement(nodes=2, guest=True), False)])
def test_ranks_yield_where_their_node_has_no_cpus_of_its_own(where: Placement, shares: bool) -> None:
    line = Launch(("p",), 2, "openmpi", placement=where, shares_cpus=shares).command_line(as_root=False, present={})
    assert "mpi_yield_when_idle" in line


@needs_root
@pytest.mark.parametrize("mpi", MPIS)
def test_a_node_has_its_own_cpus(tmp_path: Path, mpi: str) -> None:
    # In files: launchers mix what ranks write with messages of their own.
    report = script(tmp_path, "report", f"exec /usr/bin/python3 -c 'import os; print(*sorted(os.sched_getaffinity(0)))' "
                    f">{tmp_path}/$(hostname)")
    every = os.sched_getaffinity(0)
    for shares_cpus, expected in ((False, nodes.shares_of_cpus(every, 2)), (True, [every, every])):
        result = launch.start(Launch((str(report),), 2, mpi, placement=Placement(2), shares_cpus=shares_cpus))
        assert result.ok, result.output
        for node in range(2):
            seen = tmp_path / nodes.host(node)
            assert seen.read_text() == " ".join(map(str, sorted(expected[node]))) + "\n"
            seen.unlink()


@needs_root
def test_a_process_left_on_a_node_is_reported(tmp_path: Path) -> None:
    body = "[ $(hostname) = node1 ] || exit 0; setsid sleep 100 >/dev/null 2>&1 &"
    result = launch.start(Launch((str(script(tmp_path, "p", body)),), 2, placement=Placement(2)))
    assert [line for line in result.left_behind if re.fullmatch(r"node1: process \d+ \(sleep\)", line)], result
    assert result.ok


@needs_root
def test_two_jobs_at_once_do_not_meet(program: tuple[str, Path]) -> None:
    mpi, path = program
    line = [str(ARMCI), "run", "--mpi", mpi, "--nodes", "2", "-n", "2", str(path)]
    jobs = [subprocess.Popen(line, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) for _ in range(2)]
    for job in jobs:
        output = job.communicate(timeout=120)[0]
        assert job.returncode == 0, output
        assert output.count("RANK ") == 2


@needs_root
@pytest.mark.parametrize("mpi, victim, signum", [
    ("openmpi", "command", signal.SIGKILL), ("mpich", "command", signal.SIGKILL),
    ("openmpi", "command", signal.SIGTERM), ("mpich", "command", signal.SIGINT), ("openmpi", "command", signal.SIGHUP),
    ("openmpi", "tools/nodes", signal.SIGKILL), ("openmpi", "tools/nodes", signal.SIGTERM),
    ("openmpi", "pid 1", signal.SIGKILL)])
def test_nothing_stays_after_a_kill(tmp_path: Path, mpi: str, victim: str, signum: signal.Signals) -> None:
    # Ranks that ignore what a launcher would end them with.
    ready = tmp_path / "ready"
    program = script(tmp_path, "p", f"trap '' TERM HUP; echo x >>{ready}; sleep 100 & wait; sleep 100")
    job = Launch((str(program),), 4, mpi, placement=Placement(2))
    environment, marker = leak_check.mark({**os.environ, **job.settings()})
    # The command would clean up after the others, which must not need it.
    line = ([str(ARMCI), "run", "--nodes", "2", "-n", "4", "--mpi", mpi, str(program)] if victim == "command"
            else job.command_line())
    tool = subprocess.Popen(line, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    held: list[int] = []
    try:
        deadline = time.monotonic() + 60
        while not ready.exists() or len(ready.read_text().split()) < 4:
            assert time.monotonic() < deadline and tool.poll() is None, "the job did not start"
            time.sleep(0.02)
        marked = leak_check.marked_processes(marker)
        # The kernel gives the number of an ended namespace to the next one, of another job. An open descriptor keeps it.
        held += [os.open(f"/proc/{pid}/ns/net", os.O_RDONLY) for pid in marked]
        own = networks(marked) - networks([os.getpid()])
        assert len(own) == 3, "two nodes and the switch"
        os.kill(_find(victim, tool.pid, marked), signum)
        tool.wait(30)
        for pid in marked:
            leak_check.wait_for_end(pid, deadline - time.monotonic())
        assert leak_check.marked_processes(marker) == []
        assert not own & living_networks()
    finally:
        for pid in leak_check.marked_processes(marker):
            os.kill(pid, signal.SIGKILL)
        for descriptor in held:
            os.close(descriptor)


def _find(victim: str, tool: int, marked: Sequence[int]) -> int:
    """The process id, seen from here."""
    if victim == "command":
        return tool
    for pid in marked:
        status = Path(f"/proc/{pid}/status").read_text()
        is_first = re.search(r"^NSpid:\t\d+\t1$", status, re.MULTILINE) is not None
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
        is_supervisor = os.fsencode(nodes.PROGRAM) in command and re.search(r"^NSpid:\t\d+$", status, re.MULTILINE)
        if is_first if victim == "pid 1" else is_supervisor:
            return pid
    raise AssertionError(f"no {victim} among {marked}")


@needs_root
@pytest.mark.parametrize("arguments, said", [(["node7", "true"], "there is no node node7"), (["node0"], "usage:")])
def test_the_agent_says_what_is_wrong(arguments: list[str], said: str) -> None:
    done = subprocess.run([str(nodes.AGENT), *arguments], text=True, capture_output=True, check=False,
                          env={**os.environ, nodes.HOLDERS_VARIABLE: "node0=1"})
    assert done.returncode != 0 and said in done.stderr


# In a mount namespace whose mounts are shared, as those of a machine are: makes a root folder of this one's parts,
# which is a mount point or not and has an /etc/hosts or not, and runs nodes in it.
_IN_CHROOT = """
set -e
root=$1 program=$2 kind=$3
mount --make-rshared /
mkdir "$root"
[ "$kind" != "mount point" ] || mount --bind "$root" "$root"
for entry in /*; do
  if [ -L "$entry" ]; then cp -P "$entry" "$root"
  elif [ "$entry" = /etc ] && [ "$kind" = "no hosts" ]; then cp -a /etc "$root"; rm -f "$root/etc/hosts"
  elif [ -d "$entry" ]; then mkdir "$root$entry"; mount --rbind "$entry" "$root$entry"
  fi
done
echo inside >"$root/mark"
cat /proc/self/mountinfo >"$root.before"
chroot "$root" "$program" 2 -- sh -c '
  cat /mark; hostname; grep -c node /etc/hosts; $NODE_AGENT node1 "cat /mark; hostname; ls /dev/shm"'
cmp /proc/self/mountinfo "$root.before"
"""


@needs_root
@pytest.mark.parametrize("kind", ["folder", "mount point", "no hosts"])
def test_nodes_work_in_a_chroot_and_do_not_lead_out_of_it(tmp_path: Path, kind: str) -> None:
    if all(line.split()[4] != "/" for line in Path("/proc/self/mountinfo").read_text().splitlines()):
        pytest.skip("this is a chroot already, in which unshare cannot make mounts private")
    line = ["unshare", "--mount", "sh", "-c", _IN_CHROOT, "sh", str(tmp_path / "root"), str(nodes.PROGRAM), kind]
    done = subprocess.run(line, text=True, capture_output=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["inside", "node0", "2", "inside", "node1"]
