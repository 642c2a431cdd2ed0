"""Descriptions of an installation for other build systems: files of pkg-config and of CMake."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Mapping, Sequence

from armci_tool import process
from armci_tool.repository import ROOT

SOURCES = ROOT / "packaging"
PKG_CONFIG = Path("lib/pkgconfig")
DEFAULT_PACKAGE = "armci"
CMAKE = Path("lib/cmake/ARMCI")
CMAKE_FILES = ("ARMCIConfig.cmake", "ARMCIConfigVersion.cmake", "GlobalArrays.cmake")
_VERSION_HEADER = ROOT / "impl" / "api" / "version.h"
_MPI_TITLES = {"openmpi": "Open MPI", "mpich": "MPICH"}
# How pkg-config calls them.
_MPI_PACKAGES = {"openmpi": "ompi-c", "mpich": "mpich"}
# The library is C++ inside, also under a program in C.
_CPP_LIBS = ("-lstdc++", "-lm")


def version() -> str:
    """Of the library."""
    found = dict(re.findall(r"kVersion(Major|Minor|Patch) = (\d+);", _VERSION_HEADER.read_text()))
    return ".".join(found[part] for part in ("Major", "Minor", "Patch"))


def pkg_config_names(name: str) -> tuple[str, str]:
    """The packages of an implementation for pkg-config: its shared library, and its static one for some programs."""
    return f"armci-{name}", f"armci-{name}-static"


def pkg_config_file(package: str) -> Path:
    """Of a package of pkg-config."""
    return PKG_CONFIG / f"{package}.pc"


def pkg_config(package: str, name: str, mpi: str, libs: str) -> str:
    """Describes the implementation `name` as one of its own packages or as the default, `armci`. `libs` is what a
    static program needs besides. With `pkg-config --static` alone the linker would still take the shared library."""
    is_static = package == pkg_config_names(name)[1]
    # A machine may not have the file of its MPI library: then the compiler wrapper brings the flags.
    mpi_package = _MPI_PACKAGES[mpi]
    known = shutil.which("pkg-config") and process.run(["pkg-config", "--exists", mpi_package], job=False).ok
    return _fill(SOURCES / "pkgconfig" / ("armci-static.pc.in" if is_static else "armci.pc.in"), {
        "SUBFOLDER": "" if package == DEFAULT_PACKAGE else f"/armci/{name}", "NAME": package, "VERSION": version(),
        "REQUIRES": mpi_package if known else "", "STATIC_LIBS": libs, "DESCRIPTION":
        f"one-sided communication, {name}{', static,' * is_static} above {_MPI_TITLES[mpi]}"})


def of_static_program(flags: Sequence[str]) -> str:
    """The other libraries of a static program; `flags` are those of the library itself, without MPI."""
    return " ".join([*flags, *_CPP_LIBS])


def static_libs(root: Path, name: str) -> str:
    """The same, of an implementation that is installed."""
    lines = (root / pkg_config_file(pkg_config_names(name)[0])).read_text().splitlines()
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


def _fill(template: Path, values: Mapping[str, str]) -> str:
    return re.sub(r"@([A-Z_]+)@", lambda match: values[match.group(1)], template.read_text())
