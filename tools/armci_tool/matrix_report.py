"""Writes a report folder: matrix.txt, matrix.json, junit.xml and index.html tell the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from armci_tool import matrix_html, matrix_text, results
from armci_tool.matrix import Cell, Matrix, column_title, steps
from armci_tool.results import Case

# Raised when a reader of matrix.json would misunderstand what is written now.
JSON_FORMAT = 1


def write(folder: Path, matrix: Matrix) -> list[Path]:
    """The files written."""
    folder.mkdir(parents=True, exist_ok=True)
    text, data, junit, page = (folder / name for name in ("matrix.txt", "matrix.json", "junit.xml", "index.html"))
    text.write_text(matrix_text.document(matrix))
    data.write_text(json.dumps(as_json(matrix), indent=1) + "\n")
    results.write_junit(junit, steps(matrix.runs))
    page.write_text(matrix_html.render(matrix), encoding="utf-8")
    return [text, data, junit, page]


def as_json(matrix: Matrix) -> dict[str, Any]:
    """Lists named `cells`, `results` and `counts` have an entry per column, in the order of `columns`."""
    tests = list(dict.fromkeys(name for found in matrix.results for name in found))
    clauses_of: dict[str, list[str]] = {}
    for row in matrix.rows:
        for name in row.tests:
            clauses_of.setdefault(name, []).append(row.clause.identifier)
    return {
        "format": JSON_FORMAT,
        "environment": dict(matrix.environment),
        "columns": [{
            "title": column_title(run), "implementation": run.implementation, "mpi": run.mpi,
            "build": run.configuration.mode, "processes": run.processes, "label": run.label, "quick": run.quick,
            "seed": run.seed, "seconds": round(run.seconds, 3), "rerun": run.rerun(), "repeats": run.repeats,
            "flaky": list(run.flaky),
        } for run in matrix.runs],
        "clauses": [{
            "id": row.clause.identifier, "chapter": row.clause.chapter, "text": row.clause.text,
            "needs": sorted(row.clause.needs), "tests": list(row.tests), "cells": [_cell(cell) for cell in row.cells],
        } for row in matrix.rows],
        "tests": [{"name": name, "clauses": clauses_of.get(name, []),
                   "results": [_case(found.get(name)) for found in matrix.results]} for name in tests],
        "litmus": [{"test": entry.test, "class": entry.outcome_class, "outcome": entry.text,
                    "counts": list(entry.counts)} for entry in matrix.outcomes],
        "mutation": None if matrix.mutation is None else {
            "score": matrix.mutation.score, "commit": matrix.mutation.commit, "part": matrix.mutation.part,
            "mutants": [{"name": mutant.name, "clause": mutant.clause, "description": mutant.description,
                         "state": mutant.state, "killed_by": list(mutant.killed_by)}
                        for mutant in matrix.mutation.mutants],
        },
    }


def _cell(cell: Cell) -> dict[str, Any]:
    made: dict[str, Any] = {"verdict": cell.verdict, "seconds": round(cell.seconds, 3)}
    return made | ({"reason": cell.reason} if cell.reason else {})


def _case(case: Case | None) -> dict[str, Any] | None:
    if case is None:
        return None
    made: dict[str, Any] = {"outcome": case.outcome, "seconds": case.seconds}
    made |= {"detail": case.detail} if case.detail else {}
    return made | ({"facts": [list(fact) for fact in case.facts]} if case.facts else {})
