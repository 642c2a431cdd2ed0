"""find_package(ARMCI) with MPI libraries that are nothing but a header and a name."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from armci_tool.install import descriptions
from armci_tool.repository import ROOT
from helpers import script

_HEADER = """
#define MPI_VERSION 3
#define MPI_SUBVERSION 1
%s
#ifdef __cplusplus
extern "C" {
#endif
int MPI_Init(int *, char ***);
int MPI_Finalize(void);
int MPI_Get_library_version(char *, int *);
#define MPI_MAX_LIBRARY_VERSION_STRING 256
#ifdef __cplusplus
}
#endif
"""
_CODE = """
int MPI_Init(int *c, char ***v) { return 0; }
int MPI_Finalize(void) { return 0; }
int MPI_Get_library_version(char *v, int *n) { return 0; }
"""
MACROS = {"openmpi": "#define OPEN_MPI 1", "mpich": '#define MPICH_VERSION "4"', "none of them": "",
          "Intel": '#define I_MPI_VERSION "2021"'}


def mpi_wrapper(folder: Path, kind: str) -> Path:
    """A compiler wrapper of an MPI library called libmpi, as all are but Debian's MPICH."""
    folder.mkdir()
    (folder / "mpi.h").write_text(_HEADER % MACROS[kind])
    (folder / "mpi.c").write_text(_CODE)
    subprocess.run(["gcc", "-shared", "-fPIC", "-Wl,-soname,libmpi.so.12", str(folder / "mpi.c"), "-o",
                    str(folder / "libmpi.so")], check=True)
    flags = f"-I{folder} -L{folder} -lmpi"
    return script(folder, "mpicc", f'case "$1" in -show*) echo gcc {flags} ;; *) exec gcc "$@" {flags} ;; esac\n')


def package(root: Path, mpi: str) -> Path:
    """A prefix with the files of install(), for an implementation that is not there."""
    (root / "include").mkdir(parents=True)
    for name in descriptions.CMAKE_FILES:
        path = root / descriptions.CMAKE / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(descriptions.cmake(name, {"shmem": "-lstdc++"}, "shmem", mpi))
    return root


def configure(folder: Path, root: Path, *options: str) -> str:
    """The complaints of CMake; "" if it has none."""
    source = folder / ("program.cc" if "-DLANGUAGES=CXX" in options else "program.c")
    source.write_text("int main(void) { return 0; }\n")
    done = subprocess.run(["cmake", "-B", str(folder / "build"), f"-DCMAKE_PREFIX_PATH={root}", "-DTARGET=ARMCI::armci",
                           f"-DSOURCE={source}", *options, str(ROOT / "integration" / "cmake")],
                          text=True, capture_output=True, check=False, timeout=120)
    return " ".join(done.stderr.split()) if done.returncode != 0 else ""


@pytest.mark.parametrize("mpi, kind, said", [
    ("openmpi", "openmpi", ""), ("mpich", "mpich", ""), ("mpich", "Intel", ""),
    ("openmpi", "mpich", "was built with openmpi, and this project found mpich"),
    ("mpich", "openmpi", "was built with mpich, and this project found openmpi"),
    ("openmpi", "none of them", "found neither Open MPI nor MPICH")])
def test_the_header_says_which_mpi_library_it_is(tmp_path: Path, mpi: str, kind: str, said: str) -> None:
    wrapper = mpi_wrapper(tmp_path / "library", kind)
    output = configure(tmp_path, package(tmp_path / "prefix", mpi), f"-DMPI_C_COMPILER={wrapper}")
    assert said in output and bool(said) == bool(output)


def test_another_compiler_in_the_same_folder_is_looked_at_anew(tmp_path: Path) -> None:
    root = package(tmp_path / "prefix", "openmpi")
    first, second = (mpi_wrapper(tmp_path / kind, kind) for kind in ("openmpi", "mpich"))
    assert configure(tmp_path, root, f"-DMPI_C_COMPILER={first}") == ""
    assert "found mpich" in configure(tmp_path, root, "-UMPI_*", f"-DMPI_C_COMPILER={second}")


def test_a_project_of_cxx_alone_gets_mpi_for_that(tmp_path: Path) -> None:
    wrapper = mpi_wrapper(tmp_path / "library", "openmpi")
    assert configure(tmp_path, package(tmp_path / "prefix", "openmpi"), "-DLANGUAGES=CXX",
                     f"-DMPI_CXX_COMPILER={wrapper}") == ""


def test_a_project_without_c_gets_the_advice_to_enable_it(tmp_path: Path) -> None:
    output = configure(tmp_path, package(tmp_path / "prefix", "openmpi"), "-DLANGUAGES=Fortran")
    assert "enable C, as in project(NAME C Fortran)" in output
