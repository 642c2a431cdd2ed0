"""System calls that Python 3.11 has no functions for: namespaces, mounts, and dying with one's parent."""

from __future__ import annotations

import ctypes
import os
import select
import signal

CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_NOSUID = 0x2
MS_NODEV = 0x4
MS_NOEXEC = 0x8
MS_BIND = 0x1000
MS_REC = 0x4000
MS_PRIVATE = 0x40000

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def unshare(flags: int) -> None:
    """Puts this process into new namespaces; of CLONE_NEWPID its later children only."""
    _check(_libc.unshare(flags), "unshare")


def mount(source: str, target: str, kind: str = "", flags: int = 0, data: str = "") -> None:
    """mount(2)."""
    _check(_libc.mount(source.encode(), target.encode(), kind.encode() or None, ctypes.c_ulong(flags),
                       data.encode() or None), f"mount {kind or source} on {target}")


def own_root() -> None:
    """In a new mount namespace: makes its mounts private, and this process's root folder the namespace's root.

    In a chroot the root folder may be no mount point, so its mounts cannot be made private by its name. A process that
    enters the namespace gets the namespace's root, outside of the chroot.
    """
    root = os.open("/", os.O_PATH)
    namespace = os.open("/proc/self/ns/mnt", os.O_RDONLY)
    _check(_libc.setns(namespace, CLONE_NEWNS), "setns")
    mount("none", "/", flags=MS_REC | MS_PRIVATE)
    os.fchdir(root)
    if os.getcwd() != "/":
        # Entered once more, the namespace leads to what is mounted on its root last.
        mount(".", "/", flags=MS_BIND | MS_REC)
        _check(_libc.setns(namespace, CLONE_NEWNS), "setns")
    os.close(root)
    os.close(namespace)


def die_with_parent(lifeline: int) -> None:
    """Has the kernel kill this process when its parent dies. `lifeline` is the reading end of a pipe whose writing end
    only the parent holds: it shows a death that came before."""
    _check(_libc.prctl(_PR_SET_PDEATHSIG, ctypes.c_ulong(signal.SIGKILL), 0, 0, 0), "prctl")
    if select.select([lifeline], [], [], 0)[0]:
        os._exit(128 + signal.SIGKILL)
