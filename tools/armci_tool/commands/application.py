"""`application`: builds an application from its source, and runs its own programs on each implementation."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Mapping, Optional, Sequence

import click

from armci_tool import bazel, environment, packages, placement, repository
from armci_tool.applications import armci, known, report, run, sources
from armci_tool.applications.recipes import RECIPES, Program, Recipe
from armci_tool.commands import options
from armci_tool.console import Progress
from armci_tool.errors import ToolError
from armci_tool.results import FAILED, Case


@options.command("application", "tools/armci application ga", "tools/armci application ga --impl shmem,ucx -n 4,5 --report DIR",
                 "tools/armci application ga --nodes 2 --filter 'patch|ghosts'")
@options.argument("name", type=click.Choice(sorted(RECIPES)), help="application")
@click.option("--source", type=options.PATH, metavar="PATH",
              help=f"its archive or folder (default: the one in shared/sources beside the checkout or in the cache)")
@options.implementations("implementations, or all (default: all that need no device)")
@click.option("--beside/--not-beside", default=True, show_default=True,
              help=f"run it on {armci.REFERENCE} as well, built from its source in the same way")
@options.repeated("-n", "--np", "processes", of=options.COUNT, metavar="N[,N...]",
                  help="numbers of processes (default: those of the application)")
@click.option("--filter", "pattern", default="", metavar="REGEX", help="programs whose name has it")
@click.option("--limit", type=options.SECONDS, metavar="SECONDS", help="time that a program may take")
@click.option("--report", "folder", type=options.PATH, metavar="DIR",
              help="write table.txt, results.json, junit.xml and index.html there")
@options.mpi
@options.placed
def execute(name: str, source: Optional[Path], impl: Sequence[str], beside: bool, processes: Sequence[int], pattern: str,
            limit: Optional[float], folder: Optional[Path], mpi: str, where: placement.Placement) -> int:
    """Runs the command; 0 when all programs passed, or failed as is known."""
    recipe = RECIPES[name]
    if folder:
        options.require_folder(folder)
    names = _implementations(impl, where)
    given = [word for option, value in (("--source", source), ("--impl", ",".join(impl)), ("--limit", limit and f"{limit:g}")) if value
             for word in (option, str(value))] + ["--not-beside"] * (not beside)
    source = sources.find(recipe.pattern, source)
    beside_source = _beside_source(recipe, source) if beside and recipe.has_reference else None
    packages.ensure_installed(print, "application")
    entries = known.read()
    with sources.locked(), Progress(f"{recipe.title} ({mpi})") as progress:
        built = _build(recipe, source, mpi, beside_source, progress)
        programs = _chosen(recipe, {built_on: there for built_on, (_, there) in built.items()}, pattern)
        others = [built_on for built_on, found in programs.items() if built_on not in built and found]
        columns = armci.columns(names, {built_on: one for built_on, (one, _) in built.items()}, others)
        steps = []
        for count in processes or recipe.process_counts:
            place = run.Where(count, mpi, where)
            found: list[tuple[armci.Column, Case]] = []
            for column, case in run.runs(programs, columns, place, limit or recipe.time_limit_s, progress.note):
                found.append((column, known.judge(case, name, column.name, where.kind, entries)))
            made = run.steps(found, place)
            for step in made:
                step.rerun = shlex.join(["tools/armci", "application", name, "-n", str(count), "--mpi", mpi, *where.arguments(), *given])
            steps += made
            # After each, so that an end in the middle loses only what was under way.
            written = report.write(folder, recipe.title, steps, environment.describe([mpi])) if folder else []
    print(report.screen(steps))
    for path in written:
        print(f"wrote {path}")
    return 1 if any(step.count(FAILED) for step in steps) else 0


def _implementations(impl: Sequence[str], where: placement.Placement) -> list[str]:
    rows = {row.name: row for row in repository.implementation_table() if not row.test_only}
    usual = [name for name, row in rows.items()
             if not row.device and (where.kind == "machine" or row.spans_nodes)]
    chosen = [one for choice in impl for one in (usual if choice == "all" else [choice])] or usual
    for one in chosen:
        repository.require_for_users(one)
        if where.kind != "machine" and not rows[one].spans_nodes:
            raise ToolError(f"{one} spans no nodes", next_step="use one of: " + ", ".join(usual))
    return list(dict.fromkeys(chosen))


def _beside_source(recipe: Recipe, source: Path) -> Path:
    """Of the reference, before anything is built."""
    if recipe.pattern == armci.REFERENCE_SOURCE:
        return source
    try:
        return sources.find(armci.REFERENCE_SOURCE, None)
    except ToolError as error:
        raise ToolError(error.what, where=error.where, next_step=f"put the one archive into {sources.cache()}, or give --not-beside") from error


def _build(recipe: Recipe, source: Path, mpi: str, beside_source: Optional[Path],
           progress: Progress) -> "dict[str, tuple[armci.Armci, Path]]":
    """What the application was built on, and where that is."""
    libraries = [armci.own(bazel.Configuration(mpi), progress.note)]
    if beside_source:
        libraries.append(armci.reference(mpi, beside_source, progress.note))
    return {one.name: (one, recipe.built_on(one, source, progress.note)) for one in libraries}


def _chosen(recipe: Recipe, folders: Mapping[str, Path], pattern: str) -> dict[str, list[Program]]:
    """Programs by what they were built on."""
    try:
        expression = re.compile(pattern)
    except re.error as error:
        raise ToolError(f"--filter {pattern!r} is no regular expression", where=str(error),
                        next_step="give a part of a program's name") from error
    chosen = {name: [program for program in programs if expression.search(program.name)]
              for built_on, folder in folders.items() for name, programs in recipe.programs(folder, built_on).items()}
    if not any(chosen.values()):
        raise ToolError(f"no program of {recipe.title} matches --filter {pattern!r}", next_step="leave --filter out to see all")
    return chosen
