"""Foreign libraries: how they are handed to the build, and which of their functions count as missing."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from armci_tool import bazel
from armci_tool.errors import ToolError
from armci_tool.libraries import ForeignLibrary, OwnLibrary


def installation(folder: Path) -> Path:
    (folder / "include").mkdir()
    (folder / "include" / "armci.h").write_text("int ARMCI_Init(void);\n")
    (folder / "lib").mkdir()
    (folder / "lib" / "libarmci.a").write_text("")
    return folder


def environment(library: ForeignLibrary, mpi: str = "openmpi") -> dict[str, str]:
    return dict(library.configuration(bazel.Configuration(mpi)).repository_environment)


def test_an_own_library_needs_no_environment() -> None:
    base = bazel.Configuration("mpich")
    assert OwnLibrary("shmem").configuration(base) == base
    assert OwnLibrary("shmem").suite == "//conformance:suite_shmem"


def test_the_build_learns_where_it_is(tmp_path: Path) -> None:
    names = environment(ForeignLibrary(installation(tmp_path), "-larmci-{mpi} -lm"), "mpich")
    assert names["ARMCI_FOREIGN_PREFIX"] == str(tmp_path)
    assert names["ARMCI_FOREIGN_LIBS"] == "-larmci-mpich -lm"
    assert names["ARMCI_FOREIGN_COMPILER"] == "mpicc.mpich"


def test_the_environment_chooses_no_output_folder(tmp_path: Path) -> None:
    made = ForeignLibrary(installation(tmp_path)).configuration(bazel.Configuration())
    assert not [flag for flag in made.flags() if flag.startswith("--platform_suffix")]
    assert f"--repo_env=ARMCI_FOREIGN_PREFIX={tmp_path}" in made.flags()


def test_a_rebuilt_library_is_looked_at_again(tmp_path: Path) -> None:
    library = ForeignLibrary(installation(tmp_path))
    before = environment(library)
    assert environment(library) == before
    later = time.time() + 10
    os.utime(tmp_path / "lib" / "libarmci.a", (later, later))
    assert environment(library)["ARMCI_FOREIGN_STAMP"] != before["ARMCI_FOREIGN_STAMP"]


def test_a_folder_without_headers_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ToolError) as raised:
        ForeignLibrary(tmp_path).configuration(bazel.Configuration())
    assert "include/armci.h" in raised.value.where
