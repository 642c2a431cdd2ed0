"""Sources of Debian's packages, from where the machine's own apt has the packages."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Sequence

from armci_tool import process
from armci_tool.applications import sources

_LINE = "deb-src $(SITE) $(RELEASE) $(COMPONENT)"


def source(package: str, note: sources.Note) -> Path:
    """The unpacked source of a package, in the cache; downloaded once for a release. The caller holds the lock."""
    next_step = f"put an archive into {sources.cache()}, or name one with --source"
    if missing := [command for command in ("apt-get", "dpkg-source") if shutil.which(command) is None]:
        raise sources.NoSource(f"there is no source of {package}, and no {missing[0]} to get Debian's with", next_step=next_step)
    lines = source_lines()
    if not lines:
        raise sources.NoSource(f"there is no source of {package}, and apt-get knows nothing of Debian's packages",
                        next_step=f"as root, run apt-get update; or {next_step}")
    folder = sources.once(f"debian-{package}", sources.digest(version(package), *lines), lambda made: _get(package, made, lines, next_step, note))
    return next(path for path in folder.glob(f"{package}-*") if path.is_dir())


def version(package: str) -> str:
    """The version that apt would install now; empty where apt knows none."""
    if shutil.which("apt-cache") is None:
        return ""
    policy = process.run(["apt-cache", "policy", package], environment={"LC_ALL": "C"})
    found = re.search(r"^  Candidate: (\S+)$", policy.output, re.MULTILINE)
    return found.group(1) if found else ""


def source_lines() -> list[str]:
    """Lines of a sources.list: where apt has Debian's packages from, for their sources."""
    listed = process.run(["apt-get", "indextargets", "--format", _LINE, "Created-By: Packages", "Origin: Debian"])
    return sorted({line for line in listed.output.splitlines() if line.startswith("deb-src ")})


def options(folder: Path) -> list[str]:
    """Options that make apt-get read folder/sources.list alone. The system's lists belong to root, and may have no sources."""
    return [word for setting in (f"Dir::Etc::SourceList={folder}/sources.list", "Dir::Etc::SourceParts=-",
                                 f"Dir::State::Lists={folder}/lists", f"Dir::Cache={folder}", "APT::Sandbox::User=",
                                 "APT::Update::Post-Invoke=", "APT::Update::Post-Invoke-Success=") for word in ("-o", setting)]


def _get(package: str, folder: Path, lines: Sequence[str], next_step: str, note: sources.Note) -> None:
    (folder / "sources.list").write_text("".join(f"{line}\n" for line in lines))
    (folder / "lists" / "partial").mkdir(parents=True)
    for title, words in (("reading which sources Debian has", ["update"]), (f"getting the source of {package}", ["source", package])):
        note(title)
        made = process.run(["apt-get", *options(folder), "-q", *words], cwd=folder, on_line=note)
        if not made.ok:
            raise sources.NoSource(f"there is no source of {package}, and apt-get cannot get Debian's", where=made.tail(10), next_step=next_step)
    shutil.rmtree(folder / "lists")
