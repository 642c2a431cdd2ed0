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


def pkg_config(name: str, mpi: str, flags: Sequence[str]) -> str:
    """Of an implementation; `flags` are what a static program needs besides."""
    return _fill(SOURCES / "pkgconfig" / "armci.pc.in", {
        "SUBFOLDER": f"/armci/{name}", "NAME": f"armci-{name}", "VERSION": version(), "REQUIRES": _mpi_package(mpi),
        "DESCRIPTION": f"one-sided communication, {name} above {_MPI_TITLES[mpi]}",
        "STATIC_LIBS": " ".join([*flags, *_CPP_LIBS])})


def pkg_config_of_default(root: Path, default: str) -> str:
    """The same as of the implementation that is the default, by the links to it."""
    text = (root / pkg_config_file(default)).read_text()
    return text.replace(f"/armci/{default}", "").replace(f"Name: armci-{default}", "Name: armci")


def static_libs(root: Path, name: str) -> str:
    """What a static program needs besides, of an implementation that is installed."""
    lines = (root / pkg_config_file(name)).read_text().splitlines()
    return next(line.partition(":")[2].strip() for line in lines if line.startswith("Libs.private:"))


def cmake(static: Mapping[str, str], default: str, mpi: str) -> dict[Path, str]:
    """The package's files; `static` has what static programs need besides, for each implementation."""
    targets = []
    for name, libs in static.items():
        folder = f'"${{_armci_prefix}}/lib/armci/{name}"'
        targets += [f"_armci_target({name} SHARED {folder})", f"_armci_target({name}-static STATIC {folder} {libs})"]
    values = {"VERSION": version(), "MPI": mpi, "MPI_TITLE": _MPI_TITLES[mpi], "DEFAULT": default,
              "IMPLEMENTATIONS": " ".join(static), "TARGETS": "\n".join(targets)}
    return {CMAKE / name: _fill(SOURCES / "cmake" / f"{name}.in", values)
            for name in ("ARMCIConfig.cmake", "ARMCIConfigVersion.cmake")}


def _mpi_package(mpi: str) -> str:
    package = _MPI_PACKAGES[mpi]
    known = shutil.which("pkg-config") and process.run(["pkg-config", "--exists", package], job=False).ok
    return package if known else ""


def _fill(template: Path, values: Mapping[str, str]) -> str:
    return re.sub(r"@([A-Z_]+)@", lambda match: values[match.group(1)], template.read_text())
