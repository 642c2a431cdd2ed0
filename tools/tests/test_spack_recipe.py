"""The recipe for Spack, with a stand-in for Spack."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from armci_tool import launch, repository
from armci_tool.repository import ROOT
from helpers import parsed, script

SETTING = "default"


class Ran:
    """The command that the recipe has run, and the compilers behind the wrappers that it had put on the path."""

    def __init__(self) -> None:
        self.command = ""
        self.words: tuple[str, ...] = ()
        self.environment: dict[str, str] = {}
        self.wrapped: dict[str, str] = {}


@pytest.fixture
def ran() -> Ran:
    return Ran()


@pytest.fixture
def recipe(ran: Ran, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The class of the package; `variants` are what it has declared."""
    variants: dict[str, dict[str, Any]] = {}

    class Executable:
        def __init__(self, command: str) -> None:
            ran.command = command

        def add_default_env(self, name: str, value: str) -> None:
            ran.environment[name] = value

        def __call__(self, *words: str) -> None:
            ran.words = words
            for mpi in launch.MPI_LIBRARIES.values():
                for name in (mpi.compiler, mpi.compiler.replace("mpicc", "mpicxx"), mpi.launcher):
                    made = subprocess.run(["sh", "-c", f"{name} word"], env={**os.environ, **ran.environment},
                                          text=True, capture_output=True, check=False)
                    ran.wrapped[name] = made.stdout.strip()

    def nothing(*words: Any, **options: Any) -> None:
        """A directive."""

    package = ModuleType("spack.package")
    package.__dict__.update(Package=object, Executable=Executable, join_path=os.path.join, version=nothing,
                            depends_on=nothing, conflicts=nothing,
                            variant=lambda name, **options: variants.update({name: options}))
    monkeypatch.setitem(sys.modules, "spack", ModuleType("spack"))
    monkeypatch.setitem(sys.modules, "spack.package", package)
    spec = importlib.util.spec_from_file_location("recipe", ROOT / "packaging" / "spack" / "package.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    made = module.ArmciSuite()
    made.compiler = SimpleNamespace(cc="/opt/gcc/bin/gcc")
    made.declared_variants = variants
    return made


def install(recipe: Any, folder: Path, mpi: str, default: str) -> None:
    """As Spack would, with an MPI library of that name whose programs say theirs."""
    for name in ("mpicc", "mpicxx", "mpirun", "mpiexec"):
        script(folder, name, f'echo "{mpi}: {name} $*"\n')
    library = SimpleNamespace(name=mpi, mpicc=str(folder / "mpicc"), mpicxx=str(folder / "mpicxx"),
                              prefix=SimpleNamespace(bin=str(folder)))

    class Spec(dict[str, Any]):
        variants = {SETTING: SimpleNamespace(value=default)}

    recipe.install(Spec(mpi=library), folder / "prefix")


@pytest.mark.parametrize("mpi, kind", [("openmpi", "openmpi"), ("mpich", "mpich"), ("mvapich2", "mpich")])
def test_the_tool_understands_what_the_recipe_asks_for(recipe: Any, ran: Ran, tmp_path: Path, mpi: str,
                                                       kind: str) -> None:
    install(recipe, tmp_path, mpi, "shmem")
    assert (ROOT / ran.command).is_file()
    options = parsed(*ran.words)
    assert (options.command_name, options.prefix) == ("install", tmp_path / "prefix")
    assert (options.mpi, options.usual) == (kind, "shmem")


@pytest.mark.parametrize("mpi, kind", [("openmpi", "openmpi"), ("mpich", "mpich"), ("mvapich2", "mpich")])
def test_the_tool_finds_the_library_by_the_names_it_knows(recipe: Any, ran: Ran, tmp_path: Path, mpi: str,
                                                          kind: str) -> None:
    install(recipe, tmp_path, mpi, "shmem")
    names = launch.MPI_LIBRARIES[kind]
    for name in (names.compiler, names.compiler.replace("mpicc", "mpicxx"), names.launcher):
        assert ran.wrapped[name] == f"{mpi}: {name.partition('.')[0]} word"
    assert ran.environment["CC"] == "/opt/gcc/bin/gcc"
    assert not Path(ran.environment["PATH"].split(os.pathsep)[0]).exists(), "the wrappers were for the build"


def test_the_variant_has_the_implementations_of_the_table(recipe: Any) -> None:
    assert list(recipe.declared_variants[SETTING]["values"]) == repository.implementations()
    assert recipe.declared_variants[SETTING]["default"] in repository.implementations()
