"""`application`: builds an application from its source, and runs its own programs on each implementation."""

from __future__ import annotations

import itertools
import os
import shlex
from pathlib import Path
from typing import Optional, Sequence

import click

from armci_tool import environment, launch, packages, placement, repository
from armci_tool.applications import armci, built, known, report, run, sources
from armci_tool.applications.recipes import RECIPES
from armci_tool.commands import options
from armci_tool.console import Progress
from armci_tool.errors import Stopped, ToolError
from armci_tool.results import FAILED, Case

_PROCESSES_MOST = 64
_PROCESSES_PER_CORE_MOST = 16


@options.command("application", "tools/armci application ga", "tools/armci application ga --impl shmem,ucx -n 4,5 --report DIR",
                 "tools/armci application ga --nodes 2 --filter 'patch|ghosts'")
@options.argument("name", type=click.Choice(sorted(RECIPES)), metavar="APPLICATION", help=", ".join(sorted(RECIPES)))
@click.option("--source", type=options.PATH, metavar="PATH",
              help="its archive or folder (default: the one in shared/sources beside the checkout or in the cache; for NWChem "
              "else Debian's source)")
@options.implementations("implementations, or all (default: all; between nodes those that need no device)")
@click.option("--beside/--not-beside", default=True, show_default=True,
              help=f"run it on {armci.BASELINE} as well, built from its source in the same way")
@options.repeated("-n", "--np", "processes", of=options.COUNT, metavar="N[,N...]",
                  help="numbers of processes (default: those of the application)")
@click.option("--filter", "pattern", default="", metavar="REGEX", help="programs whose name, with its folders, has it")
@click.option("--short", is_flag=True, help="leave out programs that compute for minutes")
@click.option("--profile", is_flag=True, help="run ours under armci-prof, and report the share of the time inside ARMCI")
@click.option("--limit", type=options.SECONDS, metavar="SECONDS",
              help="time that a program may take (default: that of the application); one that computes for minutes may take ten times as long")
@click.option("--report", "folder", type=options.PATH, metavar="DIR",
              help="write table.txt, results.json, junit.xml and index.html there")
@options.mpi
@options.placed
def execute(name: str, source: Optional[Path], impl: Sequence[str], beside: bool, processes: Sequence[int], pattern: str, short: bool,
            profile: bool, limit: Optional[float], folder: Optional[Path], mpi: str, where: placement.Placement) -> int:
    """Runs the command; 0 when all programs passed, or failed as is known."""
    recipe = RECIPES[name]
    built.expression_of(pattern)
    names = _implementations(impl, where)
    given = [word for option, value in (("--source", source), ("--impl", ",".join(impl)), ("--limit", limit and f"{limit:g}")) if value
             for word in (option, str(value))] + ["--not-beside"] * (not beside) + ["--profile"] * profile
    given += ["--filter", pattern] * bool(pattern) + ["--short"] * short
    for one in names:
        launch.require(placement.with_device(where, repository.device_of(one)), launch.mpi_library(mpi).preload_on_nodes)
    for count in processes or recipe.process_counts:
        if count > (most := max(_PROCESSES_MOST, _PROCESSES_PER_CORE_MOST * (os.cpu_count() or 1))):
            raise ToolError(f"-n {count} is too many processes for this machine", where=f"{os.cpu_count()} cores run {most} at most",
                            next_step=f"give -n a number up to {most}")
        if where.nodes:
            where.ranks_per_node(count)
    found_sources = recipe.find_sources(source)
    baseline = _baseline_source(found_sources.get(armci.BASELINE)) if beside and recipe.has_baseline else None
    if folder:
        options.require_folder(folder, report.FILES)
    packages.ensure_installed(print)
    entries = known.read()
    with sources.locked(), Progress(f"{recipe.title} ({mpi})") as progress:
        made = built.build(recipe, found_sources, mpi, baseline, progress.note)
        if not source:  # that of another version may have other programs
            known.require_programs(recipe, made.names, entries)
        programs = made.programs(pattern, short=short)
        for program in itertools.chain(*programs.values()):
            if where.nodes and program.processes:
                where.ranks_per_node(program.processes)
        candidates = made.candidates(names, programs)
        described = environment.describe([mpi]) if folder else {}
        done: list[run.LibraryStep] = []
        steps: Sequence[run.LibraryStep] = ()
        for count in processes or recipe.process_counts:
            place = run.Where(count, mpi, where, made.profiler if profile else None)
            rerun = shlex.join(["tools/armci", "application", name, "-n", str(count), "--mpi", mpi, *where.arguments(), *given])
            found: list[tuple[armci.Candidate, Case]] = []
            try:
                for candidate, case in run.runs(programs, candidates, place, limit or recipe.time_limit_s, progress.note):
                    found.append((candidate, known.judge(case, name, candidate.name, place, entries)))
                    steps = [*done, *run.steps(found, place, rerun)]
                    if folder:  # after each, so that an end in the middle loses only the running program
                        report.write(folder, recipe.title, steps, described)
            except (Stopped, ToolError, OSError):
                if steps:
                    print(report.screen(steps))  # of the programs that ran before
                raise
            done = list(steps)
    print(report.screen(steps))
    if folder:
        print(f"wrote {folder}/index.html, table.txt, results.json and junit.xml")
    return 1 if any(step.count(FAILED) for step in steps) else 0


def _implementations(impl: Sequence[str], where: placement.Placement) -> list[str]:
    rows = {row.name: row for row in repository.implementation_table() if not row.test_only}
    usual = built.usual(where)
    chosen = [one for choice in impl for one in (usual if choice == "all" else [choice])] or usual
    for one in chosen:
        repository.require_for_users(one)
        if where.kind != "machine" and not rows[one].spans_nodes:
            raise ToolError(f"{one} spans no nodes", next_step="use one of: " + ", ".join(usual))
    return list(dict.fromkeys(chosen))


def _baseline_source(found: Optional[Path]) -> Path:
    """The source of the baseline, before anything is built; `found` if the baseline is the application too."""
    if found:
        return found
    try:
        return sources.find(armci.BASELINE_PATTERN, None)
    except sources.NoSource as error:
        raise ToolError(error.what, where=error.where, next_step=f"put the archive into {sources.cache()}, or give --not-beside") from error
