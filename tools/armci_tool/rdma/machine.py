"""Guests: QEMU's command line, and the guests from their start to their end."""

from __future__ import annotations

import os
import shlex
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Mapping, NamedTuple, Optional, Sequence

from armci_tool import scratch_folders
from armci_tool.console import Progress
from armci_tool.errors import ToolError
from armci_tool.rdma import commands, kernel, network
from armci_tool.rdma.commands import END, Channel, Closed
from armci_tool.repository import ROOT

# The program that runs a command in another guest, in place of ssh.
AGENT = ROOT / "tools" / "guest-agent"
START_S = 120.0
# A guest has this time to power off.
END_S = 10.0
# A guest may be starting a job on emulated CPUs.
_REPLY_S = 60.0
_EMULATOR = "qemu-system-x86_64"
# Without `rep movsb` for copies: the emulator stores byte by byte, so that others would see parts of a word, which no
# CPU lets them see.
_CPU = "max,-erms,-fsrm"
# The emulated CPUs' counters run alike; without that to rely on the kernel reads a timer of the board, for 1.5 us.
_CLOCK = "tsc=reliable clocksource=tsc"
# The kernel prints warnings, so that the last words of a guest that stands still say where. Without the kernel's tests of its
# ciphers, which are of no use here: a guest once stood still in them.
_KERNEL = f"console=ttyS0 loglevel=5 panic=-1 cryptomgr.notests=1 {_CLOCK}"
_LAST_LINES = 40
_READ_BYTES = 65536


@dataclass(frozen=True)
class Options:
    """The properties of each guest. `folder`: whose files they may write; none if empty."""

    cpus: int = 2
    memory_mib: int = 4096
    folder: str = ""
    guests: int = 1
    owner: int = 0  # of those that are kept: the process with which they end; 0: none


class Files(NamedTuple):
    """Descriptors that QEMU has from its start. None of these files has a name that could be left behind."""

    archive: int  # in its memory when it boots
    agent: int  # its end of the channel
    link: int  # its end of the network


def require(guests: int = 1) -> None:
    """Raises ToolError if there can be no guests here, or not so many."""
    if guests > network.GUESTS_MAX:
        raise ToolError(f"cannot make {guests} guests with a network between them",
                        next_step=f"request at most {network.GUESTS_MAX}")
    for command in (_EMULATOR, "cpio", "setpriv"):
        if shutil.which(command) is None:
            raise ToolError(f"a guest with a verbs device needs {command}", where="it is not on PATH",
                            next_step="run tools/armci setup --rdma")
    kernel.find()


def starting(guests: int) -> str:
    """For progress lines."""
    return f"starting {guests} guests" if guests > 1 else "starting a guest"


def command_line(options: Options, image: Path, guest: int, files: Files) -> list[str]:
    """QEMU's command line for guest number `guest`."""
    line = [_EMULATOR, "-nodefaults", "-display", "none", "-no-reboot", "-accel", "tcg,thread=multi", "-cpu", _CPU,
            "-smp", str(options.cpus), "-m", f"{options.memory_mib}M", "-serial", "stdio",
            "-kernel", str(image), "-initrd", f"/dev/fd/{files.archive}", "-append", _KERNEL,
            "-device", "virtio-serial-pci", "-chardev", f"socket,id=agent,fd={files.agent}",
            "-device", "virtserialport,chardev=agent"]
    if options.guests > 1:
        # No option ROM: it is not booted from.
        line += ["-netdev", f"stream,id=link,addr.type=fd,addr.str={files.link}",
                 "-device", "virtio-net-pci,netdev=link,"
                 f"mac={network.hardware_address(guest)},host_mtu={network.MTU},romfile="]
    line += _share("root", "/", read_only=True)
    if options.folder:
        line += _share("folder", options.folder, read_only=False)
    return line


def config(options: Options, guest: int) -> dict[str, str]:
    """The variables that a guest's init.sh, start.sh and agent.py have."""
    several = options.guests > 1
    return {"FOLDER": options.folder, "TOOLS": str(AGENT.parent), "NODE_AGENT": str(AGENT) if several else "",
            "GUEST": network.host(guest), "ADDRESS": network.address(guest), "MTU": str(network.MTU),
            "UNDER": network.INTERFACE if several else "rdma0", "HOSTS": network.hosts(guest, options.guests)}


def _share(tag: str, folder: str, *, read_only: bool) -> list[str]:
    escaped = folder.replace(",", ",,")
    return ["-fsdev", f"local,id={tag},path={escaped},security_model=none,multidevs=remap"
            f",readonly={'on' if read_only else 'off'}", "-device", f"virtio-9p-pci,fsdev={tag},mount_tag={tag}"]


class Guests:
    """One guest, or several with a network between them; a context manager, at whose end nothing of them is left.
    Commands run on the first. If one ends, all end."""

    def __init__(self, options: Options = Options()) -> None:
        self.options = options
        self._guests: list[_Guest] = []
        self._ending = threading.Event()

    def __enter__(self) -> "Guests":
        """Returns when they take commands. They start at the same time."""
        require(self.options.guests)
        deadline = time.monotonic() + START_S
        try:
            with Progress(starting(self.options.guests)), ExitStack() as links:
                ends = [links.enter_context(end).fileno() for end in socket.socketpair()]
                for guest in range(self.options.guests):
                    self._guests.append(_Guest(self.options, guest, ends[guest]))
                for each in self._guests:
                    self._wait_until_ready(each, deadline)
        except BaseException:
            self.__exit__()
            raise
        if self.options.guests > 1:
            threading.Thread(target=self._end_together, args=(list(self._guests),), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        """Ends them in good order if they can, by force if not."""
        self._ending.set()
        for guest in self._guests:
            with suppress(Closed):
                guest.channel.post(END)
        for guest in self._guests:
            guest.end()
        self._guests = []

    def _wait_until_ready(self, guest: "_Guest", deadline: float) -> None:
        if not guest.channel.poll(max(0.0, deadline - time.monotonic())):
            raise self.failure(f"the guest has not started after {START_S:g} s")
        try:
            guest.channel.receive()
        except Closed:
            status = guest.emulator.wait()  # only the emulator has the other end
            raise self.failure(f"the guest ended while it was started, {_EMULATOR} with status {status}") from None
        guest.is_ready = True

    def _end_together(self, guests: Sequence["_Guest"]) -> None:
        """One does not end without the others, which would wait for it."""
        while not self._ending.wait(0.5):
            if any(each.emulator.poll() is not None for each in guests):
                for each in guests:
                    each.emulator.kill()
                return

    def run(self, command: commands.Command, *, timeout_s: Optional[float] = None) -> int:
        """Runs a command to its end; see commands.run."""
        try:
            return commands.run(self.channel, command, timeout_s=timeout_s)
        except Closed:
            raise self.failure("the guest ended while it ran a command") from None

    def tell_all(self, kind: str) -> None:
        """Sends TIDY or FORGET, and waits until all have done it. Raises ToolError if one has not: the guests must not
        be used any more."""
        try:
            for each in self._guests:
                each.channel.post(kind)
            for number, each in enumerate(self._guests):
                if not each.channel.poll(_REPLY_S):
                    raise self.failure(f"{network.host(number)} has not replied for {_REPLY_S:g} s")
                each.channel.receive()
        except Closed:
            raise self.failure("the guest ended by itself") from None

    def failure(self, what: str) -> ToolError:
        """The error `what`, with the last words of each guest."""
        last_words = "\n".join(words for each in self._guests if (words := each.last_words()))
        return ToolError(what, where=last_words or "the guest has printed nothing",
                         next_step="run tools/armci setup --rdma, and look whether there is memory for it (--memory)")

    @property
    def channel(self) -> Channel:
        """To the agent of the first, once it has started."""
        return self._guests[0].channel


class _Guest:
    """One machine. The machine dies with this process in every case. The first thread of this process must create it."""

    def __init__(self, options: Options, guest: int, link: int) -> None:
        self.is_ready = False
        image, archive = kernel.find()
        ours, theirs = socket.socketpair()
        self.channel = Channel(ours.detach())
        self._said = tempfile.TemporaryFile()
        with theirs, tempfile.TemporaryFile(dir=kernel.cache()) as boot:
            boot.write(archive.read_bytes() + _own_archive(config(options, guest)))
            boot.flush()
            files = Files(boot.fileno(), theirs.fileno(), link)
            line = command_line(options, image, guest, files)
            self.emulator = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", "--", *line], stdin=subprocess.DEVNULL,
                                             stdout=self._said, stderr=subprocess.STDOUT, start_new_session=True,
                                             pass_fds=files)

    def last_words(self) -> str:
        """The end of what the emulator and the guest's console say."""
        said = os.pread(self._said.fileno(), _READ_BYTES, max(0, os.fstat(self._said.fileno()).st_size - _READ_BYTES))
        return "\n".join(said.decode(errors="replace").strip().splitlines()[-_LAST_LINES:])

    def end(self) -> None:
        """Nothing of it is left. Its agent has got END."""
        deadline = time.monotonic() + (END_S if self.is_ready else 0.0)
        with suppress(OSError):
            # An agent with a full output would not read END. Nothing is read when the emulator has ended.
            while (left_s := deadline - time.monotonic()) > 0 and self.channel.poll(left_s):
                if not os.read(self.channel.fileno(), _READ_BYTES):
                    break
        with suppress(subprocess.TimeoutExpired):
            self.emulator.wait(max(0.0, deadline - time.monotonic()))
        self.emulator.kill()
        self.emulator.wait()
        self.channel.close()
        self._said.close()


def _own_archive(settings: Mapping[str, str]) -> bytes:
    """The archive of the files that only this guest has in its memory at its start."""
    with scratch_folders.make() as made:
        init, exported = made / "init", made / "config"
        shutil.copyfile(Path(__file__).with_name("init.sh"), init)
        init.chmod(0o755)
        exported.write_text("".join(f"export {name}={shlex.quote(value)}\n" for name, value in settings.items()))
        return kernel.pack(made)
