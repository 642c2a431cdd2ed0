"""What has to fit together before the suite's word is worth something: clauses, tests, levels."""

from __future__ import annotations

from typing import Mapping, Sequence

from armci_tool import bench, levels, repository, traceability


def problems(clauses: Sequence[traceability.Clause], tests: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """By what is checked, sentences about what is wrong; none where all is well."""
    names = [clause.identifier for clause in clauses]
    return {"every clause has a test and every test a clause":
            traceability.check(clauses, tests, spans_nodes=repository.spans_nodes(), benchmarks=bench.names()),
            "every clause has a level of porting": levels.check(levels.read(), names, tests)}
