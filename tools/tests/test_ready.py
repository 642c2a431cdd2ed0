"""Programs, suites and libraries that are there already: they run as they are, and nothing is built."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
from armci_tool import bench, programs
from armci_tool.errors import ToolError
from armci_tool.libraries import LinkedSuite, linked
from helpers import armci, script

FAKE = Path(__file__).resolve().with_name("fake_suite.py")


class Unbuilt:
    """A machine whose Bazel notes that it was called, and fails."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.mark = folder / "bazel-was-called"
        for name in ("bazel", "bazel-bootstrap"):
            script(folder, name, f"touch {self.mark}; exit 1\n")

    def armci(self, *words: str, **environment: str) -> "subprocess.CompletedProcess[str]":
        """Runs the command there."""
        path = f"{self.folder}:{os.environ['PATH']}"
        done = armci(*words, environment={"PATH": path, "LD_LIBRARY_PATH": "", **environment})
        assert not self.mark.exists()
        return done


@pytest.fixture(name="unbuilt")
def fixture_unbuilt(tmp_path: Path) -> Unbuilt:
    """The machine."""
    (tmp_path / "bin").mkdir()
    return Unbuilt(tmp_path / "bin")


def installation(folder: Path, mpi: str = "openmpi") -> Path:
    """As `tools/armci install` leaves one, as far as it matters."""
    library = folder / "lib" / "armci" / "mpi-rma" / "libarmci.so.1"
    library.parent.mkdir(parents=True)
    library.touch()
    (folder / "share" / "armci").mkdir(parents=True)
    (folder / "share" / "armci" / "mpi").write_text(f"{mpi}\n")
    return folder


def test_a_script_is_started_as_it_is(unbuilt: Unbuilt, tmp_path: Path) -> None:
    program = script(tmp_path, "p", 'echo "library: <$LD_LIBRARY_PATH> $*"\n')
    done = unbuilt.armci("run", "--impl", "mpi-rma", "-n", "1", str(program), "--prefix", "x")
    assert (done.returncode, done.stdout) == (0, "library: <> --prefix x\n"), done.stderr
    assert "chooses its library itself" in done.stderr


def test_a_script_gets_a_library_that_is_installed(unbuilt: Unbuilt, tmp_path: Path) -> None:
    program = script(tmp_path, "p", 'echo "library: $LD_LIBRARY_PATH"\n')
    prefix = installation(tmp_path / "armci")
    done = unbuilt.armci("run", "--impl", "mpi-rma", "--prefix", str(prefix), "-n", "1", str(program))
    assert (done.returncode, done.stdout) == (0, f"library: {prefix}/lib/armci/mpi-rma\n"), done.stderr


@pytest.mark.parametrize("words, said", [
    ("--impl shmem --mpi openmpi ./p", "has no shmem for openmpi"),
    ("--impl mpi-rma --mpi mpich ./p", "it is an installation for openmpi"),
    ("./p", "--prefix takes the library of --impl"),
    ("--impl mpi-rma //examples:hello", "--prefix takes the library of --impl"),
])
def test_an_installation_has_to_have_the_library(unbuilt: Unbuilt, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                                 words: str, said: str) -> None:
    script(tmp_path, "p", "exit 0\n")
    monkeypatch.chdir(tmp_path)
    done = unbuilt.armci("run", "--prefix", str(installation(tmp_path / "armci")), *words.split())
    assert done.returncode == 2
    assert said in done.stderr and "next:" in done.stderr


def test_each_rank_is_started_through_the_wrapper(unbuilt: Unbuilt, tmp_path: Path) -> None:
    program = script(tmp_path, "p", 'echo "$SET_BY_WRAPPER $1"\n')
    wrapper = script(tmp_path, "w", 'SET_BY_WRAPPER="$1"; export SET_BY_WRAPPER; shift; exec "$@"\n')
    done = unbuilt.armci("run", "-n", "2", "--wrapper", f"{wrapper} 'a b'", str(program), "--wrapper")
    assert done.stdout == 2 * "a b --wrapper\n", done.stderr
    assert programs.wrapper("") == ()
    for command in ("run", "conformance", "bench"):
        done = unbuilt.armci(command, "--wrapper", "./nothing -x", *["./p"] * (command == "run"))
        assert done.returncode == 2 and "there is no program ./nothing" in done.stderr


def test_a_suite_that_is_there_is_run(unbuilt: Unbuilt) -> None:
    done = unbuilt.armci("conformance", "--suite", str(FAKE), "--impl", "shmem", "-n", "1", FAKE_SUITE="A.a=ok A.b=fail")
    assert done.returncode == 1, done.stderr
    assert "2 tests, 1 failed" in done.stdout
    assert (f"  rerun: tools/armci conformance --suite {FAKE} --impl shmem -n 1 --mpi openmpi --filter '^(A\\.b)$' --seed 99"
            in done.stdout.splitlines())


def test_a_failure_is_repeated_with_its_wrapper(unbuilt: Unbuilt, tmp_path: Path) -> None:
    suite = script(tmp_path, "my suite", f'exec {FAKE} "$@"\n')
    wrapper = script(tmp_path, "w", 'FAKE_SUITE="A.a=ok A.b=$1"; export FAKE_SUITE; shift; exec "$@"\n')
    words = ["conformance", "--suite", str(suite), "--name", "other", "-n", "1", "--wrapper", f"{wrapper} fail"]
    done = unbuilt.armci(*words, FAKE_SUITE="A.a=ok A.b=ok")
    assert done.returncode == 1, done.stderr
    [rerun] = [line.split("tools/armci ")[1] for line in done.stdout.splitlines() if line.startswith("  rerun: ")]
    assert f"--suite '{suite}' --name other" in rerun and f"--wrapper '{wrapper} fail'" in rerun
    again = unbuilt.armci(*shlex.split(rerun), FAKE_SUITE="A.a=ok A.b=ok")
    assert again.returncode == 1 and "1 tests, 1 failed" in again.stdout, again.stderr


@pytest.mark.parametrize("words, said", [
    ("--prefix /usr", "--suite is linked already"), ("--impl shmem,mpi-rma", "a suite is linked with one library"),
    ("--impl nothing", "there is no implementation 'nothing'"), ("--name ../x", "is no name for a library")])
def test_a_suite_is_of_one_library(unbuilt: Unbuilt, words: str, said: str) -> None:
    done = unbuilt.armci("conformance", "--suite", str(FAKE), *words.split())
    assert done.returncode == 2 and said in done.stderr


def test_a_suite_of_another_mpi_library_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from armci_tool.bazel import Configuration
    monkeypatch.setattr(programs, "libraries_of", lambda binary: ["libmpich.so.12"])
    with pytest.raises(ToolError, match="a program of mpich"):
        programs.require_mpi(Path("suite"), Configuration())


def test_a_foreign_suite_may_not_take_for_ever() -> None:
    assert linked(FAKE, [], "other").time_limit_s and not linked(FAKE, ["shmem"], "").time_limit_s
    assert linked(FAKE, ["shmem"], "") == LinkedSuite("shmem", file=FAKE)


def test_a_benchmark_is_started_through_the_wrapper(tmp_path: Path) -> None:
    program = script(tmp_path, "p", f"""[ "$2" = --json ] && echo '{json.dumps({"cases": []})}' >"$3"; echo "$WRAPPED"\n""")
    wrapper = script(tmp_path, "w", 'WRAPPED=yes; export WRAPPED; exec "$@"\n')
    run: Any = bench.run_program(bench.Program("p", program, "openmpi", 1, wrapper=(str(wrapper),)))
    assert (run.status, run.text, run.data) == (0, "yes", {"cases": []})
