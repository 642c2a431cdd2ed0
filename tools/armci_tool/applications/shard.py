"""The part of the applications' programs that runs with each change."""

from __future__ import annotations

from pathlib import Path
from typing import Iterator, Mapping, Optional, Sequence

from armci_tool import bazel, nodes, sharing
from armci_tool.applications import armci, built, known, run, sources
from armci_tool.applications.built import Built
from armci_tool.applications.recipe import Program, Recipe
from armci_tool.applications.recipes import RECIPES
from armci_tool.applications.run import Where
from armci_tool.applications.sources import Note
from armci_tool.placement import Placement
from armci_tool.results import SKIPPED, Case

NAME = "programs of applications"
# How many programs of which application run each time.
_EACH_TIME = {"ga": 12, "nwchem": 1}
_PROCESSES = 4

Found = Mapping[str, Optional[Path]]


def run_shard(mpi: str, note: Note) -> Sequence[Case]:
    """Runs about a dozen programs of Global Arrays, and one NWChem energy if NWChem is built, on each implementation. The commit
    chooses the programs. An application without a source is skipped."""
    cases: list[Case] = []
    with sources.locked():
        own = armci.own(bazel.Configuration(mpi), note)
        for name, count in _EACH_TIME.items():
            recipe = RECIPES[name]
            try:
                found = recipe.find_sources(None)
            except sources.NoSource as error:
                cases.append(_skipped(recipe, f"{error.what}; {error.next_step}"))
                continue
            if recipe.is_long_build and not recipe.is_built(own, found):
                cases.append(_skipped(recipe, f"it takes long to build: run tools/armci application {name} once"))
                continue
            made = built.build(recipe, found, mpi, None, note)
            cases += _run(made, Where(_PROCESSES, mpi), count, note)
    return cases


def run_all(recipe: Recipe, mpi: str, note: Note) -> Iterator[Case]:
    """All programs of one application with each of its numbers of processes, on one node and on two, beside the reference."""
    with sources.locked():
        try:
            found = recipe.find_sources(None)
            beside = sources.find(armci.REFERENCE_SOURCE, None) if recipe.has_reference else None
        except sources.NoSource as error:
            yield _skipped(recipe, f"{error.what}; {error.next_step}")
            return
        made = built.build(recipe, found, mpi, beside, note)
        for count in recipe.process_counts:
            yield from _run(made, Where(count, mpi), None, note)
        if missing := nodes.missing_rights():
            yield _skipped(recipe, missing)
            return
        for count in recipe.process_counts:
            yield from _run(made, Where(count, mpi, Placement(nodes=2)), None, note)


def _skipped(recipe: Recipe, reason: str) -> Case:
    return Case(recipe.title, SKIPPED, detail=reason)


def _run(made: Built, where: Where, count: Optional[int], note: Note) -> Iterator[Case]:
    """About `count` of the programs that take no minutes, or all."""
    entries = known.read()
    programs: dict[str, Sequence[Program]] = {}
    for built_on, found in made.programs().items():
        usual = [program for program in found if not program.is_long] if count else found
        shards = max(1, len(usual) // count) if count else 1
        programs[built_on] = sharing.take(usual, sharing.of_commit(shards, made.recipe.name))
    for column, case in run.runs(programs, made.columns(built.usual(where.placement), programs), where, made.recipe.time_limit_s, note):
        judged = known.judge(case, made.recipe.name, column.name, where, entries)
        yield Case(f"{made.recipe.title}: {judged.name} on {column.name}, {where.label}", judged.outcome, judged.seconds, judged.detail)
