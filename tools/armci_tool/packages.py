"""Which Debian packages the repository needs, which are there, and how to install the others."""

from __future__ import annotations

import glob
import os
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Sequence

from armci_tool import leak_check, process
from armci_tool.console import Progress
from armci_tool.errors import ToolError
from armci_tool.repository import PACKAGES_FILE

# The groups of packages.txt that each purpose needs.
PURPOSES = {"quickstart": ("tool", "build", "quickstart"), "install": ("tool", "build", "install"),
            "test": ("tool", "build", "quickstart", "install", "test"), "rdma": ("rdma",)}


@dataclass(frozen=True)
class Package:
    """A row of packages.txt."""

    group: str
    name: str
    probe: str
    purpose: str

    def probe_found(self) -> bool:
        """Whether the command or file that shows its presence is there, on any system."""
        if self.probe.startswith("/"):
            return bool(glob.glob(self.probe))
        return shutil.which(self.probe) is not None


def read_packages(purpose: str = "test", path: Path = PACKAGES_FILE) -> list[Package]:
    """The rows of packages.txt that a purpose needs: `group | name | probe | what for`, # starts a comment."""
    packages = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        text = line.split("#", 1)[0].strip()
        if not text:
            continue
        cells = [cell.strip() for cell in text.split("|")]
        if len(cells) != 4 or not all(cells) or not any(cells[0] in groups for groups in PURPOSES.values()):
            raise ToolError("cannot read the list of packages", where=f"{path}:{number}: {line}",
                            next_step="write: group | package | command or absolute path | what for")
        packages.append(Package(*cells))
    return [package for package in packages if package.group in PURPOSES[purpose]]


def missing(packages: Sequence[Package]) -> list[Package]:
    """The packages that dpkg does not know as installed; without dpkg, those whose probe finds nothing."""
    if not has_apt():
        return [package for package in packages if not package.probe_found()]
    query = process.run(["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\\n", *[p.name for p in packages]])
    installed = {line.split()[0] for line in query.output.splitlines() if line.endswith(" installed")}
    return [package for package in packages if package.name not in installed]


def has_apt() -> bool:
    """Whether this system installs packages with apt."""
    return shutil.which("apt-get") is not None and shutil.which("dpkg-query") is not None


def _install_line(names: Sequence[str]) -> list[str]:
    return ["apt-get", "install", "-q", "-y", "--no-install-recommends", *names]


def ensure_installed(say: Callable[[str], None], purpose: str = "test") -> None:
    """Makes the packages of a purpose present; uses the network only if one is missing."""
    ensure(say, read_packages(purpose), f"tools/armci setup --for {purpose}")


def ensure(say: Callable[[str], None], wanted: Sequence[Package], command: str) -> None:
    """Makes these packages present; `command` does the same, for the error's next step."""
    absent = missing(wanted)
    if not absent:
        say(f"setup: all {len(wanted)} packages are installed")
        return
    names = [package.name for package in absent]
    if not has_apt():
        raise ToolError("some things are missing, and this system has no apt-get to install them with",
                        where="\n".join(f"{p.purpose}: {p.probe} not found (Debian package {p.name})" for p in absent),
                        next_step="install them with this system's own package manager")
    if os.geteuid() != 0 and shutil.which("sudo") is None:
        raise ToolError(f"{len(names)} packages are missing, installing them needs root, and there is no sudo here",
                        where=" ".join(names),
                        next_step=f"as root, run: {command}\n"
                                  f"        or: apt-get update && {shlex.join(_install_line(names))}")
    say(f"setup: installing {len(names)} packages: {' '.join(names)}")
    _install(names)
    say(f"setup: installed {len(names)} packages")


def _run_apt(command: Sequence[str], note: Callable[[str], None]) -> process.Result:
    return process.run(command, on_line=note, job=False, ending=leak_check.PACKAGE_MANAGER)


def _install(names: Sequence[str]) -> None:
    elevate = ["sudo"] if os.geteuid() != 0 else []
    install = [*elevate, "env", "DEBIAN_FRONTEND=noninteractive", *_install_line(names)]
    with Progress("installing packages") as progress:
        # Package lists that are there may be too old to download from: refresh them and try again before giving up.
        if _run_apt(install, progress.note).ok:
            return
        progress.note("refreshing the package lists")
        update = _run_apt([*elevate, "apt-get", "update", "-q"], progress.note)
        second = _run_apt(install, progress.note)
    if not second.ok:
        raise ToolError("apt-get could not install the packages",
                        where=(update.tail(5) if not update.ok else "") + "\n" + second.tail(15),
                        next_step="mend the package sources, or install by hand: " + " ".join(names))


def row(name: str) -> Package:
    """The row of a package."""
    return next(package for package in read_packages() if package.name == name)
