"""The mutants of ports: their texts are in the sources, and the table is what the tool reads."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pytest

from armci_tool import mutants, process, traceability
from armci_tool.placement import Placement
from armci_tool.repository import ROOT

FOLDER = ROOT / "impl" / "testing" / "mutants"
TABLES = sorted(FOLDER.glob("*.toml"))


def mutate(*words: str | Path) -> process.Result:
    return process.run([sys.executable, "-B", str(FOLDER / "mutate.py"), *map(str, words)], cwd=ROOT)


@pytest.mark.parametrize("table", TABLES, ids=[table.stem for table in TABLES])
def test_each_text_is_in_its_source(table: Path) -> None:
    entries = tomllib.loads(table.read_text())["mutant"]
    for file in {entry["file"] for entry in entries}:
        made = mutate(file, table)
        assert made.ok, made.output
        for entry in entries:
            assert (f'IS_MUTANT("{entry["name"]}")' in made.output) == (entry["file"] == file)


def test_a_text_that_is_not_there_is_named(tmp_path: Path) -> None:
    table = tmp_path / "x.toml"
    table.write_text('[[mutant]]\nname = "m"\nclause = "C-1"\ndescription = "d"\nfile = "README.md"\nedits = [["no such text", "x"]]\n')
    made = mutate("README.md", table)
    assert not made.ok and "m: 'no such text' is 0 times in README.md" in made.output


@pytest.mark.parametrize("port", mutants.PORTS)
def test_the_table_names_clauses_and_places(port: str) -> None:
    tables = [FOLDER / f"{port}.toml", *([] if port == "mpi-rma" else [FOLDER / "engine.toml"])]
    made = mutate("table", *tables)
    text = "\n".join(line.strip().strip(";").strip('"').removesuffix("\\n").replace("\\t", "\t").replace('\\"', '"')
                     for line in made.output.splitlines() if line.startswith("    "))
    found = mutants.parse_table(text)
    clauses = {clause.identifier for clause in traceability.read_clauses()}
    assert found and {mutant.clause for mutant in found} <= clauses
    assert all(mutant.placement != Placement() for mutant in found)
