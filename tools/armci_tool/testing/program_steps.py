"""Steps with programs besides the suite: examples, kernels, pairs with data races, clients, applications, installed libraries."""

from __future__ import annotations

from functools import partial
from typing import Iterable, Sequence

from armci_tool import (bazel, bench, clients, debian_package, install_test, kernels, launch, programs, races,
                        repository)
from armci_tool.applications import recipes, shard
from armci_tool.compare import trial
from armci_tool.examples import EXAMPLES
from armci_tool.install import layout
from armci_tool.placement import Placement
from armci_tool.results import Case
from armci_tool.testing import work
from armci_tool.testing.choices import (between_nodes, demand, EVERY_PROCESS_A_NODE, on_one_node, ONE_NODE, one_or_all, rerun, SIMULATED_NODES, SINGLE, TWO_NODES)
from armci_tool.testing.steps import ALL_CORES, Level, PlannedStep


def examples_step(name: str, configuration: bazel.Configuration, level: Level = Level.USUAL) -> PlannedStep:
    labels = sorted({programs.implementation_label(example.label, name) for example in EXAMPLES})
    title = f"examples {name} ({configuration.name})"
    return PlannedStep(title, partial(work.run_examples, name, configuration), rerun(title), level, tuple(labels), configuration)


def kernel_steps(configuration: bazel.Configuration) -> list[PlannedStep]:
    """On one node, and between nodes where an implementation leaves it; in a guest where there is time."""
    def step(name: str, placement: Placement, level: Level) -> PlannedStep:
        title = ", ".join(part for part in (f"kernels {name}", placement.label) if part) + f" ({configuration.name})"
        cores, resource = demand([name], 2, placement)
        labels = tuple(bench.label(question.name, name) for question in bench.questions() if question.is_kernel)
        return PlannedStep(title, partial(kernels.run, name, 2, configuration, placement), rerun(title), level, labels,
                           configuration, cores=cores, resource=resource)

    return [*(step(name, ONE_NODE, Level.USUAL) for name in repository.implementations()),
            *(step(name, EVERY_PROCESS_A_NODE, Level.USUAL) for name in between_nodes()),
            *(step(row.name, EVERY_PROCESS_A_NODE, Level.FULL) for row in repository.implementation_table() if row.device)]


def race_steps(configuration: bazel.Configuration, level: Level) -> list[PlannedStep]:
    """The detector of data races on pairs of programs: on one node, and where each process is a node."""
    places = [*((name, ONE_NODE) for name in on_one_node()),
              *((name, EVERY_PROCESS_A_NODE) for name in one_or_all(level, between_nodes(), "races"))]
    steps = []
    for name, placement in places:
        title = ", ".join(filter(None, ["data races", name, placement.label])) + f" ({configuration.name})"
        steps.append(PlannedStep(title, partial(work.run_races, name, configuration, placement), rerun(title), Level.USUAL,
                                 (races.label(name),), configuration, cores=ALL_CORES))
    return steps


def install_test_step(configuration: bazel.Configuration, level: Level) -> PlannedStep:
    """Of the first implementation and one that the commit selects, or of all."""
    first, *others = repository.implementations()
    names = [first, *one_or_all(level, others, "installed, " + configuration.name)]
    name = f"install, link and load ({configuration.name})"
    return PlannedStep(name, partial(install_test.run, names, configuration), rerun(name), Level.USUAL,
                       layout.labels(names), configuration, cores=SINGLE)


def debian_step() -> PlannedStep:
    return PlannedStep("Debian packages from the sources", debian_package.as_it_is,
                       "tools/armci test --full --only 'Debian packages'", Level.FULL)


def _clients_step(names: Sequence[str], counts: Sequence[int], configuration: bazel.Configuration,
                        placement: Placement = ONE_NODE, level: Level = Level.USUAL) -> PlannedStep:
    which = names[0] if len(names) == 1 else "all"
    where = f", {placement.label}" if placement.label else ""
    name = f"Global Arrays and other clients, {which}, np={','.join(map(str, counts))}{where} ({configuration.name})"
    cores, resource = demand(names, max(counts), placement)
    return PlannedStep(name, partial(clients.run, names, counts, configuration, placement), rerun(name), level,
                       layout.labels(repository.implementations()), configuration, ("integration/",), cores=cores,
                       resource=resource)


def clients_steps(configuration: bazel.Configuration, level: Level) -> list[PlannedStep]:
    """Every implementation above each MPI library, and one between nodes by commit; the numbers of processes and the nodes that
    are left where there is time."""
    first = configuration.mpi == launch.DEFAULT_MPI
    everywhere = repository.implementations()

    def step(names: Sequence[str], counts: Sequence[int], placement: Placement, usual: bool) -> PlannedStep:
        return _clients_step(names, counts, configuration, placement, Level.USUAL if usual else Level.FULL)

    name = f"reports on a client ({configuration.name})"
    steps = [step(everywhere, (2,), ONE_NODE, True), step(everywhere, (1, 4), ONE_NODE, False),
             PlannedStep(name, partial(clients.observe, configuration), rerun(name), Level.USUAL if first else Level.FULL, layout.labels(everywhere), configuration)]
    for name in one_or_all(level, between_nodes(), "clients, " + configuration.name):
        steps += [step([name], (2,), TWO_NODES, first), step([name], (4,), TWO_NODES, False),
                  step([name], (4,), SIMULATED_NODES, not first)]
    steps += [step([row.name], (2,), EVERY_PROCESS_A_NODE, False) for row in repository.implementation_table() if row.device]
    return steps + (_large_clients_steps(configuration) if first else [])


def _large_clients_steps(configuration: bazel.Configuration) -> list[PlannedStep]:
    """Alone on the machine: they take the most memory of all steps."""
    steps = []
    for name, placement in [*((name, ONE_NODE) for name in on_one_node()), *((name, EVERY_PROCESS_A_NODE) for name in between_nodes())]:
        title = ", ".join(filter(None, ["clients with more than 2^31 bytes", name, placement.label])) + f" ({configuration.name})"
        steps.append(PlannedStep(title, partial(clients.run_large, [name], configuration, placement), rerun(title), Level.FULL,
                                 layout.labels(repository.implementations()), configuration, ("integration/",), cores=ALL_CORES))
    return steps


def applications_steps(configuration: bazel.Configuration) -> list[PlannedStep]:
    """A part of them with each change, and all where there is time."""
    def step(title: str, function: "partial[Iterable[Case]]", level: Level) -> PlannedStep:
        name = f"{title} ({configuration.name})"
        return PlannedStep(name, lambda note: list(function(note)), rerun(name), level, layout.labels(repository.implementations()),
                           configuration, ("integration/",))

    return [step(shard.NAME, partial(shard.run_shard, configuration.mpi), Level.USUAL),
            *(step(f"{shard.NAME}, all of {recipe.name}", partial(shard.run_all, recipe, configuration.mpi), Level.FULL)
              for recipe in recipes.RECIPES.values())]


def comparison_step() -> PlannedStep:
    labels = tuple(bench.label(name, candidate) for name in trial.BENCHMARKS for candidate in trial.CANDIDATES)
    return PlannedStep("comparison of two", trial.run, " ".join(["tools/armci", *trial.WORDS, "--report", "DIR"]), Level.USUAL,
                       labels, bazel.Configuration())
