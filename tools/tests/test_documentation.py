"""Commands in the documentation are ones that the command line takes."""

from __future__ import annotations

import re
import shlex

import pytest
from armci_tool import cli
from armci_tool.repository import ROOT, source_files

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


@pytest.mark.parametrize("command", commands())
def test_every_command_of_the_documentation_is_understood(command: str) -> None:
    cli.parser().parse_args(cli.join_values(shlex.split(command, comments=True)))
