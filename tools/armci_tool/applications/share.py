"""The part of the applications' programs that runs with each change."""

from __future__ import annotations

from typing import Sequence

from armci_tool import sharing
from armci_tool.applications import built, known, run, sources
from armci_tool.applications.built import Built
from armci_tool.applications.recipe import Program, Recipe
from armci_tool.applications.recipes import RECIPES
from armci_tool.applications.run import Where
from armci_tool.applications.sources import Note
from armci_tool.placement import Placement
from armci_tool.results import SKIPPED, Case

NAME = "programs of applications"
# How many programs of which application run each time.
_SHARES = {"ga": 12, "nwchem": 1}
_PROCESSES = 4


def run_share(mpi: str, whole: bool, note: Note) -> Sequence[Case]:
    """A dozen programs of Global Arrays and, where NWChem has been built, one energy, on each implementation; a commit chooses
    which. All programs of all applications, between two nodes as well, if `whole`. What has no source is skipped."""
    cases: list[Case] = []
    with sources.locked():
        for recipe in RECIPES.values():
            if not whole and recipe.name not in _SHARES:
                continue
            if reason := _why_not(recipe, whole):
                cases.append(Case(recipe.title, SKIPPED, detail=reason))
                continue
            made = built.build(recipe, recipe.find_sources(None), mpi, None, note)
            everywhere = [*(Where(count, mpi) for count in recipe.process_counts), Where(_PROCESSES, mpi, Placement(nodes=2))]
            for where in everywhere if whole else [Where(_PROCESSES, mpi)]:
                cases += _run(made, where, None if whole else _SHARES[recipe.name], note)
    return cases


def _why_not(recipe: Recipe, whole: bool) -> str:
    try:
        recipe.find_sources(None)
    except sources.NoSource as error:
        return f"{error.what}; {error.next_step}"
    if recipe.needs and not whole and not sources.is_built(recipe.name):
        return f"it takes long to build: run tools/armci application {recipe.name} once"
    return ""


def _run(made: Built, where: Where, count: "int | None", note: Note) -> list[Case]:
    """`count`: about so many of the programs, else all."""
    entries = known.read()
    programs: dict[str, Sequence[Program]] = {}
    for built_on, found in made.programs().items():
        shares = max(1, len(found) // count) if count else 1
        programs[built_on] = sharing.take(found, sharing.of_commit(shares, made.recipe.name))
    columns = made.columns(built.usual(where.placement), programs)
    cases = []
    for column, case in run.runs(programs, columns, where, made.recipe.time_limit_s, note):
        judged = known.judge(case, made.recipe.name, column.name, where.placement.kind, entries)
        name = f"{made.recipe.title}: {judged.name} on {column.name}, {where.label}"
        cases.append(Case(name, judged.outcome, judged.seconds, judged.detail))
    return cases
