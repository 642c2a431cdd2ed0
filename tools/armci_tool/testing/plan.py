"""The steps of `tools/armci test`, cheap ones first."""

from __future__ import annotations

import shlex
from functools import partial
from typing import Mapping, Sequence

from armci_tool import (bazel, conformance, device_tests, launch, leak_check, levels, model, mutants, repository, sanitizers, shards,
                        tested_settings)
from armci_tool.placement import Placement
from armci_tool.results import FAILED, PASSED, Case
from armci_tool.testing import program_steps, work
from armci_tool.testing.choices import (between_nodes, demand, EVERY_PROCESS_A_NODE, GUESTS, on_one_node, ONE_NODE, one_or_all, rerun, SIMULATED_NODES, SINGLE, TWO_NODES, WAITING)
from armci_tool.testing.steps import ALL_CORES, Level, Note, PlannedStep, QUERY

# The conformance programs have steps of their own, with the process counts chosen there. Job tests start MPI jobs.
ALL_TESTS = f"tests(//...) except //conformance:all except {device_tests.TESTS}"
JOB_TESTS = f"attr(tags, mpi, {ALL_TESTS})"
# Tests of the exports of each library: they need all libraries.
EXPORT_TESTS = "filter(exports_test, tests(//impl/...))"
JOBLESS_TESTS = f"({ALL_TESTS}) except {JOB_TESTS} except {EXPORT_TESTS}"
LIBRARY_TESTS = f"tests(//impl/...) except {device_tests.TESTS}"
# Tests of code with threads. Jobs that have to end in time are left out: their ends take longer.
THREAD_TESTS = ("tests(//impl/api/...) union tests(//impl/runtime/...) union tests(//impl/base/...) "
                "union filter('(accumulate_test|agree_)', tests(//impl/node:all)) union tests(//impl/mpi-twosided:all) "
                "union filter(server_kind, tests(//impl/mpi-twosided/testing:all))")

# Of the libraries and of what is below them: named in titles.
SETTING_PREFIXES = ("ARMCI_", "UCX_", "OMPI_MCA_pml")
PROCESS_COUNTS = (1, 2, 3, 4)
TELLING_PROCESS_COUNTS = (2, 4)  # the smallest job with two parties, and the largest
TEST_ONLY_PROCESSES = 4
THREADLESS_PROCESSES = 2
# Where MPI lets only some threads call it: whether a wait lets MPI progress.
THREAD_LEVEL_FILTER = "PROG-5"
TOOL_WORKERS = 4  # its tests mostly wait
MUTANT_SHARDS = 8  # a launch for each mutant: a shard with each change
PORT_MUTANT_SHARDS = 3
# A guest is slow: what says most about a network.
GUEST_FILTER = "^(ACC|CMPL|FENCE|LC|ORD|RMW)[.](?!.*(litmus|histories|message_passing))"
# Two are slower still.
TWO_GUESTS_FILTER = "^(ORD|RMW)[.](?!.*(litmus|histories|message_passing))"

# Where they take minutes on few cores, under a sanitizer and over TCP: without the tests that wait for rare orders.
WITHOUT_RACES = "^(?!.*(litmus|histories|message_passing))"
# Also without transfers above 2 GiB: code above the transport counts their bytes, and the steps on simulated nodes test it.
FAULTS = "conformance/faults"
WITHOUT_GIGABYTES = "^(?!.*(litmus|histories|message_passing|more_than_2_GiB))"


def plan_steps(level: Level) -> list[PlannedStep]:
    """The steps, in order; builds are not among them (see with_builds)."""
    everything = [*_source_steps(), *_around_steps(level), *_first_library_steps(level), *_second_library_steps(level),
                  *_sanitizer_steps(level), _leak_check_step()]
    return [step for step in everything if step.level <= level]


def changed_steps(changed: Sequence[str]) -> list[PlannedStep]:
    """The steps that changed files can affect besides those of --quick: the tests of the tool, those of the exports of
    libraries, and those that start jobs; for each implementation that leaves the node the suite where every process is
    a node, without races. Faults take long: only where these tests have changed themselves."""
    opt = bazel.Configuration()
    faults = [_faults_step(name, opt) for name in on_one_node() if any(file.startswith(FAULTS + "/") for file in changed)]
    return [_tool_step(), _unit_step(opt, EXPORT_TESTS), _unit_step(opt, JOB_TESTS), *faults,
            *(_conformance_step(name, opt, 2, True, placement=EVERY_PROCESS_A_NODE, filter_text=WITHOUT_RACES)
              for name in between_nodes())]


def with_builds(plan: Sequence[PlannedStep]) -> list[PlannedStep]:
    """The plan with a build for each configuration before the first step that needs it: of all that its steps need, at once,
    so that each thing is built once and no step waits for Bazel while another one builds."""
    made: list[PlannedStep] = []
    built: set[bazel.Configuration] = set()
    for step in plan:
        if step.configuration and step.configuration not in built and step.targets:
            built.add(step.configuration)
            made.append(_build_step(step.configuration, plan))
        made.append(step)
    return made


def _build_step(configuration: bazel.Configuration, plan: Sequence[PlannedStep]) -> PlannedStep:
    targets = sorted({target for step in plan if step.configuration == configuration for target in step.targets})
    return PlannedStep(f"build ({configuration.name})", partial(work.build, configuration, targets),
                       work.build_command(targets, configuration), configuration=configuration, builds=True)


def _source_steps() -> list[PlannedStep]:
    return [
        PlannedStep("packages of the guest", work.ensure_guest, "tools/armci setup --rdma", alone=True),
        PlannedStep("form of the sources", work.check_forms, "tools/armci format", Level.QUICK, cores=SINGLE),
        _pytest_step("the memory model", "spec/model", files=("spec/",), cores=SINGLE),
        _tool_step(),
    ]


def _tool_step() -> PlannedStep:
    return _pytest_step("tests of the tool", "tools/tests", files=("tools/", "packaging/", "docs/", "README.md"), workers=TOOL_WORKERS,
                        cores=SINGLE)


def _around_steps(level: Level) -> list[PlannedStep]:
    """The steps beside the libraries, which seldom change: each commit selects one."""
    steps = [_pytest_step("tests of the guest", "tools/tests_rdma/test_guest.py", cores=SINGLE, resource=GUESTS),
             PlannedStep("models", partial(model.run, model.RESULTS), "tools/armci test --full --only models",
                         cores=SINGLE),
             _fuzz_step()]
    # The suite runs in two guests too, with each change.
    guests = _pytest_step("tests of the guests", "tools/tests_rdma", Level.FULL, resource=GUESTS)
    return [*one_or_all(level, steps, "beside the libraries"), guests]


def _first_library_steps(level: Level) -> list[PlannedStep]:
    """With the MPI library that everything is built for first."""
    opt = bazel.Configuration()
    steps = [_everything_step(opt, Level.USUAL), _unit_step(opt, JOBLESS_TESTS, level=Level.QUICK), _unit_step(opt, EXPORT_TESTS),
             _unit_step(opt, JOB_TESTS),
             PlannedStep("clauses and tests", work.check_traceability, "tools/armci traceability", Level.QUICK,
                         (conformance.suite_label(repository.implementations()[0]),), opt, ("spec/", "conformance/levels.toml"))]
    for name in on_one_node():
        for processes in PROCESS_COUNTS:
            # The whole suite with the two most telling numbers of processes, where there is time for it.
            telling = processes in TELLING_PROCESS_COUNTS
            short = level < Level.FULL or not telling
            steps.append(_conformance_step(name, opt, processes, short, level=Level.QUICK if telling else Level.USUAL,
                                           child_jobs=processes == TELLING_PROCESS_COUNTS[0]))
        # Where threads are promised not to be there, the way through the library is another.
        steps.append(_conformance_step(name, opt, THREADLESS_PROCESSES, True, thread_level="single",
                                       child_jobs=False))
    # Every day, of one implementation of each kind.
    every_day = [*on_one_node()[:1], *between_nodes()[:1]]
    for name in repository.implementations():
        steps.append(program_steps.examples_step(name, opt, Level.QUICK if name in every_day else Level.USUAL))
    steps.append(program_steps.install_test_step(opt, level))
    steps += program_steps.clients_steps(opt, level)
    steps += [*program_steps.applications_steps(opt), *program_steps.kernel_steps(opt), program_steps.comparison_step()]
    # On one node the implementations share what these are about; reports are about other nodes too.
    steps += [_faults_step(name, opt) for name in on_one_node()]
    steps += [_faults_step(name, opt, Level.USUAL if name == between_nodes()[-1] else Level.FULL, "test_reports.py")
              for name in between_nodes()]
    steps.append(_mutants_step(opt, shards.of_commit(MUTANT_SHARDS, "mutants") if level < Level.FULL else shards.WHOLE))
    # Those that run in a guest take longer.
    with_mutants = [port for port in mutants.PORTS if level == Level.FULL or not repository.device_of(port)]
    for port in one_or_all(level, with_mutants, "mutants of ports"):
        share = shards.WHOLE if level == Level.FULL else shards.of_commit(PORT_MUTANT_SHARDS, "mutants of " + port)
        steps.append(_mutants_step(opt, share, port))
    steps += program_steps.race_steps(opt, level)
    # Under MPICH the foreign library makes no progress while its target computes, and takes too long.
    steps += [_foreign_step(opt), _programs_that_fail_step(opt)]
    steps.append(_device_tests_step(opt))
    for row in repository.implementation_table():
        if row.device:
            steps += _device_steps(row.name, opt, level)
        elif row.test_only:
            steps += _test_only_steps(row, opt)
    for name in between_nodes():
        steps += _spanning_steps(name, opt, level)
    return steps + _thread_level_steps(opt, level)


def _thread_level_steps(configuration: bazel.Configuration, level: Level) -> list[PlannedStep]:
    """Which threads may call MPI while they wait."""
    steps = [_conformance_step(name, configuration, THREADLESS_PROCESSES, True, thread_level=threads, placement=placement,
                               filter_text=THREAD_LEVEL_FILTER, child_jobs=False)
             for names, placement in ((on_one_node(), ONE_NODE), (between_nodes(), EVERY_PROCESS_A_NODE))
             for name in names for threads in ("funneled", "serialized")]
    return one_or_all(level, steps, "threads, " + configuration.name)


def _test_only_steps(row: repository.Implementation, configuration: bazel.Configuration) -> list[PlannedStep]:
    """Those that exist for the tests: that the core is right on them. Of an unfinished port: what it has reached, on nodes
    that are simulated as well, since a port that leaves a node's own operations to the core has nothing else."""
    if row.port_level < levels.LAST:
        if not row.port_level:
            return []
        return [*(_conformance_step(row.name, configuration, processes, True, port_level=row.port_level)
                  for processes in TELLING_PROCESS_COUNTS),
                _conformance_step(row.name, configuration, TELLING_PROCESS_COUNTS[0], True, port_level=row.port_level,
                                  placement=EVERY_PROCESS_A_NODE)]
    return [_conformance_step(row.name, configuration, TEST_ONLY_PROCESSES, True, level=Level.FULL),
            _conformance_step(row.name, configuration, TEST_ONLY_PROCESSES, True, placement=SIMULATED_NODES)]


def _device_steps(name: str, configuration: bazel.Configuration, level: Level) -> list[PlannedStep]:
    """In a guest, and in two with a network between them; with every setting, library and sanitizer where there is
    time."""
    def step(processes: int, placement: Placement, from_level: Level = Level.FULL, filter_text: str = GUEST_FILTER,
             where: bazel.Configuration = configuration, environment: Mapping[str, str] = {}) -> PlannedStep:
        return _conformance_step(name, where, processes, True, environment, from_level, placement,
                                 filter_text=filter_text)

    in_one, in_two = (WITHOUT_RACES, GUEST_FILTER) if level == Level.FULL else (GUEST_FILTER, TWO_GUESTS_FILTER)
    return [step(2, EVERY_PROCESS_A_NODE, Level.USUAL, in_one), step(2, TWO_NODES, Level.USUAL, in_two),
            step(4, TWO_NODES), step(4, SIMULATED_NODES, where=bazel.Configuration("mpich")),
            *(_tested_step(name, tested, level, Level.FULL) for tested in tested_settings.read(name)),
            step(2, EVERY_PROCESS_A_NODE, where=bazel.Configuration(mode=sanitizers.BOTH))]


def _device_tests_step(configuration: bazel.Configuration, level: Level = Level.USUAL) -> PlannedStep:
    name = f"tests that need a verbs device ({configuration.name})"
    return PlannedStep(name, partial(device_tests.run, configuration), rerun(name), level,
                       (QUERY + device_tests.TESTS, QUERY + device_tests.JOBS), configuration, cores=SINGLE,
                       resource=GUESTS)


def _second_library_steps(level: Level) -> list[PlannedStep]:
    """With the other MPI library: what depends on it more than by its headers."""
    mpich = bazel.Configuration("mpich")
    steps = [_everything_step(mpich, Level.FULL), _unit_step(mpich, JOB_TESTS), _unit_step(mpich, ALL_TESTS, level=Level.FULL)]
    for name in on_one_node():
        for processes in PROCESS_COUNTS:
            usual = processes == TELLING_PROCESS_COUNTS[0]
            steps.append(_conformance_step(name, mpich, processes, True, level=Level.USUAL if usual else Level.FULL,
                                           filter_text="" if level == Level.FULL else WITHOUT_RACES, child_jobs=usual))
        steps += [program_steps.examples_step(name, mpich), _faults_step(name, mpich, Level.FULL)]
        steps.append(_report_step(name))
    for name in between_nodes():
        steps += [*_spanning_steps(name, mpich, level), program_steps.examples_step(name, mpich)]
    return [*steps, *_thread_level_steps(mpich, level), *_settings_steps(level),
            program_steps.install_test_step(mpich, level), program_steps.debian_step(), *program_steps.clients_steps(mpich, level),
            *(step for step in program_steps.applications_steps(mpich) if step.level == Level.FULL)]


def _settings_steps(level: Level) -> list[PlannedStep]:
    """The suite under settings that are not the default: with each change under one of the combinations that need no device,
    and under those that do, since no other step has these implementations on one; each where there is time."""
    rows = [(name, tested) for name in (*on_one_node(), *between_nodes()) for tested in tested_settings.read(name)]
    on_device = [row for row in rows if row[1].device]
    others = [row for row in rows if not row[1].device]
    chosen = [*one_or_all(level, others, "settings"), *on_device]
    return [_tested_step(name, tested, level) for name, tested in chosen]


def _tested_step(name: str, tested: tested_settings.TestedSettings, level: Level,
                 from_level: Level = Level.USUAL) -> PlannedStep:
    """Where all combinations run, or many processes share the cores, each runs a part of the tests."""
    without = WITHOUT_GIGABYTES if tested.placement.nodes else WITHOUT_RACES
    filter_text = GUEST_FILTER if tested.device and level < Level.FULL else without
    return _conformance_step(name, bazel.Configuration(tested.mpi), tested.processes, True, tested.environment, from_level,
                             tested.placement, filter_text=filter_text,
                             one_in=4 if level == Level.FULL or tested.processes > 2 else 1)


def _spanning_steps(name: str, configuration: bazel.Configuration, level: Level) -> list[PlannedStep]:
    """On one node, between simulated nodes, and between nodes that are namespaces with TCP."""
    def step(processes: int, placement: Placement, *, races: bool, usual: bool) -> PlannedStep:
        without = WITHOUT_GIGABYTES if placement.nodes and level < Level.FULL else WITHOUT_RACES
        return _conformance_step(name, configuration, processes, True, placement=placement,
                                 filter_text="" if races else without, level=Level.USUAL if usual else Level.FULL,
                                 child_jobs=processes > 1)

    # Races take most of the time: between simulated nodes they are run with Open MPI, and over TCP, where that is slow to
    # answer, with the other library if at all. The commit selects the implementation between nodes for the other library.
    first = configuration.mpi == launch.DEFAULT_MPI
    is_selected = name in shards.one_of_commit(between_nodes(), "between nodes, " + configuration.name)
    return [step(1, ONE_NODE, races=True, usual=first),
            step(2, ONE_NODE, races=first, usual=False),
            step(2, EVERY_PROCESS_A_NODE, races=first, usual=first),
            step(2, TWO_NODES, races=level == Level.FULL and not first, usual=first or is_selected),
            # Neighbours on a node and processes of another one in one job.
            step(4, SIMULATED_NODES, races=False, usual=not first and is_selected)]


def _sanitizer_steps(level: Level) -> list[PlannedStep]:
    """The usual level has both sanitizers in one program and one implementation between nodes; the full level has all of it."""
    steps = []
    spanning = one_or_all(level, between_nodes(), "sanitizers")
    for mode in sanitizers.OF_MISUSE:
        usual = mode == sanitizers.BOTH
        from_level = Level.USUAL if usual else Level.FULL
        # No step for everything: the build step builds only what these steps run.
        sanitized = bazel.Configuration(mode=mode)
        steps.append(_unit_step(sanitized, _library_tests(spanning) if usual else ALL_TESTS, from_level))
        steps.append(_device_tests_step(sanitized, Level.FULL))
        steps += [_conformance_step(name, sanitized, 3, True, level=from_level,
                                    filter_text="" if level == Level.FULL else WITHOUT_RACES) for name in on_one_node()]
        steps += [_conformance_step(name, sanitized, 2, True, level=from_level, placement=EVERY_PROCESS_A_NODE,
                                    filter_text=WITHOUT_RACES) for name in spanning]
    steps.append(_unit_step(bazel.Configuration(mode="tsan"), THREAD_TESTS, Level.FULL))
    return steps


def _library_tests(spanning: Sequence[str]) -> str:
    """Of the libraries, a query: of those between nodes only these. What a library exports is looked at, and not run."""
    others = [name for name in between_nodes() if name not in spanning]
    return " except ".join([LIBRARY_TESTS, EXPORT_TESTS, *(f"//impl/{name}/..." for name in others)])


def _pytest_step(name: str, folder: str, level: Level = Level.USUAL, files: tuple[str, ...] = (), workers: int = 0,
                 cores: float = ALL_CORES, resource: str = "") -> PlannedStep:
    return PlannedStep(name, partial(work.run_pytest, folder, workers=workers), f"{work.PYTHON} -B -m pytest {folder}", level, files=files,
                       cores=cores, resource=resource)


def _everything_step(configuration: bazel.Configuration, level: Level) -> PlannedStep:
    return build_step(f"everything ({configuration.name})", [bazel.EVERYTHING], configuration, level)


def build_step(name: str, targets: Sequence[str], configuration: bazel.Configuration = bazel.Configuration(),
               level: Level = Level.USUAL) -> PlannedStep:
    """Targets that have to build, and that no other step needs."""
    def built(_note: Note) -> Sequence[Case]:
        return [Case(f"{name} is built", PASSED)]
    return PlannedStep(name, built, work.build_command(targets, configuration), level, tuple(targets), configuration)


def _unit_step(configuration: bazel.Configuration, tests: str, level: Level = Level.USUAL) -> PlannedStep:
    kinds = {ALL_TESTS: "unit tests", JOBLESS_TESTS: "unit tests", JOB_TESTS: "job tests", EXPORT_TESTS: "exported names",
             THREAD_TESTS: "tests of what has threads"}
    kind = kinds.get(tests, "tests of the libraries")
    rerun = f"bazel test {shlex.join(configuration.test_flags())} $(bazel query '{tests}')"
    return PlannedStep(f"{kind} ({configuration.name})", partial(work.run_unit_tests, configuration, tests), rerun, level,
                       (QUERY + tests,), configuration)


def _conformance_step(name: str, configuration: bazel.Configuration, processes: int, short: bool,
                      environment: Mapping[str, str] = {}, level: Level = Level.USUAL,
                      placement: Placement = ONE_NODE, thread_level: str = "",
                      filter_text: str = "", port_level: int = 0, child_jobs: bool = True, one_in: int = 1) -> PlannedStep:
    """`child_jobs`: whether tests that start child jobs run; False where another number of processes runs them."""
    selection = conformance.Selection(filter_text, quick=short, thread_level=thread_level, level=port_level,
                                      child_jobs=child_jobs, one_in=one_in)
    cores, resource = demand([name], processes, placement)
    settings = tuple(f"{key}={value}" for key, value in environment.items() if key.startswith(SETTING_PREFIXES))
    planned = conformance.SuiteRun(name, configuration, processes, (), 0.0, "", selection, placement,
                                   settings=settings)
    label = f", {planned.label}" if planned.label else ""
    return PlannedStep(f"conformance {name}, np={processes}{label} ({configuration.name})",
                       partial(work.run_conformance, name, configuration, processes, selection, environment,
                               placement),
                       planned.rerun(), level, (conformance.suite_label(name),), configuration,
                       cores=cores, resource=resource)


def _mutants_step(configuration: bazel.Configuration, shard: shards.Shard, port: str = "") -> PlannedStep:
    part, parts = shard
    words = " ".join(["mutants", *([f"of {port}"] if port else [])]) + (f", shard {part} of {parts}" if parts > 1 else "")
    command = " ".join(["tools/armci mutants --quick", *([f"--impl {port}"] if port else []), f"--share {part}/{parts}"])
    return PlannedStep(f"{words} ({configuration.name})", partial(work.run_mutants, port, configuration, shard), command, Level.USUAL,
                       (mutants.label(port),), configuration, cores=ALL_CORES if port else SINGLE)


def _foreign_step(configuration: bazel.Configuration) -> PlannedStep:
    rerun = (f"tools/armci conformance {work.FOREIGN_LIBRARY.words()} -n {work.FOREIGN_PROCESSES} --quick "
             f"--filter '{work.FOREIGN_FILTER}' --mpi {configuration.mpi}")
    name = f"conformance {work.FOREIGN_LIBRARY.name}, np={work.FOREIGN_PROCESSES} ({configuration.name})"
    return PlannedStep(name, partial(work.run_foreign, configuration), rerun, Level.FULL)


def _programs_that_fail_step(configuration: bazel.Configuration) -> PlannedStep:
    folder = "tools/tests_foreign"
    return PlannedStep("programs that show failures", partial(work.run_pytest, folder, workers=0), f"{work.PYTHON} -B -m pytest {folder}",
                       targets=("//conformance/record:suite_recorded", "//impl/shmem:libarmci.so.1"), configuration=configuration)


def _faults_step(name: str, configuration: bazel.Configuration, level: Level = Level.USUAL,
                 part: str = "") -> PlannedStep:
    """Of one implementation; `part`: a file of them."""
    environment = {"ARMCI_TEST_MPI": configuration.mpi, "ARMCI_TEST_IMPL": name}
    words = " ".join(f"{key}={value}" for key, value in environment.items())
    path = f"{FAULTS}/{part}".rstrip("/")
    labels = tuple(f"//conformance/faults:{kind}{bazel.target_suffix(name)}" for kind in ("faults", "stuck"))
    return PlannedStep(f"faults {name} ({configuration.name})", partial(work.run_faults, path, configuration, environment),
                       f"{words} {work.PYTHON} -B -m pytest {path}", level, labels, configuration, (path,), cores=WAITING)


def _report_step(name: str) -> PlannedStep:
    words = ["conformance", "--impl", name, "--mpi", "all", "-n", "2,3", "--quick", "--filter", "DOM", "--repeat", "2"]
    return PlannedStep(f"report {name}", partial(work.check_report, words),
                       " ".join(["tools/armci", *words, "--report", "DIR"]), Level.FULL)


def _fuzz_step() -> PlannedStep:
    return PlannedStep("fuzz the parser of requests", work.fuzz_parser, "tools/armci test --full --only 'fuzz the parser'",
                       cores=SINGLE)


def _leak_check_step() -> PlannedStep:
    watch = leak_check.SharedMemoryWatch()

    def check(_note: Note) -> Sequence[Case]:
        left = watch.abandoned()
        detail = "left behind by this run, or by another job on this machine: " + ", ".join(left)
        return [Case("nothing left in /dev/shm", FAILED if left else PASSED, detail=detail if left else "")]
    return PlannedStep("nothing left behind", check, "ls /dev/shm", Level.QUICK, alone=True)
