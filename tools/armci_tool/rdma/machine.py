"""One guest: QEMU's command line, and the guest from its start to its end."""

from __future__ import annotations

import json
import os
import select
import shlex
import shutil
import socket
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from armci_tool.console import Progress
from armci_tool.errors import ToolError
from armci_tool.rdma import commands, kernel
from armci_tool.rdma.agent import PORT_NAME
from armci_tool.rdma.channel import END, READY, Channel, Closed
from armci_tool.repository import ROOT

START_S = 120.0
# A guest that is told to power off has so long.
END_S = 10.0
_EMULATOR = "qemu-system-x86_64"
# Without `rep movsb` for copies: the emulator stores byte by byte, so that others would see parts of a word, which no CPU
# lets them see.
_CPU = "max,-erms,-fsrm"

@dataclass(frozen=True)
class Options:
    """What a guest is like. `folder`: whose files it may write; none if empty."""

    cpus: int = 2
    memory_mib: int = 4096
    folder: str = ""
    guest: int = 0
    guests: int = 1
    owner: int = 0  # of one that is kept: the process with which it ends; 0: none


def require() -> None:
    """Raises ToolError if there can be no guests here."""
    for command in (_EMULATOR, "cpio", "setpriv"):
        if shutil.which(command) is None:
            raise ToolError(f"a guest with a verbs device needs {command}", where="it is not on PATH",
                            next_step="run tools/armci setup --rdma")
    kernel.find()


def command_line(options: Options, files: Path, image: Path) -> list[str]:
    """QEMU's. `files`: the folder of this guest's socket, log and archive."""
    line = [_EMULATOR, "-nodefaults", "-display", "none", "-no-reboot", "-accel", "tcg,thread=multi", "-cpu", _CPU,
            "-smp", str(options.cpus), "-m", f"{options.memory_mib}M", "-serial", f"file:{files / 'console'}",
            "-kernel", str(image), "-initrd", str(files / "archive"), "-append", "console=ttyS0 quiet panic=-1",
            "-device", "virtio-serial-pci", "-chardev", f"socket,id=agent,path={files / 'agent'},server=on,wait=off",
            "-device", f"virtserialport,chardev=agent,name={PORT_NAME}"]
    line += _share("root", "/", read_only=True)
    if options.folder:
        line += _share("folder", options.folder, read_only=False)
    return line


def _share(tag: str, folder: str, *, read_only: bool) -> list[str]:
    escaped = folder.replace(",", ",,")
    return ["-fsdev", f"local,id={tag},path={escaped},security_model=none,multidevs=remap"
            f",readonly={'on' if read_only else 'off'}", "-device", f"virtio-9p-pci,fsdev={tag},mount_tag={tag}"]


class Guest:
    """A machine that runs commands; a context manager, at whose end nothing of it is left."""

    def __init__(self, options: Options = Options()) -> None:
        self.options = options
        self._files = Path()
        self._emulator: Optional["subprocess.Popen[bytes]"] = None
        self._channel: Optional[Channel] = None
        self._socket: Optional[socket.socket] = None

    def __enter__(self) -> "Guest":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Returns when it takes commands."""
        require()
        runs = kernel.cache() / "guests"
        runs.mkdir(parents=True, exist_ok=True)
        remove_stale(runs)
        self._files = Path(tempfile.mkdtemp(prefix=f"{os.getpid()}-", dir=runs))
        boot = kernel.find()
        (self._files / "archive").write_bytes(boot.archive.read_bytes() + self._own_archive())
        # It dies with this process, whatever that dies of.
        self._emulator = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", "--", *command_line(self.options, self._files, boot.image)],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=(self._files / "emulator").open("wb"),
            start_new_session=True)
        try:
            with Progress("starting a guest"):
                self._connect(time.monotonic() + START_S)
        except BaseException:
            self.stop()
            raise

    def _own_archive(self) -> bytes:
        with tempfile.TemporaryDirectory(dir=self._files) as made:
            init = Path(made) / "init"
            init.write_bytes(Path(__file__).with_name("init.sh").read_bytes())
            init.chmod(0o755)
            (Path(made) / "config").write_text(f"FOLDER={shlex.quote(self.options.folder)}\n"
                                               f"TOOLS={shlex.quote(str(ROOT / 'tools'))}\n")
            return kernel.pack(Path(made))

    def _connect(self, deadline: float) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        while True:
            self._check_alive(deadline)
            try:
                self._socket.connect(str(self._files / "agent"))
                break
            except (FileNotFoundError, ConnectionRefusedError):
                time.sleep(0.05)  # QEMU has not made it yet
        self._channel = Channel(self._socket.fileno())
        self._channel.send_json(READY, guest=self.options.guest, guests=self.options.guests)
        while not select.select([self._channel], [], [], 0.5)[0]:
            self._check_alive(deadline)
        try:
            _, payload = self._channel.receive()
        except Closed:
            raise self.failure("the guest ended while it was started") from None
        if said := json.loads(payload)["said"]:
            raise self.failure(f"the guest has no verbs device: {said}")

    def _check_alive(self, deadline: float) -> None:
        assert self._emulator is not None
        if self._emulator.poll() is not None:
            raise self.failure(f"{_EMULATOR} ended with status {self._emulator.returncode}")
        if time.monotonic() > deadline:
            raise self.failure(f"the guest has not started after {START_S:g} s")

    def failure(self, what: str) -> ToolError:
        """What happened, with the last words of the guest."""
        texts = [(self._files / name).read_text(errors="replace").strip() for name in ("emulator", "console")
                 if (self._files / name).exists()]
        last = "\n".join("\n".join(texts).splitlines()[-8:])
        return ToolError(what, where=last or "it has said nothing", next_step="run tools/armci setup --rdma, and look "
                         "whether there is memory for it (--memory)")

    def run(self, command: commands.Command, *, timeout_s: Optional[float] = None) -> int:
        """Runs a command to its end; see commands.run."""
        try:
            return commands.run(self.channel, command, timeout_s=timeout_s)
        except Closed:
            raise self.failure("the guest ended while it ran a command") from None

    @property
    def channel(self) -> Channel:
        """To the agent, once it has started."""
        assert self._channel is not None
        return self._channel

    def stop(self) -> None:
        """In good order if it can, by force if not."""
        if self._channel is not None:
            try:
                self._channel.send(END)
            except Closed:
                pass
        if self._emulator is not None:
            try:
                self._emulator.wait(END_S if self._channel is not None else 0)
            except subprocess.TimeoutExpired:
                self._emulator.kill()
                self._emulator.wait()
        if self._socket is not None:
            self._socket.close()
        self._channel = self._socket = self._emulator = None
        if self._files != Path():
            shutil.rmtree(self._files, ignore_errors=True)


def remove_stale(runs: Path) -> None:
    """Folders of guests whose tool was killed."""
    for folder in runs.iterdir():
        if not Path("/proc", folder.name.split("-")[0]).exists():
            shutil.rmtree(folder, ignore_errors=True)
