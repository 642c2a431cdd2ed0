"""What goes where."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Optional, Sequence

from armci_tool import bazel, launch
from armci_tool.errors import ToolError
from armci_tool.install import descriptions
from armci_tool.install.prefix import MPI_FILE, Prefix
from armci_tool.repository import ROOT

SHARED_NAME = "libarmci.so.1"
LINK_NAME = "libarmci.so"
STATIC_NAME = "libarmci.a"
FLAGS_NAME = "libarmci.a.flags"
INFO = "//tools:armci_info_shared"
PROF = "//tools/prof:libarmci-prof.so"
LIBRARIES = Path("lib/armci")
# Where it is installed, it is what runs everywhere.
USUAL_DEFAULT = "mpi-rma"

Note = Callable[[str], None]


@dataclass(frozen=True)
class Built:
    """The files of an implementation, as Bazel made them."""

    name: str
    shared: Path
    static: Path
    flags: tuple[str, ...]  # what a static program is linked with besides, MPI left out


def install(root: Path, names: Sequence[str], default: str, configuration: bazel.Configuration, *, verbose: bool = False,
            on_progress: Optional[Note] = None) -> Prefix:
    """Builds, then copies; implementations that are there already stay, if they have the same MPI library below."""
    prefix = Prefix.open(root)
    if prefix.mpi not in ("", configuration.mpi):
        raise ToolError(f"{root} has implementations for {prefix.mpi}, not {configuration.mpi}",
                        next_step="choose another --prefix, or --uninstall it first")
    built = [_build(name, configuration, verbose, on_progress) for name in names]
    info, prof = (bazel.built(label, configuration, verbose=verbose, on_progress=on_progress) for label in (INFO, PROF))
    there = [name for name in _installed(root) if name not in names]
    all_names = [*names, *there]
    chosen = default or next((name for name in (USUAL_DEFAULT, *all_names) if name in all_names))
    if chosen not in all_names:
        raise ToolError(f"the default {chosen} is not installed", next_step="use one of: " + ", ".join(all_names))
    try:
        _copy(prefix, built, info, prof, configuration.mpi)
        _describe(prefix, chosen, configuration.mpi)
    except OSError as error:
        raise ToolError(f"cannot install into {root}", where=str(error),
                        next_step="choose another --prefix, or run with the rights to write there") from error
    return prefix


def uninstall(root: Path) -> int:
    """Removes what install() wrote, and nothing else; returns how many files."""
    prefix = Prefix.open(root)
    if not prefix.listed:
        raise ToolError(f"nothing is installed in {root}", where="there is no list of files in it",
                        next_step="give the --prefix that was installed into")
    try:
        return prefix.remove_all()
    except OSError as error:
        raise ToolError(f"cannot uninstall {root}", where=str(error),
                        next_step="run with the rights to write there") from error


def compile_line(mpi: str, root: Path, name: str, source: str, program: str) -> list[str]:
    """The plain compiler line of a program that uses an implementation installed into `root`."""
    folder = root / LIBRARIES / name
    return [launch.mpi_library(mpi).compiler, source, "-o", program, f"-I{root}/include", f"-L{folder}",
            f"-Wl,--enable-new-dtags,-rpath,{folder}", "-larmci"]


def _build(name: str, configuration: bazel.Configuration, verbose: bool, on_progress: Optional[Note]) -> Built:
    shared, static, listed = (bazel.built(f"//impl/{name}:{file}", configuration, verbose=verbose, on_progress=on_progress)
                              for file in (SHARED_NAME, STATIC_NAME, FLAGS_NAME))
    flags = listed.read_text().split()
    return Built(name, shared, static, tuple(flag for flag in flags if not flag.startswith("-L") and "mpi" not in flag))


def _installed(root: Path) -> list[str]:
    return sorted(path.parent.name for path in (root / LIBRARIES).glob(f"*/{SHARED_NAME}"))


def _copy(prefix: Prefix, built: Sequence[Built], info: Path, prof: Path, mpi: str) -> None:
    headers = sorted((ROOT / "spec").glob("*.h"))
    public = [header for header in headers if not header.name.startswith("abi_")]
    commands = [(info, Path("bin/armci_info")), *((path, Path("bin") / path.name)
                                                  for path in sorted((ROOT / "packaging" / "bin").iterdir()))]
    pages = [(page, Path("share/man") / f"man{page.suffix[1:]}" / page.name)
             for page in sorted((ROOT / "packaging" / "man").iterdir())]
    prefix.require_free([*(Path("include") / header.name for header in public), *(target for _, target in commands),
                         *(target for _, target in pages)])
    prefix.write(mpi + "\n", MPI_FILE)
    prefix.copy(prof, LIBRARIES / prof.name, 0o755)
    for header in public:
        prefix.copy(header, Path("include") / header.name)
    for one in built:
        folder = LIBRARIES / one.name
        prefix.copy(one.shared, folder / SHARED_NAME, 0o755)
        prefix.copy(one.static, folder / STATIC_NAME)
        prefix.link(SHARED_NAME, folder / LINK_NAME)
        prefix.write(descriptions.pkg_config(one.name, mpi, one.flags), descriptions.pkg_config_file(one.name))
    for source, target in commands:
        prefix.copy(source, target, 0o755)
    for page, target in pages:
        prefix.copy(page, target)


def _describe(prefix: Prefix, default: str, mpi: str) -> None:
    """What is about all that are there."""
    names = _installed(prefix.root)
    for file in (SHARED_NAME, LINK_NAME, STATIC_NAME):
        prefix.link(f"armci/{default}/{SHARED_NAME if file == LINK_NAME else file}", Path("lib") / file)
    prefix.write(descriptions.pkg_config_of_default(prefix.root, default), descriptions.pkg_config_file(""))
    static_libs = {name: descriptions.static_libs(prefix.root, name) for name in names}
    for path, text in descriptions.cmake(static_libs, default, mpi).items():
        prefix.write(text, path)
