"""Global Arrays, by its autotools build."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Mapping, Sequence

from armci_tool.applications import sources
from armci_tool.applications.recipe import Program, Recipe, Work, executables


# Some programs end with status 0 after a wrong number. The title of a column of scf, "failed #ij test failed #kl test", reports none.
_FAILS_IF = r"NbTest fails|[Tt]est (failed(?! #)|FAILED)|Error for element|mismatch at point|(PUT|GET|ACC) FAILS|Matrices disagree|we have error"


_FLAGS = {"CFLAGS": "-O2 -g", "FFLAGS": "-O2 -g -fallow-argument-mismatch"}


def _build(work: Work) -> None:
    # Its autogen.sh would download.
    sources.must(["autoreconf", "-fi"], work.tree, "cannot make the configure of Global Arrays",
                 sources.stage("making the configure of Global Arrays", work.note))
    library = work.library
    flags = {**_FLAGS, **library.compilers}
    sources.must([str(work.tree / "configure"), f"--prefix={prefix(work.folder.parent)}", "--with-mpi", f"--with-armci={library.prefix}",
                  "--enable-i8", "--with-blas4=-lopenblas", "--with-lapack=-lopenblas",
                  f"--with-scalapack=-lscalapack-{library.mpi}", *(f"{name}={value}" for name, value in flags.items())],
                 work.folder, "cannot configure Global Arrays", sources.stage("configuring Global Arrays", work.note))
    for target in ("install", "checkprogs"):
        sources.must(["make", f"-j{os.cpu_count()}", target], work.folder, "cannot build Global Arrays",
                     sources.stage(f"building Global Arrays, make {target}", work.note), LIBRARY_PATH=str(library.prefix / "lib"))


def prefix(folder: Path) -> Path:
    """Where an application finds it installed: `folder` is what the recipe returned."""
    return folder / "prefix"


# Folders of what is no program on ARMCI, or starts no job, or needs arguments.
_OTHER_FOLDERS = ("gaf2c/", "global/trace/", "ma/", "tcgmsg/")
# Programs that are left out: they need arguments, have no library below them, fill many gigabytes of a disk, write to
# /scratch or /tmp from every start folder, or compute for hours: random says 90 minutes in its source, and the input of
# grp_sim asks for a billion steps of each of 8 tasks.
_LEFT_OUT = ("pario/dra/big", "pario/dra/bign", "pario/dra/perfn", "pario/dra/perf3", "global/testing/testabstract_ops", "pario/dra/dbg_read", "pario/dra/dbg_write", "pario/dra/dra2arviz", "pario/dra/rate",
             "pario/eaf/test", "global/testing/random", "global/examples/md_cluster/grp_sim")
# They compute for minutes on two cores.
_LONG = ("global/testing/big", "global/testing/cache_test", "global/testing/kaczmarz", "global/testing/laplace",
         "global/testing/sprs_test", "pario/dra/dra_mxm", "pario/dra/time_mxm")
# Their input lies with their source.
_WITH_INPUT = ("global/examples/scf/scf",)
_PROCESSES = {"global/testing/pgtestmatmult": 8, "global/testing/pg2testmatmult": 8,
              **dict.fromkeys([f"global/testing/{name}" for name in ("mir_perf2", "perf", "perfmod", "perform")], 4)}


def _programs(folder: Path, built_on: str) -> Mapping[str, Sequence[Program]]:
    # Several folders have a program of one name.
    by_name = {str(path.relative_to(folder / "build").with_suffix("")): path for path in executables(folder / "build", "**/*.x")}
    return {built_on: [Program(name, path, fails_if=_FAILS_IF, is_long=name in _LONG, processes=_PROCESSES.get(name), writes=name not in _WITH_INPUT,
                               folder=(folder / "source" / name).parent if name in _WITH_INPUT else None)
                       for name, path in by_name.items() if not name.startswith(_OTHER_FOLDERS) and name not in _LEFT_OUT]}


RECIPE = Recipe("ga", "Global Arrays", "ga-5*.tar.*", _build, _programs, (2, 4, 5), 120.0, has_files=("global/src", "configure.ac"),
                overridden=tuple(_FLAGS))
