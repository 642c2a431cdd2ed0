"""Completion on the command line, as shells ask for it."""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from armci_tool import completion, repository
from helpers import ARMCI, armci, script


def completed(*words: str, environment: dict[str, str] = {}) -> list[str]:
    """The words that the tool offers for the last one."""
    done = armci(environment={"_ARMCI_COMPLETE": "bash_complete", "COMP_WORDS": " ".join(["tools/armci", *words]),
                              "COMP_CWORD": str(len(words)), **environment})
    assert done.returncode == 0 and not done.stderr
    return [line.partition(",")[2] for line in done.stdout.split()]


@pytest.mark.parametrize("line, expected", [
    ("conf", ["conformance"]), ("--install", ["--install-completion"]), ("--install-completion ", ["bash", "zsh", "fish"]),
    ("test --qu", ["--quick"]), ("bench --mpi o", ["openmpi"]), ("conformance --config tsan --config as", ["asan", "asan-ubsan"]),
    ("run --impl mpi-t", ["mpi-twosided"]), ("conformance --impl shmem,mpi-t", ["shmem,mpi-twosided"]),
    ("test --quick --full --jun", ["--junit"]), ("no-such-command --x", []),
])
def test_commands_options_and_values_are_completed(line: str, expected: list[str]) -> None:
    assert completed(*line.split(" ")) == expected


def test_implementations_are_those_of_the_table() -> None:
    assert [*repository.implementations(), "all"] == completed("bench", "--impl", "")


def test_a_request_neither_builds_nor_installs(tmp_path: Path) -> None:
    for name in ("bazel", "bazel-bootstrap", "apt-get", "sudo"):
        script(tmp_path, name, f"touch {tmp_path}/called; exit 1\n")
    assert completed("conformance", "--impl", "sh", environment={"PATH": f"{tmp_path}:{os.environ['PATH']}"}) == ["shmem"]
    assert not (tmp_path / "called").exists()


def typed(home: Path, shell: list[str], text: str, expected: str) -> bool:
    """Whether an interactive shell shows `expected` when `text` is typed."""
    environment = {**os.environ, "HOME": str(home), "TERM": "dumb", "PATH": f"{ARMCI.parent}:{os.environ['PATH']}"}
    ours, theirs = pty.openpty()
    process = subprocess.Popen(shell, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, cwd=ARMCI.parents[1],
                               start_new_session=True)
    os.close(theirs)
    shown, deadline = "", time.monotonic() + 20
    os.write(ours, b"echo READY-$((20 + 3))\n")
    try:
        while time.monotonic() < deadline and not re.search(expected, shown):
            if select.select([ours], [], [], 0.1)[0]:
                shown += os.read(ours, 4096).decode(errors="replace")
                if "READY-23" in shown and text:
                    os.write(ours, text.encode())
                    text = ""
    finally:
        os.close(ours)
        process.kill()
        process.wait()
    return bool(re.search(expected, shown))


@pytest.mark.parametrize("text, expected", [("conf", "armci conformance "), ("test --qu", "armci test --quick ")])
@pytest.mark.parametrize("word", ["tools/armci", "./tools/armci", "armci", str(ARMCI)])
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_completes_what_is_typed(tmp_path: Path, shell: str, word: str, text: str, expected: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    done = armci("--install-completion", environment={"HOME": str(tmp_path), "SHELL": f"/bin/{shell}"})
    assert done.returncode == 0, done.stderr
    if shell == "fish":
        # Its interactive mode asks the terminal for more than this test can answer.
        environment = {**os.environ, "HOME": str(tmp_path), "PATH": f"{ARMCI.parent}:{os.environ['PATH']}"}
        asked = subprocess.run(["fish", "-c", f"complete -C '{word} {text}'"], env=environment, cwd=ARMCI.parents[1],
                               text=True, capture_output=True, check=True, timeout=60)
        assert asked.stdout.split()[:1] == expected.split()[-1:]
    else:
        assert typed(tmp_path, [shell, "-i"], f"{word} {text}\t", expected)


@pytest.mark.parametrize("shell", completion.SHELLS)
def test_installation_says_what_it_wrote_and_does_not_repeat_itself(tmp_path: Path, shell: str) -> None:
    for _ in range(2):
        done = armci("--install-completion", shell, environment={"HOME": str(tmp_path)})
        assert done.returncode == 0, done.stderr
        [written] = re.findall(r"^wrote (.*)$", done.stdout, re.MULTILINE)
        assert str(ARMCI) in Path(written).read_text()
        assert f"next: start a new {shell}" in done.stdout
    assert all(path.read_text().count("source ") == 1 for path in tmp_path.glob(".*rc"))


def test_an_unknown_shell_is_an_error(tmp_path: Path) -> None:
    for done in (armci("--install-completion", "tcsh"), armci("--install-completion", environment={"SHELL": "/bin/tcsh"})):
        assert done.returncode == 2
        assert "there is no completion for the shell 'tcsh'" in done.stderr and "next:" in done.stderr
