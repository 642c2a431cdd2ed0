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

from armci_tool import repository
from armci_tool.errors import ToolError
from armci_tool.repository import SEMANTICS_FILE

_CLAUSE = re.compile(r"^- \*\*([A-Z]+-[0-9]+)\*\*(.*(?:\n  .*)*)", re.MULTILINE)
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
        raise ToolError("cannot read the clauses", where=f"{path} is missing",
                        next_step="check out the whole repository")
    text, found = path.read_text(), dict[str, Clause]()
    for match in _CLAUSE.finditer(text):
        identifier, line = match[1], text.count("\n", 0, match.start()) + 1
        # A clause goes on over indented lines.
        whole = " ".join(part.strip() for part in match[2].splitlines())
        if identifier in found:
            raise ToolError(f"clause {identifier} is defined twice", next_step="give the newer one an unused number",
                            where=f"{path}:{found[identifier].line} and {line}")
        needs = {word.strip() for words in _NEEDS.findall(whole) for word in words.split(",")}
        found[identifier] = Clause(identifier, line, frozenset(needs), whole.strip(),
                                   "".join(_MEASURED.findall(whole)[:1]))
    if not found:
        raise ToolError("cannot read the clauses", where=f"{path} has no line like '- **ORD-1** text'",
                        next_step="write each clause as such a line")
    return list(found.values())


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
    """Sentences about what is wrong; empty when every clause and every test has its counterpart. `spans_nodes`: there
    is an implementation on which the clauses between nodes can be tested."""
    tested = {identifier for named in tests.values() for identifier in named}
    found = []
    for clause in clauses:
        place = f"{SEMANTICS_FILE.parent.name}/{SEMANTICS_FILE.name}:{clause.line}: {clause.identifier}"
        if clause.measured and clause.measured not in benchmarks:
            found.append(f"{place} names the benchmark {clause.measured}, which does not exist")
        exempt = clause.measured or "nodes" in clause.needs and not spans_nodes
        if clause.identifier not in tested and not exempt:
            found.append(f"{place} has no test")
    known = {clause.identifier for clause in clauses}
    for name, named in sorted(tests.items()):
        found += [] if named else [f"test {name} names no clause"]
        found += [f"test {name} names {identifier}, which spec/semantics.md does not have"
                  for identifier in named if identifier not in known]
    return found


def problems(clauses: Sequence[Clause], tests: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """The problems that make the suite's word worthless: sentences about each, by the check that found them; none where
    all is well."""
    from armci_tool import bench, levels
    names = [clause.identifier for clause in clauses]
    return {"every clause has a test and every test a clause":
            check(clauses, tests, spans_nodes=repository.spans_nodes(), benchmarks=bench.names()),
            "every clause has a level of porting": levels.check(levels.read(), names, tests)}
