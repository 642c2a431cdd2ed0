"""The tests and benchmarks of ARMCI-MPI, which are run and not read."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Mapping, Sequence

from armci_tool import process
from armci_tool.applications.armci import BASELINE, BASELINE_PATTERN
from armci_tool.applications.recipe import Program, Recipe, Work
from armci_tool.errors import ToolError

# These programs test MPI alone or the insides of ARMCI-MPI. They say nothing about another library.
_NOT_ARMCI = ("tests/mpi/", "tests/ctree/")
_REFUSED = ".refused"
# Some programs end with status 0 after a wrong number.
_FAILS_IF = r"FAIL\.  Got|Test fail:|Error: got"


def _sources_of_tests(tree: Path) -> dict[str, list[str]]:
    """Programs and their sources, as its Makefiles list them."""
    text = "\n".join(file.read_text() for file in sorted(tree.rglob("Makefile.mk"))).replace("\\\n", " ")
    names = [name for listed in re.findall(r"^check_PROGRAMS \+=(.*)$", text, re.MULTILINE) for name in listed.split("#")[0].split()]
    given = {name: words.split() for name, words in re.findall(r"^(\w+)_SOURCES = (.*)$", text, re.MULTILINE)}
    return {name: given.get(re.sub(r"\W", "_", name), [f"{name}.c"]) for name in names if not name.startswith(_NOT_ARMCI)}


def _build(work: Work) -> None:
    """Compiles each program by itself: a program that does not compile fails when it should run."""
    tree, folder, library, note = work.tree, work.folder, work.library, work.note
    if not (tests := _sources_of_tests(tree)):
        raise ToolError("the source of ARMCI-MPI lists no tests", where=f"looked for check_PROGRAMS in {tree}/**/Makefile.mk",
                        next_step="give another --source")
    for name, files in tests.items():
        note(f"compiling {name}")
        program = folder / Path(name).name
        made = process.run([library.compilers["CC"], "-O2", "-w", f"-I{library.prefix}/include", f"-I{tree}/tests", *files, "-o", str(program),
                            f"-L{library.prefix}/lib", "-larmci", "-lm"], cwd=tree)
        if not made.ok:
            program.with_suffix(_REFUSED).write_text(made.output)
    if all(path.suffix == _REFUSED for path in folder.iterdir()):
        raise ToolError("none of the programs of ARMCI-MPI compiles", where=made.tail(15), next_step="mend the first error above")


def _programs(folder: Path, built_on: str) -> Mapping[str, Sequence[Program]]:
    return {built_on: [Program(path.stem, path, fails_if=_FAILS_IF, refused=path.read_text() if path.suffix == _REFUSED else "")
                       for path in sorted((folder / "build").iterdir())
                       if path.suffix == _REFUSED or path.is_file() and os.access(path, os.X_OK)]}


RECIPE = Recipe(BASELINE, "ARMCI-MPI", BASELINE_PATTERN, _build, _programs, (2, 4), 120.0, has_files=("src/armcix.h", "configure.ac"),
                overridden=("CFLAGS", "FFLAGS"))
