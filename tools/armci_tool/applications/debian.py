"""Sources of Debian's packages, from where the machine's own apt has the packages."""

from __future__ import annotations

import shutil
from pathlib import Path

from armci_tool import process
from armci_tool.applications import sources
from armci_tool.errors import ToolError

_FORMAT = "deb-src [signed-by=$(SIGNED_BY)] $(SITE) $(RELEASE) $(COMPONENT)"


def source(package: str, note: sources.Note) -> Path:
    """The unpacked source of a package, in the cache; got once. The caller holds the lock."""
    folder = sources.once(f"debian-{package}", sources.digest("1"), lambda made: _get(package, made, note))
    return next(path for path in folder.glob(f"{package}-*") if path.is_dir())


def _get(package: str, folder: Path, note: sources.Note) -> None:
    next_step = f"put an archive into {sources.cache()}, or name one with --source"
    if missing := [command for command in ("apt-get", "dpkg-source") if shutil.which(command) is None]:
        raise ToolError(f"there is no source of {package}, and no {missing[0]} to get Debian's with", next_step=next_step)
    listed = process.run(["apt-get", "indextargets", "--format", _FORMAT, "Created-By: Packages"])
    (folder / "sources.list").write_text("".join(f"{line}\n" for line in sorted(set(listed.output.splitlines()))))
    (folder / "lists" / "partial").mkdir(parents=True)
    # The system's own lists and caches need root, and need not have sources.
    options = [word for setting in (f"Dir::Etc::SourceList={folder}/sources.list", "Dir::Etc::SourceParts=-",
                                    f"Dir::State::Lists={folder}/lists", f"Dir::Cache={folder}", "APT::Sandbox::User=")
               for word in ("-o", setting)]
    for title, words in (("reading what sources Debian has", ["update"]), (f"getting the source of {package}", ["source", package])):
        note(title)
        made = process.run(["apt-get", *options, "-q", *words], cwd=folder, on_line=note)
        if not made.ok:
            raise ToolError(f"there is no source of {package}, and apt-get cannot get Debian's", where=made.tail(10), next_step=next_step)
    shutil.rmtree(folder / "lists")
