"""Clauses against tests: every clause has a test, every test names clauses that exist.

A clause is a line `- **CHAPTER-number** text` of spec/semantics.md; permanent IDs are not defined twice. One marked
`[needs: nodes]` is only required where an implementation that spans nodes exists; one marked `[measured: NAME]` has a
benchmark instead.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Container, Mapping, Sequence

from armci_tool.errors import ToolError
from armci_tool.repository import SEMANTICS_FILE

_CLAUSE = re.compile(r"^- \*\*([A-Z]+-[0-9]+)\*\*(.*)")
_NEEDS = re.compile(r"\[needs: ([a-z, ]+)\]")
_MEASURED = re.compile(r"\[measured: ([a-z_]+)\]")
_TEST = re.compile(r"^(\S+)((?:\s+[A-Z]+-[0-9]+)*)\s*$")


@dataclass(frozen=True)
class Clause:
    """One numbered statement of the semantics."""

    identifier: str
    line: int
    needs: frozenset[str]
    text: str = ""
    measured: str = ""  # the benchmark that judges a clause about time

    @property
    def chapter(self) -> str:
        """`ORD` of `ORD-1`."""
        return self.identifier.rsplit("-", 1)[0]


def read_clauses(path: Path = SEMANTICS_FILE) -> list[Clause]:
    """All clauses in the order of the text. Raises ToolError on a repeated ID."""
    if not path.exists():
        raise ToolError("cannot read the clauses", where=f"{path} is missing")
    clauses: list[Clause] = []
    seen: dict[str, int] = {}
    lines = path.read_text().splitlines()
    for number, line in enumerate(lines, 1):
        match = _CLAUSE.match(line)
        if not match:
            continue
        identifier = match.group(1)
        if identifier in seen:
            raise ToolError(f"clause {identifier} is defined twice", where=f"{path}:{seen[identifier]} and {number}",
                            next_step="give the newer one an unused number")
        seen[identifier] = number
        whole = _whole_clause(lines, number - 1)
        measured = _MEASURED.search(whole)
        clauses.append(Clause(identifier, number, _needs(whole), whole.partition("**" + identifier + "**")[2].strip(),
                              measured.group(1) if measured else ""))
    if not clauses:
        raise ToolError("cannot read the clauses", where=f"{path} has no line like '- **ORD-1** text'")
    return clauses


def _whole_clause(lines: Sequence[str], start: int) -> str:
    """A clause goes on over indented lines."""
    text = [lines[start]]
    for line in lines[start + 1:]:
        if not line.startswith("  "):
            break
        text.append(line.strip())
    return " ".join(text)


def _needs(text: str) -> frozenset[str]:
    needs: set[str] = set()
    for match in _NEEDS.finditer(text):
        needs |= {word.strip() for word in match.group(1).split(",")}
    return frozenset(needs)


def parse_test_list(text: str) -> dict[str, list[str]]:
    """`Name CLAUSE CLAUSE...` per line, as the suite's --list-clauses prints it."""
    tests: dict[str, list[str]] = {}
    for line in text.splitlines():
        match = _TEST.match(line)
        if line.strip() and not match:
            raise ToolError("cannot read the list of tests", where=f"line {line!r}",
                            next_step="--list-clauses must print: TestName CLAUSE CLAUSE...")
        if match:
            tests[match.group(1)] = match.group(2).split()
    return tests


def check(clauses: Sequence[Clause], tests: Mapping[str, Sequence[str]], *, spans_nodes: bool,
          benchmarks: Container[str] = ()) -> list[str]:
    """Sentences about what is wrong; empty when every clause and every test has its counterpart. `spans_nodes`: there is
    an implementation on which the clauses between nodes can be tested."""
    known = {clause.identifier for clause in clauses}
    tested = {identifier for named in tests.values() for identifier in named}
    problems = []
    for clause in clauses:
        exempt = clause.measured != "" or "nodes" in clause.needs and not spans_nodes
        if clause.measured and clause.measured not in benchmarks:
            problems.append(f"spec/semantics.md:{clause.line}: {clause.identifier} names the benchmark {clause.measured}, "
                            "which does not exist")
        if clause.identifier not in tested and not exempt:
            problems.append(f"spec/semantics.md:{clause.line}: {clause.identifier} has no test")
    for name, named in sorted(tests.items()):
        if not named:
            problems.append(f"test {name} names no clause")
        for identifier in named:
            if identifier not in known:
                problems.append(f"test {name} names {identifier}, which spec/semantics.md does not have")
    return problems
