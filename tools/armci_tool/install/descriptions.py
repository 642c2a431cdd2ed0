"""What tells other build systems how to use an installation: files of pkg-config and of CMake."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Mapping, Sequence

from armci_tool import process
from armci_tool.repository import ROOT

SOURCES = ROOT / "packaging"
PKG_CONFIG = Path("lib/pkgconfig")
CMAKE = Path("lib/cmake/ARMCI")
CMAKE_FILES = ("ARMCIConfig.cmake", "ARMCIConfigVersion.cmake")
_VERSION_HEADER = ROOT / "impl" / "common" / "version.h"
# How pkg-config calls the MPI libraries. A machine may not have the file: then the compiler wrapper brings the flags.
_MPI_TITLES = {"openmpi": "Open MPI", "mpich": "MPICH"}
_MPI_PACKAGES = {"openmpi": "ompi-c", "mpich": "mpich"}
# The library is C++ inside, whatever the program is.
_CPP_LIBS = ("-lstdc++", "-lm")


def version() -> str:
    """Of the library."""
    found = dict(re.findall(r"kVersion(Major|Minor|Patch) = (\d+);", _VERSION_HEADER.read_text()))
    return ".".join(found[part] for part in ("Major", "Minor", "Patch"))


def pkg_config_file(name: str) -> Path:
    """Of an implementation; of the default one without a name."""
    return PKG_CONFIG / (f"armci-{name}.pc" if name else "armci.pc")


def static_pkg_config_file(name: str) -> Path:
    """For programs that take the implementation's static library."""
    return PKG_CONFIG / f"armci-{name}-static.pc"


def pkg_config(name: str, mpi: str, static: str) -> str:
    """Of an implementation; `static` is what a static program needs besides."""
    return _pkg_config("armci.pc.in", f"armci-{name}", f"/armci/{name}", name, mpi, static)


def static_pkg_config(name: str, mpi: str, static: str) -> str:
    """The same for static programs: `pkg-config --static` would still let the linker take the shared library."""
    return _pkg_config("armci-static.pc.in", f"armci-{name}-static", f"/armci/{name}", f"{name}, static,", mpi, static)


def pkg_config_of_default(default: str, mpi: str, static: str) -> str:
    """The same as of the implementation that is the default, by the links to it."""
    return _pkg_config("armci.pc.in", "armci", "", default, mpi, static)


def of_static_program(flags: Sequence[str]) -> str:
    """What it is linked with besides, from what the linker would take for the library itself, MPI left out."""
    return " ".join([*flags, *_CPP_LIBS])


def static_libs(root: Path, name: str) -> str:
    """The same, of an implementation that is installed."""
    lines = (root / pkg_config_file(name)).read_text().splitlines()
    return next(line.partition(":")[2].strip() for line in lines if line.startswith("Libs.private:"))


def cmake(file: str, static: Mapping[str, str], default: str, mpi: str) -> str:
    """A file of the package; `static` has what static programs need besides, for each implementation."""
    targets = []
    for name, libs in static.items():
        folder = f'"${{_armci_prefix}}/lib/armci/{name}"'
        targets += [f"_armci_target({name} SHARED {folder})", f"_armci_target({name}-static STATIC {folder} {libs})"]
    return _fill(SOURCES / "cmake" / f"{file}.in", {
        "VERSION": version(), "MPI": mpi, "MPI_TITLE": _MPI_TITLES[mpi], "DEFAULT": default,
        "IMPLEMENTATIONS": " ".join(static), "TARGETS": "\n".join(targets)})


def _pkg_config(template: str, name: str, subfolder: str, subject: str, mpi: str, static: str) -> str:
    return _fill(SOURCES / "pkgconfig" / template, {
        "SUBFOLDER": subfolder, "NAME": name, "VERSION": version(), "REQUIRES": _mpi_package(mpi),
        "STATIC_LIBS": static, "DESCRIPTION": f"one-sided communication, {subject} above {_MPI_TITLES[mpi]}"})


def _mpi_package(mpi: str) -> str:
    package = _MPI_PACKAGES[mpi]
    known = shutil.which("pkg-config") and process.run(["pkg-config", "--exists", package], job=False).ok
    return package if known else ""


def _fill(template: Path, values: Mapping[str, str]) -> str:
    return re.sub(r"@([A-Z_]+)@", lambda match: values[match.group(1)], template.read_text())
