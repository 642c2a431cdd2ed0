"""The files of the Debian package, without a build."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from armci_tool import launch, packages, repository
from armci_tool.repository import ROOT
from helpers import script

FILES = ROOT / "packaging" / "debian"
CONTROL = (FILES / "control").read_text()


def build(folder: Path, installs: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    """The step of debian/rules that builds, with commands that stand for the tool and for Bazel, which write down how they
    are called."""
    (folder / "tools").mkdir()
    (folder / "path").mkdir()
    shutil.copytree(FILES, folder / "debian")
    script(folder / "tools", "armci", f'mkdir -p "$HOME/.cache/bazel"; echo "$@" >> {folder}/calls; {installs}\n')
    script(folder / "path", "bazel", f'echo "bazel $* in $HOME" >> {folder}/calls\n')
    environment = {**os.environ, "PATH": f"{folder / 'path'}:{os.environ['PATH']}", **variables}
    return subprocess.run(["debian/rules", "override_dh_auto_install"], cwd=folder, env=environment, text=True,
                          capture_output=True, check=False, timeout=60)


def calls(folder: Path) -> list[str]:
    return (folder / "calls").read_text().splitlines() if (folder / "calls").exists() else []


@pytest.mark.parametrize("installs, status", [("true", 0), ("exit 1", 2)])
def test_the_server_of_bazel_ends_with_the_build_however_that_ends(tmp_path: Path, installs: str, status: int) -> None:
    done = build(tmp_path, installs)
    assert done.returncode == status, done.stderr
    assert calls(tmp_path)[-1] == f"bazel shutdown in {tmp_path}/debian/home"


def test_each_mpi_library_has_a_package(tmp_path: Path) -> None:
    build(tmp_path, "true")
    assert [line.split()[2] for line in calls(tmp_path)[:-1]] == list(launch.MPI_LIBRARIES)
    assert all(f"\nPackage: armci-{mpi}\n" in CONTROL for mpi in launch.MPI_LIBRARIES)


def test_what_is_installed_is_packed_without_a_build(tmp_path: Path) -> None:
    (tmp_path / "installed" / "share" / "armci").mkdir(parents=True)
    for name in ("mpi", "manifest"):
        (tmp_path / "installed" / "share" / "armci" / name).write_text("")
    done = build(tmp_path, "exit 1", DEB_MPIS="mpich", INSTALLED_mpich=str(tmp_path / "installed"))
    assert done.returncode == 0, done.stderr
    packed = [path.name for path in (tmp_path / "debian").glob("armci-*/usr/lib/*/armci/*/share/armci/*")]
    assert packed == ["mpi"]
    # Nor is a server started to be stopped.
    assert calls(tmp_path) == []


def test_a_port_more_needs_no_word_in_the_control_file() -> None:
    # As a word of its own: a library below may have it in its name.
    assert not [name for name in repository.implementations() if re.search(rf"(?<!\w){name}(?!\w)", CONTROL)]
    assert not [number for number in ("two", "three", "four", "five", "six") if f" {number} " in CONTROL]


def test_what_the_build_needs_is_what_setup_installs() -> None:
    field = CONTROL.partition("Build-Depends:")[2].partition("\nStandards-Version")[0]
    needed = {part.split()[0] for part in field.split(",")} - {"debhelper-compat", "python3"}
    assert needed <= {package.name for package in packages.read_packages()}
