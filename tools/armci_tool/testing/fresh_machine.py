"""A fresh machine: a minimal root of this Debian release, in which the commands of the README run as a newcomer types them.

    this machine                      fresh root (folder that goes at the end)
      mmdebstrap  ------------------->  minbase, git, ca-certificates; sources of this machine's apt
      git bundle of HEAD  ----------->  git clone
      unshare (mounts, process ids)     pivot_root into it: / is a mount point of its own, as on a machine
        an ordinary user                says what to install, at each stage of what is missing
        root                            runs every command of the README's first block

The network is this machine's: apt downloads from the same place.
"""

from __future__ import annotations

import os
import platform
import re
import shlex
import shutil
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Iterator, Sequence

from armci_tool import packages, process, results, scratch_folders, shards
from armci_tool.applications import sources
from armci_tool.errors import ToolError
from armci_tool.repository import ROOT
from armci_tool.results import FAILED, PASSED, Case
from armci_tool.testing import run
from armci_tool.testing.steps import Note, PlannedStep

# A command inside must not make a fresh machine of its own.
INSIDE_VARIABLE = "ON_FRESH_MACHINE"
CLONE = "/srv/armci"
NAME = "fresh machine"
# The files that a newcomer uses: packages, the tool, how things are built, and the README's own commands.
_DEPENDENCIES = re.compile(r"tools/|(.*/)?BUILD$|.*[.]bzl$|WORKSPACE$|[.]bazelrc$|[.]ci/|README[.]md$|examples/|third_party/")
_DAY_S = 24 * 3600
_COMMITS = 4
_EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
_USER = "newcomer"
_INCLUDED = ("git", "ca-certificates")
_SCRATCH = Path("/var/tmp")
# Pid 1 of the root: mounts what a machine has, and waits for the command.
_ENTER = """set -e
mount --bind "$0" "$0"
cd "$0"
mount -t proc proc proc
mount --rbind /sys sys
mount --rbind /dev dev
mount -t tmpfs -o mode=1777 tmpfs dev/shm
mkdir -p old
pivot_root . old
umount -l old
cd "$1"
shift
set +e
"$@"
"""


@dataclass(frozen=True)
class FreshRoot:
    """A root that commands run in."""

    folder: Path

    def run(self, command: Sequence[str], note: Note, *, cwd: str = "/", user: str = "") -> process.Result:
        """Runs a command in it, as root or as an ordinary user, with a newcomer's environment."""
        home = f"/home/{user}" if user else "/root"
        environment = {"HOME": home, "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8",
                       "USER": user or "root", INSIDE_VARIABLE: "1"}
        as_user = ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups"] if user else []
        line = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", _ENTER, str(self.folder), cwd,
                "env", "-i", *(f"{name}={value}" for name, value in environment.items()), *as_user, *command]
        # Inside, env -i hides the marker of the job from the leak check; --kill-child ends what is left.
        return process.run(line, on_line=note)

    def prepare(self, note: Note) -> None:
        """Clones the commit into it, for root and for an ordinary user."""
        made = process.run(["git", "-C", str(ROOT), "bundle", "create", "-q", str(self.folder / "tmp" / "armci.bundle"), "HEAD"])
        _require(made, "cannot bundle the commit")
        (self.folder / "tmp" / "armci.bundle").chmod(0o644)
        for command, user in ((["useradd", "--create-home", _USER], ""),
                              (["git", "clone", "-q", "/tmp/armci.bundle", CLONE], ""),
                              (["git", "clone", "-q", "/tmp/armci.bundle", f"/home/{_USER}/armci"], _USER)):
            _require(self.run(command, note, user=user), f"cannot prepare the fresh root: {shlex.join(command)}")
        if sources.BESIDE_CHECKOUT.is_dir():
            below = Path(CLONE).parent / sources.BESIDE_CHECKOUT.relative_to(ROOT.parent)
            shutil.copytree(sources.BESIDE_CHECKOUT, self.folder / str(below).lstrip("/"))


def _require(result: process.Result, what: str) -> None:
    if not result.ok:
        raise ToolError(what, where=result.tail(20), next_step="repeat: tools/armci test --fresh")


def why_not() -> str:
    """Why there can be no fresh machine here; empty if there can."""
    if os.geteuid() != 0:
        return "a fresh machine needs root"
    absent = [name for name in ("mmdebstrap", "unshare", "setpriv") if shutil.which(name) is None]
    return f"a fresh machine needs {', '.join(absent)}: run tools/armci setup" if absent else ""


def _apt_sources(codename: str, folder: Path = Path("/etc/apt")) -> list[str]:
    """The files of this machine's apt configuration that are of this release."""
    files = [folder / "sources.list", *sorted((folder / "sources.list.d").glob("*"))]
    return [str(file) for file in files if file.is_file() and re.search(rf"\b{codename}\b(?!-)", file.read_text())
            and "debian" in file.read_text()]


@contextmanager
def made(note: Note) -> Iterator[FreshRoot]:
    """A fresh root with the commit in it; nothing of it stays."""
    if reason := why_not():
        raise ToolError(reason, next_step="run tools/armci test --fresh as root on Debian")
    codename = platform.freedesktop_os_release().get("VERSION_CODENAME", "")
    with scratch_folders.make(_SCRATCH) as folder:
        try:
            note("making a minimal root")
            # Its mounts go with it, also when it is killed; a keyring that it leaves in TMPDIR then goes with the scratch folder.
            made_root = process.run(["unshare", "--mount", "mmdebstrap", "--variant=minbase", f"--include={','.join(_INCLUDED)}",
                                     codename, str(folder / "root"), *_apt_sources(codename)],
                                    environment={"TMPDIR": str(folder)}, on_line=note)
            _require(made_root, "mmdebstrap could not make a minimal root")
            for name in ("resolv.conf", "hosts"):
                shutil.copyfile(f"/etc/{name}", folder / "root" / "etc" / name)
            root = FreshRoot(folder / "root")
            root.prepare(note)
            yield root
        finally:
            note("removing the fresh root")


def readme_commands(text: str) -> list[list[str]]:
    """The commands of the README's first block of code, as written: a command ends at two spaces."""
    block = re.search(r"^(?: {4}\S.*\n)+", text, re.MULTILINE)
    lines = block.group(0).splitlines() if block else []
    return [shlex.split(re.split(r"\s{2,}", line.strip())[0]) for line in lines]


def newcomer_cases(root: FreshRoot, note: Note) -> Sequence[Case]:
    """The tool names each missing package to an ordinary user without sudo: Python, its library, the tool's packages, and
    the needs of the quick start."""
    stages: tuple[tuple[str, Sequence[str]], ...] = (
        ("without Python", ()),
        ("with python3-minimal", ("apt-get", "install", "-q", "-y", "--no-install-recommends", "python3-minimal")),
        ("with the tool's own packages", ("tools/armci", "--help")))
    _require(root.run(["apt-get", "update", "-q"], note), "apt-get update failed in the fresh root")
    cases = []
    for name, command in stages:
        if command:
            _require(root.run(command, note, cwd=CLONE), f"cannot install: {shlex.join(command)}")
        quickstart = root.run(["tools/armci", "quickstart"], note, cwd=f"/home/{_USER}/armci", user=_USER)
        problems = [problem for problem, there in (
            (f"status {quickstart.status}, not 2", quickstart.status != 2), ("a traceback", "Traceback" in quickstart.output),
            ("no sentence says what root has to run", "as root, run: tools/armci setup --for quickstart" not in quickstart.output),
        ) if there]
        cases.append(Case(f"an ordinary user {name}", FAILED if problems else PASSED, quickstart.seconds,
                          "\n".join([*problems, quickstart.tail(20)]) if problems else ""))
    return cases


def run_command(root: FreshRoot, command: Sequence[str], note: Note) -> Case:
    """One command of the README, as root in the clone; the case's time is that of the command."""
    done = root.run(command, note, cwd=CLONE)
    return Case(f"README: {shlex.join(command)}", PASSED if done.ok else FAILED, done.seconds,
                "" if done.ok else f"status {done.status}\n{done.tail(60)}")


def _inner_cases(root: FreshRoot) -> list[Case]:
    """The results of `tools/armci test` in the clone; its logs and times come along."""
    inner = root.folder / CLONE.lstrip("/") / "report" / "test"
    shutil.rmtree(run.REPORT / "fresh", ignore_errors=True)
    if inner.is_dir():
        shutil.copytree(inner, run.REPORT / "fresh")
    return results.read_junit(inner / "results.xml")


def _run(options: Sequence[str], note: Note) -> Sequence[Case]:
    """The newcomer's cases, and the README's commands; lines of steps inside are printed as they come."""
    def show(line: str) -> None:
        note(line)
        if line.startswith(("ok  ", "FAIL", "     ")):
            print("  " + line, flush=True)

    packages.ensure(note, [packages.row("mmdebstrap")], "tools/armci setup")
    with made(note) as root:
        cases = list(newcomer_cases(root, note))
        for command in readme_commands((ROOT / "README.md").read_text()):
            is_test = "test" in command
            line, on_line = ([*command, *options], show) if is_test else (command, note)
            cases.append(run_command(root, line, on_line))
            if is_test:
                cases += _inner_cases(root)
    return cases


def steps(options: Sequence[str] = ()) -> list[PlannedStep]:
    """The fresh machine, in which the tests run; `options` are added to the README's test command."""
    line = shlex.join(["tools/armci", "test", "--fresh", *options])
    return [PlannedStep(NAME, partial(_run, options), line)]


def is_due() -> bool:
    """Whether the tests have to run on a fresh machine this time: when a newcomer's files have changed within a day before
    the commit, else for one commit in some."""
    if INSIDE_VARIABLE in os.environ or os.geteuid() != 0 or not packages.has_apt():
        return False
    git = ["git", "-C", str(ROOT)]
    when = process.run([*git, "show", "-s", "--format=%ct", "HEAD"]).output.strip()
    if not when.isdigit():
        return False
    before = process.run([*git, "rev-list", "-1", f"--before={int(when) - _DAY_S}", "HEAD"]).output.strip()
    names = process.run([*git, "diff", "--name-only", before or _EMPTY_TREE, "HEAD"]).output.splitlines()
    return any(_DEPENDENCIES.match(name) for name in names) or shards.of_commit(_COMMITS, NAME)[0] == 1
