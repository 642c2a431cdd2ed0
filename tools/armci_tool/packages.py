"""Which packages the repository needs, which are there, and how to install the others."""

from __future__ import annotations

import glob
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Optional, Sequence

from armci_tool import leftovers, process
from armci_tool.console import Progress
from armci_tool.errors import ToolError
from armci_tool.repository import PACKAGES_FILE


@dataclass(frozen=True)
class Package:
    """A row of packages.txt."""

    name: str
    probe: str
    purpose: str

    def probe_found(self) -> bool:
        """Whether the command or file that shows its presence is there, on any system."""
        if self.probe.startswith("/"):
            return bool(glob.glob(self.probe))
        return shutil.which(self.probe) is not None


def read_packages(path: Path = PACKAGES_FILE) -> list[Package]:
    """The rows of packages.txt: `name | probe | purpose`, # starts a comment."""
    packages = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        text = line.split("#", 1)[0].strip()
        if not text:
            continue
        cells = [cell.strip() for cell in text.split("|")]
        if len(cells) != 3 or not all(cells):
            raise ToolError("cannot read the list of packages", where=f"{path}:{number}: {line}",
                            next_step="write: package | command or absolute path | purpose")
        packages.append(Package(*cells))
    return packages


def missing_by_dpkg(packages: Sequence[Package]) -> list[Package]:
    """The packages that dpkg does not know as installed."""
    query = process.run(["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\\n", *[p.name for p in packages]])
    installed = {line.split()[0] for line in query.output.splitlines() if line.endswith(" installed")}
    return [package for package in packages if package.name not in installed]


def install_command(names: Sequence[str]) -> list[str]:
    """The apt-get line that installs `names`, through sudo where we are not root."""
    line = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "-q", "-y", "--no-install-recommends", *names]
    return _elevated(line)


def _elevated(line: list[str]) -> list[str]:
    return line if os.geteuid() == 0 else ["sudo", *line]


def has_apt() -> bool:
    """Whether this system installs packages with apt."""
    return shutil.which("apt-get") is not None and shutil.which("dpkg-query") is not None


def ensure_installed(say: Callable[[str], None], packages: Optional[Sequence[Package]] = None) -> None:
    """Makes all packages present; uses the network only if one is missing."""
    wanted = read_packages() if packages is None else packages
    if not has_apt():
        _explain_elsewhere([package for package in wanted if not package.probe_found()])
        say("setup: everything needed was found")
        return
    missing = missing_by_dpkg(wanted)
    if not missing:
        say(f"setup: all {len(wanted)} packages are installed")
        return
    names = [package.name for package in missing]
    if os.geteuid() != 0 and shutil.which("sudo") is None:
        raise ToolError("installing packages needs root, and there is no sudo here", where=" ".join(names),
                        next_step="as root, run: apt-get update && apt-get install -y " + " ".join(names))
    say("setup: installing " + " ".join(names))
    _install(names)
    say(f"setup: installed {len(names)} packages")


def _explain_elsewhere(missing: Sequence[Package]) -> None:
    if not missing:
        return
    lines = [f"{p.purpose}: {p.probe} not found (Debian package {p.name})" for p in missing]
    raise ToolError("some things are missing, and this system has no apt-get to install them with",
                    where="\n".join(lines), next_step="install them with this system's own package manager")


def _run_apt(command: Sequence[str], note: Callable[[str], None]) -> process.Result:
    return process.run(command, on_line=note, job=False, ending=leftovers.PACKAGE_MANAGER)


def _install(names: Sequence[str]) -> None:
    with Progress("installing packages") as progress:
        def note(line: str) -> None:
            progress.detail = line
        # Package lists that are there may be too old to download from: refresh them and try again before giving up.
        first = _run_apt(install_command(names), note)
        if first.ok:
            return
        progress.detail = "refreshing the package lists"
        update = _run_apt(_elevated(["apt-get", "update", "-q"]), note)
        second = _run_apt(install_command(names), note)
    if not second.ok:
        raise ToolError("apt-get could not install the packages",
                        where=(update.tail(5) if not update.ok else "") + "\n" + second.tail(15),
                        next_step="mend the package sources, or install by hand: " + " ".join(names))
