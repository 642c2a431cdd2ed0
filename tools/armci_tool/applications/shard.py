"""The part of the applications' programs that runs with each change."""

from __future__ import annotations

import time
from typing import Iterable, Iterator, Mapping, Optional, Sequence

from armci_tool import bazel, nodes, shards
from armci_tool.applications import armci, built, known, run, sources
from armci_tool.applications.built import Built
from armci_tool.applications.recipe import Program, Recipe
from armci_tool.applications.recipes import RECIPES
from armci_tool.applications.run import Where
from armci_tool.applications.sources import Note
from armci_tool.placement import Placement
from armci_tool.results import SKIPPED, Case

NAME = "programs of applications"
# How many programs of which application run each time, and for how long without its build: four minutes for all, unless a program
# hangs.
_EACH_TIME = {"ga": (12, 180.0), "nwchem": (1, 60.0)}
_PROCESSES = 4


def run_shard(mpi: str, note: Note) -> Sequence[Case]:
    """Runs about a dozen programs of Global Arrays, and one input of NWChem if NWChem is built, on half of the implementations. The
    commit chooses them. An application without a source is skipped."""
    cases: list[Case] = []
    for name, (count, seconds) in _EACH_TIME.items():
        recipe = RECIPES[name]
        try:
            found = recipe.find_sources(None)
            with sources.locked():
                own = armci.own(bazel.Configuration(mpi), note)
                if recipe.is_long_build and not recipe.is_built(own, found):
                    cases.append(_skipped(recipe, f"the build takes long: run tools/armci application {name} once"))
                    continue
                made = built.build(recipe, found, mpi, None, note)
                cases += within(seconds, _run(made, Where(_PROCESSES, mpi), count, note), recipe)
        except (sources.NoSource, sources.InUse) as error:
            cases.append(_skipped(recipe, f"{error.what}; {error.next_step}"))
    return cases


def run_all(recipe: Recipe, mpi: str, note: Note) -> Iterator[Case]:
    """All programs of one application with each of its numbers of processes, on one node and on two, and on the baseline."""
    try:
        found = recipe.find_sources(None)
        baseline = sources.find(armci.BASELINE_PATTERN, None) if recipe.has_baseline else None
        with sources.locked():
            made = built.build(recipe, found, mpi, baseline, note)
            for count in recipe.process_counts:
                yield from _run(made, Where(count, mpi), None, note)
            if missing := nodes.missing_rights():
                yield _skipped(recipe, missing)
                return
            for count in recipe.process_counts:
                yield from _run(made, Where(count, mpi, Placement(nodes=2)), None, note)
    except (sources.NoSource, sources.InUse) as error:
        yield _skipped(recipe, f"{error.what}; {error.next_step}")


def within(seconds: float, cases: Iterable[Case], recipe: Recipe) -> Iterator[Case]:
    """The cases up to the one that ends when the time is over; says so if any is left."""
    end = time.monotonic() + seconds
    left = iter(cases)
    for case in left:
        yield case
        if time.monotonic() >= end:
            break
    if next(left, None):
        yield _skipped(recipe, f"the {seconds:g} s of this shard are over; run tools/armci application {recipe.name} for all")


def _skipped(recipe: Recipe, reason: str) -> Case:
    return Case(recipe.title, SKIPPED, detail=reason)


def _run(made: Built, where: Where, count: Optional[int], note: Note) -> Iterator[Case]:
    """About `count` of the programs that take no minutes, on half of the implementations; or all on all."""
    entries, names = known.read(), built.usual(where.placement)
    known.require_programs(made.recipe, made.names, entries)
    programs: Mapping[str, Sequence[Program]] = made.programs(short=bool(count))
    if count:
        programs = {built_on: shards.take(found, shards.of_commit(max(1, len(found) // count), made.recipe.name))
                    for built_on, found in programs.items()}
        names = shards.take(names, shards.of_commit(2, "applications"))
    for candidate, case in run.runs(programs, made.candidates(names, programs), where, made.recipe.time_limit_s, note):
        judged = known.judge(case, made.recipe.name, candidate.name, where, entries)
        yield Case(f"{made.recipe.title}: {judged.name} on {candidate.name}, {where.label}", judged.outcome, judged.seconds, judged.detail)
