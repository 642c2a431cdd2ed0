"""Guests: QEMU's command line, and the guests from their start to their end."""

from __future__ import annotations

import json
import os
import select
import shlex
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Optional, Sequence

from armci_tool.console import Progress
from armci_tool.errors import ToolError
from armci_tool.rdma import commands, kernel, network
from armci_tool.rdma.channel import END, READY, Channel, Closed
from armci_tool.repository import ROOT

START_S = 120.0
# A guest that is told to power off has so long.
END_S = 10.0
_EMULATOR = "qemu-system-x86_64"
# Without `rep movsb` for copies: the emulator stores byte by byte, so that others would see parts of a word, which no CPU
# lets them see.
_CPU = "max,-erms,-fsrm"
# The emulated CPUs' counters run alike; without that to rely on the kernel reads a timer of the board, for 1.5 us.
_CLOCK = "tsc=reliable clocksource=tsc"
# Warnings are told, so that the last words of a guest that stands still say where. Without the kernel's tests of its
# ciphers, which are of no use here: a guest once stood still in them.
_KERNEL = f"console=ttyS0 loglevel=5 panic=-1 cryptomgr.notests=1 {_CLOCK}"
_LAST_LINES = 40


@dataclass(frozen=True)
class Options:
    """What guests are like, each of them. `folder`: whose files they may write; none if empty."""

    cpus: int = 2
    memory_mib: int = 4096
    folder: str = ""
    guests: int = 1
    owner: int = 0  # of those that are kept: the process with which they end; 0: none


def require(guests: int = 1) -> None:
    """Raises ToolError if there can be no guests here, or not so many."""
    if guests > network.GUESTS_MAX:
        raise ToolError(f"cannot make {guests} guests with a network between them",
                        next_step=f"ask for at most {network.GUESTS_MAX}")
    for command in (_EMULATOR, "cpio", "setpriv"):
        if shutil.which(command) is None:
            raise ToolError(f"a guest with a verbs device needs {command}", where="it is not on PATH",
                            next_step="run tools/armci setup --rdma")
    kernel.find()


def starting(guests: int) -> str:
    """For progress lines."""
    return f"starting {guests} guests" if guests > 1 else "starting a guest"


def command_line(options: Options, files: Path, image: Path, guest: int = 0, link: int = -1) -> list[str]:
    """QEMU's, of guest number `guest`. `files`: the folder of its socket, log and archive. `link`: the descriptor of its
    end of the network."""
    line = [_EMULATOR, "-nodefaults", "-display", "none", "-no-reboot", "-accel", "tcg,thread=multi", "-cpu", _CPU,
            "-smp", str(options.cpus), "-m", f"{options.memory_mib}M", "-serial", f"file:{files / 'console'}",
            "-kernel", str(image), "-initrd", str(files / "archive"), "-append", _KERNEL,
            "-device", "virtio-serial-pci", "-chardev", f"socket,id=agent,path={files / 'agent'},server=on,wait=off",
            "-device", f"virtserialport,chardev=agent,name={network.PORT_NAME}"]
    if options.guests > 1:
        # No option ROM: it is not booted from.
        line += ["-netdev", f"stream,id=link,addr.type=fd,addr.str={link}", "-device", "virtio-net-pci,netdev=link,"
                 f"mac={network.hardware_address(guest)},host_mtu={network.MTU},romfile="]
    line += _share("root", "/", read_only=True)
    if options.folder:
        line += _share("folder", options.folder, read_only=False)
    return line


def _share(tag: str, folder: str, *, read_only: bool) -> list[str]:
    escaped = folder.replace(",", ",,")
    return ["-fsdev", f"local,id={tag},path={escaped},security_model=none,multidevs=remap"
            f",readonly={'on' if read_only else 'off'}", "-device", f"virtio-9p-pci,fsdev={tag},mount_tag={tag}"]


class Guests:
    """One guest, or several with a network between them; a context manager, at whose end nothing of them is left. Commands
    run on the first. If one ends, all end."""

    def __init__(self, options: Options = Options()) -> None:
        self.options = options
        self._guests: list[_Guest] = []
        self._ending = threading.Event()

    def __enter__(self) -> "Guests":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Returns when they take commands. They start at the same time."""
        require(self.options.guests)
        runs = kernel.private_folder("guests")
        remove_stale(runs)
        deadline = time.monotonic() + START_S
        several = self.options.guests > 1
        links = socket.socketpair() if several else ()
        try:
            for guest in range(self.options.guests):
                self._guests.append(_Guest(self.options, guest))
                self._guests[-1].begin(runs, links[guest].fileno() if links else -1)
            with Progress(starting(self.options.guests)):
                for each in self._guests:
                    each.connect(deadline)  # before any agent looks for it, which would take it for the end
                for each in self._guests:
                    each.wait_until_ready(deadline)
        except BaseException:
            self.stop()
            raise
        finally:
            for link in links:
                link.close()
        if several:
            threading.Thread(target=self._end_together, args=(list(self._guests),), daemon=True).start()

    def _end_together(self, guests: Sequence["_Guest"]) -> None:
        """Until they are to end: one does not end without the others, which would wait for it."""
        while not self._ending.wait(0.5):
            if not all(each.is_alive() for each in guests):
                for each in guests:
                    each.kill()
                return

    def run(self, command: commands.Command, *, timeout_s: Optional[float] = None) -> int:
        """Runs a command to its end; see commands.run."""
        try:
            return commands.run(self.channel, command, timeout_s=timeout_s)
        except Closed:
            raise self.failure("the guest ended while it ran a command") from None

    def failure(self, what: str) -> ToolError:
        """What happened, with the last words of each."""
        last = [words for each in self._guests if (words := each.last_words())]
        return _failure(what, "\n".join(last))

    @property
    def channel(self) -> Channel:
        """To the agent of the first, once it has started."""
        channel = self._guests[0].channel
        assert channel is not None
        return channel

    def stop(self) -> None:
        """In good order if they can, by force if not."""
        self._ending.set()
        for guest in self._guests:
            guest.ask_to_end()
        for guest in self._guests:
            guest.end()
        self._guests = []


class _Guest:
    """One machine, from its start to its end."""

    def __init__(self, options: Options, guest: int) -> None:
        self._emulator: Optional["subprocess.Popen[bytes]"] = None
        self.channel: Optional[Channel] = None
        self._options = options
        self._guest = guest
        self._files: Optional[Path] = None
        self._socket = socket.socket(socket.AF_UNIX)

    def begin(self, runs: Path, link: int) -> None:
        """Starts it. It dies with this process, whatever that dies of; of this process it must be the first thread that
        calls."""
        boot = kernel.find()
        self._files = files = Path(tempfile.mkdtemp(prefix=f"{os.getpid()}-", dir=runs))
        (files / "archive").write_bytes(boot.archive.read_bytes() + self._own_archive(files))
        line = command_line(self._options, files, boot.image, self._guest, link)
        with (files / "emulator").open("wb") as errors:
            self._emulator = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", "--", *line], stdin=subprocess.DEVNULL,
                                             stdout=subprocess.DEVNULL, stderr=errors, start_new_session=True,
                                             pass_fds=[link] if link >= 0 else [])

    def _own_archive(self, files: Path) -> bytes:
        with tempfile.TemporaryDirectory(dir=files) as made:
            init = Path(made) / "init"
            init.write_bytes(Path(__file__).with_name("init.sh").read_bytes())
            init.chmod(0o755)
            (Path(made) / "config").write_text(f"FOLDER={shlex.quote(self._options.folder)}\n"
                                               f"TOOLS={shlex.quote(str(ROOT / 'tools'))}\n")
            return kernel.pack(Path(made))

    def connect(self, deadline: float) -> None:
        """To where its agent will be, and tells it who it is."""
        assert self._files is not None
        while True:
            self._check_alive(deadline)
            try:
                self._socket.connect(str(self._files / "agent"))
                break
            except (FileNotFoundError, ConnectionRefusedError):
                time.sleep(0.05)  # QEMU has not made it yet
        self.channel = Channel(self._socket.fileno())
        try:
            self.channel.send_json(READY, guest=self._guest, guests=self._options.guests)
        except Closed:
            raise self._ended_early() from None

    def wait_until_ready(self, deadline: float) -> None:
        """Returns when its agent takes commands."""
        assert self.channel is not None
        try:
            while not select.select([self.channel], [], [], 0.5)[0]:
                self._check_alive(deadline)
            _, payload = self.channel.receive()
        except Closed:
            raise self._ended_early() from None
        if said := json.loads(payload)["said"]:
            raise _failure(f"the guest has no verbs device: {said}", self.last_words())

    def _ended_early(self) -> ToolError:
        return _failure("the guest ended while it was started", self.last_words())

    def _check_alive(self, deadline: float) -> None:
        assert self._emulator is not None
        if not self.is_alive():
            status = self._emulator.returncode
            raise _failure(f"{_EMULATOR} ended with status {status}", self.last_words())
        if time.monotonic() > deadline:
            raise _failure(f"the guest has not started after {START_S:g} s", self.last_words())

    def is_alive(self) -> bool:
        """Whether it has been started and has not ended."""
        return self._emulator is not None and self._emulator.poll() is None

    def kill(self) -> None:
        """Ends it by force; end() is to follow."""
        if self._emulator is not None:
            self._emulator.kill()

    def last_words(self) -> str:
        """Of the emulator and of the guest's console."""
        texts = [path.read_text(errors="replace").strip() for name in ("emulator", "console")
                 if self._files and (path := self._files / name).exists()]
        return "\n".join("\n".join(texts).splitlines()[-_LAST_LINES:])

    def ask_to_end(self) -> None:
        """Returns at once; end() waits for it."""
        if self.channel is not None:
            try:
                self.channel.send(END)
            except Closed:
                pass

    def end(self) -> None:
        """Nothing of it is left."""
        if self._emulator is not None:
            try:
                self._emulator.wait(END_S if self.channel is not None else 0)
            except subprocess.TimeoutExpired:
                self._emulator.kill()
                self._emulator.wait()
        self._socket.close()
        self.channel = None
        if self._files is not None:
            shutil.rmtree(self._files, ignore_errors=True)


def _failure(what: str, last_words: str) -> ToolError:
    return ToolError(what, where=last_words or "it has said nothing", next_step="run tools/armci setup --rdma, and look "
                     "whether there is memory for it (--memory)")


def remove_stale(runs: Path) -> None:
    """Folders of guests whose tool was killed."""
    for folder in runs.iterdir():
        if not Path("/proc", folder.name.split("-")[0]).exists():
            shutil.rmtree(folder, ignore_errors=True)
