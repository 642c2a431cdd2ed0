"""The kernel of the guests and what it boots from: Debian's package, unpacked into the user's cache, not installed."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Callable

from armci_tool import process, scratch_folders
from armci_tool.console import Progress
from armci_tool.errors import ToolError

# The package that depends on the present kernel's.
_PACKAGE = "linux-image-amd64"
_BUSYBOX = Path("/bin/busybox")
# With those they need: the machine's devices, the file systems, the verbs device and what it stands on.
_MODULES = ("virtio_pci", "virtio_console", "virtio_net", "9p", "9pnet_virtio", "overlay", "veth", "crc32_generic",
            "crc32c_generic", "ib_uverbs", "rdma_ucm", "rdma_rxe")
# The files that guests boot from: the kernel, and an archive with busybox and the modules, to be unpacked into memory.
_IMAGE, _ARCHIVE = "vmlinuz", "archive.cpio"
_NEXT = "run tools/armci setup --rdma"


def cache() -> Path:
    """The folder of this user for what can be made again."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "armci" / "rdma"


def find() -> tuple[Path, Path]:
    """The kernel and the archive that ensure() has made; raises ToolError if it has not."""
    folder = cache() / "kernel"
    if not _is_whole(folder):
        raise ToolError("there is no kernel for the guest", where=f"{folder} has none", next_step=_NEXT)
    return folder / _IMAGE, folder / _ARCHIVE


def ensure(say: Callable[[str], None]) -> None:
    """Makes them unless they are there. Uses the network."""
    folder = cache() / "kernel"
    if _is_whole(folder):
        say(f"setup: the guest's kernel is in {folder}")
        return
    cache().mkdir(parents=True, exist_ok=True)
    with scratch_folders.make(cache()) as made, Progress("setup: the guest's kernel") as progress:
        ready, unpacked = made / "kernel", made / "unpacked"
        progress.note("downloading")
        package = _download(made)
        progress.note("unpacking")
        _check(["dpkg-deb", "-x", str(package), str(unpacked)])
        ready.mkdir()
        _assemble(unpacked, ready)
        shutil.rmtree(folder, ignore_errors=True)
        ready.rename(folder)
    say(f"setup: unpacked {package.name} into {folder}")


def pack(folder: Path) -> bytes:
    """An archive of the folder's files, as the kernel unpacks them into memory."""
    names = sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))
    return subprocess.run(["cpio", "-o", "-H", "newc", "--quiet", "-R", "0:0"], cwd=folder, check=True,
                          input="\n".join(names).encode(), stdout=subprocess.PIPE).stdout


def _is_whole(folder: Path) -> bool:
    return (folder / _IMAGE).exists() and (folder / _ARCHIVE).exists()


def _download(folder: Path) -> Path:
    depends = _check(["apt-cache", "depends", _PACKAGE])
    names = [line.split()[-1] for line in depends.splitlines() if "Depends: linux-image-" in line]
    if not names:
        raise ToolError(f"cannot find the kernel's package: {_PACKAGE} depends on none",
                        where=depends.strip() or "apt-cache knows no such package", next_step="run apt-get update")
    _check(["apt-get", "download", "-q", names[0]], cwd=folder)
    return next(folder.glob("*.deb"))


def _assemble(unpacked: Path, ready: Path) -> None:
    image = next((unpacked / "boot").glob("vmlinuz-*"))
    version = image.name.removeprefix("vmlinuz-")
    _check(["depmod", "-b", str(unpacked), version])
    archived = unpacked / "archived"
    for name in ("bin", "dev", "proc", "sys", "modules"):
        (archived / name).mkdir(parents=True)
    shutil.copy2(_BUSYBOX, archived / "bin" / "busybox")
    # A line for each module that is needed, in order: `insmod PATH`. Some are needed more than once.
    listed = "".join(_check(["modprobe", "-d", str(unpacked), "-S", version, "--show-depends", name])
                     for name in _MODULES)
    paths = dict.fromkeys(Path(line.split()[1]) for line in listed.splitlines() if line.startswith("insmod "))
    for path in paths:
        shutil.copy2(path, archived / "modules")
    (archived / "modules" / "order").write_text("".join(f"{path.name}\n" for path in paths))
    (ready / _ARCHIVE).write_bytes(pack(archived))
    shutil.copy2(image, ready / _IMAGE)


def _check(command: list[str], cwd: Path = Path("/")) -> str:
    """The output of the command; raises ToolError if it fails."""
    result = process.run(command, cwd=cwd)
    if not result.ok:
        raise ToolError(f"{command[0]} failed with status {result.status}", where=result.tail(5), next_step=_NEXT)
    return result.output
