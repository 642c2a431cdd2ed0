"""Commands in the documentation are ones that the command line takes."""

from __future__ import annotations

import re
import shlex

import pytest
from armci_tool import levels
from armci_tool.levels import Level
from armci_tool.repository import ROOT, source_files
from helpers import parsed

_COMMAND = re.compile(r"^ {4,}(?:[A-Z_]+=\S+ )*tools/armci (.+)$", re.MULTILINE)


def commands() -> list[str]:
    """Those on lines of their own; behind two blanks a remark follows."""
    found = []
    for path in source_files(ROOT, ".md"):
        for match in _COMMAND.finditer(path.read_text().replace("\\\n", "")):
            found.append(re.split(r"(?<!\\)\s{2,}(?!--)", match.group(1))[0])
    return found


def test_the_documentation_has_commands() -> None:
    assert len(commands()) > 20


def test_variables_are_given_to_the_command_that_reads_them() -> None:
    """A variable of pkg-config that is not exported is one of the shell alone."""
    wrong = [line for path in source_files(ROOT, ".md") for line in path.read_text().splitlines()
             if re.search(r"(?<!export )\bPKG_CONFIG_PATH=\S+;", line)]
    assert not wrong


def test_the_commands_that_are_installed_are_counted() -> None:
    commands = [path.name for path in (ROOT / "packaging" / "bin").iterdir()] + ["armci_info"]
    words = {2: "two", 3: "three", 4: "four"}
    assert f"{words[len(commands)]} commands and manual pages" in (ROOT / "README.md").read_text().replace("\n", " ")
    assert all((ROOT / "packaging" / "man" / f"{name}.1").is_file() for name in commands)


def test_the_manual_page_has_the_variables_that_debugging_needs() -> None:
    page = (ROOT / "packaging" / "man" / "armci.7").read_text()
    listed = set(re.findall(r"^\.It Ev (ARMCI_\w+)$", page, re.MULTILINE))
    table = set(re.findall(r'{"(ARMCI_[A-Z_]+)", ', (ROOT / "impl" / "runtime" / "config.cc").read_text()))
    named = set(re.findall(r"\bARMCI_[A-Z_]{2,}\b", (ROOT / "docs" / "debugging.md").read_text()))
    assert named and named <= listed <= table


@pytest.mark.parametrize("command", commands())
def test_every_command_of_the_documentation_is_understood(command: str) -> None:
    parsed(*shlex.split(command, comments=True))


@pytest.mark.parametrize("level", levels.read().level, ids=lambda level: str(level.number))
def test_the_guide_to_porting_has_a_section_for_each_level(level: Level) -> None:
    guide = (ROOT / "docs" / "porting.md").read_text()
    section = guide.partition(f"### Level {level.number}: {level.title}\n")[2].partition("\n#")[0]
    assert section
    assert all(f"`{member}`" in section for member in level.members)


def test_the_guide_to_porting_names_files_that_there_are() -> None:
    guide = (ROOT / "docs" / "porting.md").read_text()
    named = set(re.findall(r"`((?:impl|conformance|spec|tools|docs|bench|packaging)/[\w./-]+)`", guide))
    assert len(named) > 20
    assert not [path for path in sorted(named) if "NAME" not in path and not (ROOT / path).exists()]
