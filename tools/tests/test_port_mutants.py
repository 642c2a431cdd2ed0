"""The mutants of ports: their texts are in the sources, and the table is what the tool reads."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pytest

from armci_tool import mutants, process, traceability
from armci_tool.repository import ROOT

FOLDER = ROOT / "impl" / "testing" / "mutants"
TABLES = sorted(FOLDER.glob("*.toml"))


def mutate(*words: str | Path) -> process.Result:
    return process.run([sys.executable, "-B", str(FOLDER / "mutate.py"), *map(str, words)], cwd=ROOT)


@pytest.mark.parametrize("table", TABLES, ids=[table.stem for table in TABLES])
def test_each_text_is_in_its_source(table: Path) -> None:
    entries = tomllib.loads(table.read_text())["mutant"]
    files = {entry["name"]: {entry["file"], *(edit[0] for edit in entry.get("elsewhere", []))} for entry in entries}
    for file in set().union(*files.values()):
        made = mutate(file, table)
        assert made.ok, made.output
        for name, edited in files.items():
            assert (f'IS_MUTANT("{name}")' in made.output) == (file in edited)


def test_a_text_that_is_not_there_is_named(tmp_path: Path) -> None:
    table = tmp_path / "x.toml"
    table.write_text('[[mutant]]\nname = "m"\nclause = "C-1"\ndescription = "d"\nfile = "README.md"\nedits = [["no such text", "x"]]\n')
    made = mutate("README.md", table)
    assert not made.ok and "m: 'no such text' is 0 times in README.md" in made.output


@pytest.mark.parametrize("port", mutants.PORTS)
def test_the_table_names_clauses_and_places(port: str) -> None:
    tables = [FOLDER / f"{port}.toml", *([FOLDER / "engine.toml"] if port in ("mpi-twosided", "ucx") else [])]
    made = mutate("table", port, *tables)
    text = "\n".join(line.strip().strip(";").strip('"').removesuffix("\\n").replace("\\t", "\t").replace('\\"', '"')
                     for line in made.output.splitlines() if line.startswith("    "))
    found = mutants.parse_table(text)
    clauses = {clause.identifier for clause in traceability.read_clauses()}
    assert found and {mutant.clause for mutant in found} <= clauses
    assert all((mutant.nodes, mutant.node_size) != (0, 0) for mutant in found if not mutant.explained)


def test_there_are_a_hundred() -> None:
    assert sum(len(tomllib.loads(table.read_text())["mutant"]) for table in TABLES) >= 100


def test_ports_of_a_row_are_known() -> None:
    for table in TABLES:
        for entry in (row for rows in tomllib.loads(table.read_text()).values() for row in rows):
            assert set(entry.get("ports", [])) <= set(mutants.PORTS), entry["name"]


def test_a_row_of_other_ports_is_left_out(tmp_path: Path) -> None:
    table = tmp_path / "x.toml"
    table.write_text('[[mutant]]\nname = "m"\nclause = "C-1"\ndescription = "d"\nfile = "f"\nedits = []\nports = ["a"]\n'
                     '[[explained]]\nname = "e"\nclause = "C-2"\ndescription = "d"\nreason = "r"\n')
    assert '"m\\tC-1' in mutate("table", "a", table).output and '"m\\tC-1' not in mutate("table", "b", table).output
    found = mutants.parse_table("e\tC-2\t2\texplained\tC-2\td: r")
    assert mutants.render_explained(found) == "explained: e [C-2], d: r"
