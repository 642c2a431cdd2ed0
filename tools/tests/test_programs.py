"""The meaning of the word for a program in `run`."""

from __future__ import annotations

from pathlib import Path

import pytest
from armci_tool import bazel, programs
from armci_tool.errors import ToolError
from armci_tool.placement import Placement
from helpers import script

CONFIGURATION = bazel.Configuration()


@pytest.mark.parametrize("where, expected", [
    (Placement(), "shmem"), (Placement(nodes=2), "mpi-rma"), (Placement(simulated_node_size=2), "mpi-rma")])
def test_a_label_is_linked_with_what_reaches_its_processes(where: Placement, expected: str) -> None:
    assert programs.default_implementation(where) == expected


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Where the library of an implementation seems to have been built."""
    def built(label: str, configuration: bazel.Configuration, *, verbose: bool = False) -> Path:
        assert label == "//impl/mpi-rma:libarmci.so.1"
        return tmp_path / "impl" / "libarmci.so.1"
    monkeypatch.setattr(bazel, "built", built)
    monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)
    return tmp_path / "impl"


def linked(monkeypatch: pytest.MonkeyPatch, *libraries: str) -> None:
    monkeypatch.setattr(programs, "libraries_of", lambda binary: list(libraries))


def test_a_program_with_the_shared_library_gets_that_of_the_implementation(
        monkeypatch: pytest.MonkeyPatch, library: Path) -> None:
    linked(monkeypatch, "libarmci.so.1", "libmpi.so.40")
    assert programs.exchanged(Path("p"), "mpi-rma", CONFIGURATION) == {"LD_LIBRARY_PATH": str(library)}
    monkeypatch.setenv("LD_LIBRARY_PATH", "/other")
    assert programs.exchanged(Path("p"), "mpi-rma", CONFIGURATION) == {"LD_LIBRARY_PATH": f"{library}:/other"}


def test_without_an_implementation_it_stays_as_it_was_linked(monkeypatch: pytest.MonkeyPatch) -> None:
    linked(monkeypatch, "libarmci.so.1")
    assert programs.exchanged(Path("p"), None, CONFIGURATION) == {}


def test_a_script_chooses_its_library_itself(tmp_path: Path) -> None:
    path = script(tmp_path, "p", "exit 0\n")
    assert programs.libraries_of(path) == []
    assert programs.exchanged(path, "mpi-rma", CONFIGURATION) == {}


def test_a_program_without_the_library_is_refused() -> None:
    assert "libc.so.6" in programs.libraries_of(Path("/bin/sh"))
    with pytest.raises(ToolError, match="/bin/sh cannot be run on mpi-rma"):
        programs.exchanged(Path("/bin/sh"), "mpi-rma", CONFIGURATION)


@pytest.mark.parametrize("implementation", [None, "mpi-rma"])
def test_a_program_of_another_mpi_library_is_refused(monkeypatch: pytest.MonkeyPatch, implementation: str) -> None:
    linked(monkeypatch, "libarmci.so.1", "libmpich.so.12")
    with pytest.raises(ToolError, match="p is a program of mpich"):
        programs.exchanged(Path("p"), implementation, CONFIGURATION)


@pytest.mark.parametrize("name, said", [
    ("folder", "folder is a folder, not a program"), ("dangling", "dangling is a symbolic link to no-such-file, which leads to no file"),
    ("loop", "loop is a symbolic link to loop, which leads to no file"), ("plain", "plain is a script without a #! line"),
    ("empty", "empty is a script without a #! line"), ("absent", "there is no program .*absent")])
def test_a_path_that_cannot_be_started_is_reported_in_a_sentence(tmp_path: Path, name: str, said: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "dangling").symlink_to("no-such-file")
    (tmp_path / "loop").symlink_to("loop")
    script(tmp_path, "plain", "").write_text("echo hello\n")
    script(tmp_path, "empty", "").write_text("")
    with pytest.raises(ToolError, match=said) as caught:
        programs.existing(str(tmp_path / name))
    assert caught.value.next_step


def test_a_command_on_the_path_may_have_the_name_of_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sh").mkdir()
    monkeypatch.chdir(tmp_path)
    assert programs.existing("sh").name == "sh" and programs.existing("sh").is_file()
