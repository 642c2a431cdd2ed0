"""Recipes of applications on trees that are made up: their programs, the verdicts on these, and the shard of a commit."""

from __future__ import annotations

import re
import tarfile
from pathlib import Path
from typing import Mapping, Optional

import pytest
from armci_tool import shards
from armci_tool.applications import armci, armci_mpi_tests, built, global_arrays, kernels, known, nwchem, run, shard, sources
from armci_tool.applications.recipe import Program, Recipe, Work, executables
from armci_tool.errors import ToolError
from armci_tool.placement import Placement
from armci_tool.results import PASSED, SKIPPED, Case

COUNT, LONG = 25, "program-24"


def executable(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def programs_of(recipe: Recipe, folder: Path) -> Mapping[str, Mapping[str, Program]]:
    return {built_on: {program.name: program for program in found} for built_on, found in recipe.programs(folder, armci.OWN).items()}


def test_programs_of_global_arrays_that_need_arguments_or_hours_are_left_out(tmp_path: Path) -> None:
    for name in ("global/testing/big", "global/testing/elempatch", "global/testing/perf", "global/examples/scf/scf",
                 *global_arrays._LEFT_OUT, "ma/test", "gaf2c/test", "tcgmsg/test", "global/trace/test"):
        executable(tmp_path / "build" / f"{name}.x")
    found = programs_of(global_arrays.RECIPE, tmp_path)[armci.OWN]
    assert sorted(found) == ["global/examples/scf/scf", "global/testing/big", "global/testing/elempatch", "global/testing/perf"]
    assert [name for name, program in found.items() if program.is_long] == ["global/testing/big"]
    assert found["global/testing/perf"].processes == 4 and found["global/testing/big"].processes is None
    assert found["global/examples/scf/scf"].folder == tmp_path / "source" / "global" / "examples" / "scf"
    assert not found["global/examples/scf/scf"].writes and found["global/testing/big"].writes
    assert all(re.search(program.fails_if, "Matrices disagree") and not re.search(program.fails_if, "Success")
               for program in found.values())


def test_each_kernel_and_each_original_has_to_say_that_its_solution_validates(tmp_path: Path) -> None:
    for path in ("MPI1/Transpose/transpose", "MPIRMA/Synch_p2p/p2p", "SHMEM/Stencil/stencil"):
        executable(tmp_path / "source" / path)
    found = programs_of(kernels.RECIPE, tmp_path)
    assert {title: sorted(programs) for title, programs in found.items()} == {
        armci.OWN: ["p2p", "random", "sparse", "stencil", "transpose"], "MPI messages": ["transpose"], "MPI one-sided": ["p2p"],
        "OpenSHMEM": ["stencil"]}
    assert {program.says for programs in found.values() for program in programs.values()} == {"Solution validates"}
    assert found["MPI messages"]["transpose"].arguments == ("20", "1024", "32"), "the original takes the size of a tile"
    assert found["MPI messages"]["transpose"].path == tmp_path / "source" / "MPI1" / "Transpose" / "transpose"


def test_programs_of_mpi_alone_and_of_the_insides_of_armci_mpi_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "Makefile.mk").write_text("check_PROGRAMS += tests/test_put benchmarks/bench \\\n tests/mpi/test_win tests/ctree/ctree\n"
                                          "tests_test_put_SOURCES = tests/one.c tests/two.c\n")
    assert armci_mpi_tests._sources_of_tests(tmp_path) == {"tests/test_put": ["tests/one.c", "tests/two.c"],
                                                           "benchmarks/bench": ["benchmarks/bench.c"]}


def test_a_program_of_armci_mpi_fails_with_its_words_of_a_wrong_number_or_without_its_build(tmp_path: Path) -> None:
    executable(tmp_path / "build" / "test_put")
    (tmp_path / "build" / "bench_groups.refused").write_text("no such header")
    found = programs_of(armci_mpi_tests.RECIPE, tmp_path)[armci.OWN]
    assert sorted(found) == ["bench_groups", "test_put"]
    assert found["bench_groups"].refused == "no such header" and not found["test_put"].refused
    for words in ("FAIL.  Got 3", "Test fail: rank 0", "Error: got 1"):
        assert re.search(found["test_put"].fails_if, words), words
    assert not re.search(found["test_put"].fails_if, "No errors.")


def test_every_input_of_nwchem_is_a_program_with_references(tmp_path: Path) -> None:
    found = programs_of(nwchem.RECIPE, tmp_path)[armci.OWN]
    assert sorted(found) == sorted(path.stem for path in nwchem.INPUTS.glob("*.nw"))
    assert all(program.references and program.writes for program in found.values())


@pytest.mark.parametrize("line", ["# reference: Total MP2 energy = -76.2", "# reference within 1e-7: Total MP2 energy -76.2", "# references"])
def test_a_misspelt_reference_of_nwchem_is_an_error(line: str) -> None:
    right = "# reference within 1e-7: Total SCF energy = -76.0\n"
    assert len(nwchem.references(right + "# a reference\n")) == 1
    with pytest.raises(ToolError, match="cannot read a reference") as raised:
        nwchem.references(f"{right}{line}\n")
    assert raised.value.where == line


def test_a_library_is_found_in_its_folder_and_a_model_needs_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", "/before")
    libraries = {name: armci.Armci(name, tmp_path / name / "a" / "b", "openmpi", "1") for name in (armci.OWN, armci.BASELINE)}
    ours, theirs, model = armci.candidates(["ucx"], libraries, ["OpenSHMEM"])
    assert ours.environment() == {"LD_LIBRARY_PATH": f"{tmp_path}/armci/lib/armci/ucx:/before", "ARMCI_VERBOSE": "1"}
    assert theirs.environment() == {"LD_LIBRARY_PATH": f"{tmp_path}/armci-mpi/a/b/lib:/before"}
    assert not model.environment()


def test_an_implementation_that_needs_a_device_is_not_usual_between_nodes() -> None:
    assert built.usual(Placement(nodes=2)) == ["mpi-rma", "mpi-twosided", "ucx"]
    assert {"shmem", "native-verbs"} < set(built.usual(Placement()))


def recipe_of(name: str, *, is_long_build: bool = False) -> Recipe:
    def build(work: Work) -> None:
        for number in range(COUNT):
            executable(work.folder / f"program-{number:02}")

    def programs(folder: Path, built_on: str) -> Mapping[str, list[Program]]:
        return {built_on: [Program(path.name, path, is_long=path.name == LONG) for path in executables(folder / "build", "*")]}
    return Recipe(name, name, f"{name}-*.tar.xz", build, programs, (2,), 60.0, has_files=("file",), is_long_build=is_long_build)


@pytest.fixture
def recipes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mapping[str, Recipe]:
    """Applications with sources that are made up, and no other; their programs are not started."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(sources, "BESIDE_CHECKOUT", tmp_path)
    made = {"ga": recipe_of("ga"), "nwchem": recipe_of("nwchem", is_long_build=True)}
    for name in made:
        with tarfile.open(tmp_path / f"{name}-1.tar.xz", "w:xz") as archive:
            archive.add("/dev/null", arcname=f"{name}-1/file")
    monkeypatch.setattr(shard, "RECIPES", made)
    monkeypatch.setattr(armci, "own", lambda configuration, note: armci.Armci(armci.OWN, tmp_path / "a" / "b", configuration.mpi, "1"))
    monkeypatch.setattr(known, "read", lambda: [])
    monkeypatch.setattr(run, "program_case", lambda program, *given: Case(program.name, PASSED))
    return made


def shard_of(part: int, monkeypatch: pytest.MonkeyPatch) -> list[Case]:
    monkeypatch.setattr(shards, "of_commit", lambda parts, topic: (min(part, parts), parts))
    return list(shard.run_shard("openmpi", lambda note: None))


def names_of(cases: list[Case], application: str) -> list[str]:
    return [found[1] for case in cases if (found := re.match(rf"{application}: (\S+) on ", case.name))]


def test_commits_run_a_dozen_programs_each_and_all_but_the_long_ones_together(recipes: Mapping[str, Recipe],
                                                                               monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(built, "usual", lambda where: ["shmem", "ucx"])
    first, second = (shard_of(part, monkeypatch) for part in (1, 2))
    libraries = [{case.name.split()[3] for case in cases if case.outcome == PASSED} for cases in (first, second)]
    assert libraries == [{"shmem,"}, {"ucx,"}], "half of the implementations each"
    names = [names_of(cases, "ga") for cases in (first, second)]
    assert [len(found) for found in names] == [12, 12]
    assert sorted(names[0] + names[1]) == [f"program-{number:02}" for number in range(COUNT - 1)]


def test_nwchem_is_part_of_a_shard_once_it_was_built(recipes: Mapping[str, Recipe], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(built, "usual", lambda where: ["shmem"])
    last = shard_of(1, monkeypatch)[-1]
    assert last.outcome == SKIPPED and "the build takes long" in last.detail
    found: Mapping[str, Optional[Path]] = recipes["nwchem"].find_sources(None)
    recipes["nwchem"].built_on(armci.Armci(armci.OWN, tmp_path / "a" / "b", "openmpi", "1"), found, lambda note: None)
    assert names_of(shard_of(1, monkeypatch), "nwchem") == ["program-00"]


def test_the_short_programs_of_a_build_are_those_that_are_not_long(recipes: Mapping[str, Recipe], tmp_path: Path) -> None:
    library = armci.Armci(armci.OWN, tmp_path / "a" / "b", "openmpi", "1")
    found = recipes["ga"].find_sources(None)
    made = built.Built(recipes["ga"], {armci.OWN: library}, {armci.OWN: recipes["ga"].built_on(library, found, lambda note: None)})
    assert LONG in {program.name for program in made.programs()[armci.OWN]}
    assert LONG not in {program.name for program in made.programs(short=True)[armci.OWN]}
    with pytest.raises(ToolError, match="no program of ga matches --filter 'none'"):
        made.programs("none", short=True)
    with pytest.raises(ToolError, match="--short leaves out each program that matches") as raised:
        made.programs(LONG, short=True)
    assert raised.value.where == LONG
