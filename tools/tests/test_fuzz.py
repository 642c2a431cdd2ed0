"""The report of a fuzzing has the command that repeats it, and a fuzzing that reaches nothing is no success."""

from __future__ import annotations

from pathlib import Path

import pytest
from armci_tool import fuzz
from armci_tool.errors import ToolError
from armci_tool.repository import ROOT
from armci_tool.results import FAILED, PASSED
from helpers import script

# Writes one seed on request, and does the rest as its arguments say.
WRITES = 'case "$1" in --write-seeds=*) echo x > "${1#*=}/seed"; exit 0;; esac\n'


def program(folder: Path, body: str) -> Path:
    return script(folder, "target", WRITES + body)


def test_enough_of_every_kind(tmp_path: Path) -> None:
    made = program(tmp_path, 'echo "decode_fuzz: accepted 7000 of 9000, kind 1: 3000, kind 12: 4000" >&2')
    assert [case.outcome for case in fuzz.run(made, tmp_path)] == [PASSED, PASSED]


@pytest.mark.parametrize("line, fault", [("accepted 3001 of 9000, kind 1: 3000, kind 12: 1", "{12: 1}"),
                                         ("accepted 0 of 9000", "no request")])
def test_too_few_say_nothing(tmp_path: Path, line: str, fault: str) -> None:
    kept, reached = fuzz.run(program(tmp_path, f'echo "decode_fuzz: {line}"'), tmp_path)
    assert (kept.outcome, reached.outcome) == (PASSED, FAILED)
    assert fault in reached.detail


def test_what_was_found_can_be_seen_again(tmp_path: Path) -> None:
    made = program(tmp_path, 'for a in "$@"; do case "$a" in -artifact_prefix=*) kept="${a#*=}crash-1";; esac; done\n'
                             'echo "INFO: of no use"; echo "near it"; echo "shapes.cc:1: runtime error: overflow"\n'
                             'echo "Test unit written to $kept"; exit 77')
    [case] = fuzz.run(made, tmp_path / "kept")
    assert case.outcome == FAILED
    assert case.detail.splitlines()[:3] == ["shapes.cc:1: runtime error: overflow",
                                            f"reproduce: {made} {tmp_path}/kept/crash-1", "near it"]


def test_a_death_without_a_finding_is_reported(tmp_path: Path) -> None:
    [case] = fuzz.run(program(tmp_path, "echo why; exit 3"), tmp_path)
    assert (case.outcome, case.detail) == (FAILED, "status 3\nwhy")


def test_without_seeds_nothing_is_tried(tmp_path: Path) -> None:
    with pytest.raises(ToolError):
        fuzz.run(script(tmp_path, "target", "exit 0"), tmp_path)


def test_a_missing_compiler_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzz, "COMPILER", "no-such-compiler")
    with pytest.raises(ToolError) as caught:
        fuzz.build(tmp_path)
    assert "libclang-rt-dev" in caught.value.render() and "setup" in caught.value.render()


def test_the_sources_are_there() -> None:
    assert all((ROOT / source).is_file() for source in fuzz.SOURCES)
