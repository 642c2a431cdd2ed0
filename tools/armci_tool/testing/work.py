"""Functions of the steps of `tools/armci test` that have no module of their own."""

from __future__ import annotations

import json
import os
import re
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Mapping, Sequence

from armci_tool import (bazel, checks, conformance, examples, fuzz, libraries, mutants, packages, process, programs,
                        races, repository, results, scratch_folders, shards, traceability)
from armci_tool.errors import ToolError
from armci_tool.placement import Placement, with_device
from armci_tool.rdma import kernel
from armci_tool.results import FAILED, PASSED, SKIPPED, Case
from armci_tool.testing.steps import QUERY, Note

PYTHON = "/usr/bin/python3"
# The library that the suite is shown on: a Debian package. Chapters without the calls that end its jobs, each of which
# costs a launch; tools/armci conformance runs all.
FOREIGN_LIBRARY = libraries.ForeignLibrary(Path("/usr"), "-larmci-{mpi}", "armci-mpi-0.3.1")
# The tests that say most in short time; races that are rare even on a faulty library are for runs by hand.
FOREIGN_FILTER = "^(ACC|AGG|CMPL|FENCE|LC|ORD|RMW|XFER)[.](?!.*(litmus|histories))"
FOREIGN_PROCESSES = 2


def ensure_guest(note: Note) -> Sequence[Case]:
    """The parts of the machines of `tools/armci rdma`."""
    packages.ensure_installed(note, "rdma")
    kernel.ensure(note)
    return [Case("packages of guests, and a kernel", PASSED)]


def build(configuration: bazel.Configuration, targets: Sequence[str], note: Note) -> Sequence[Case]:
    """Labels, and what queries find."""
    queries = [target.removeprefix(QUERY) for target in targets if target.startswith(QUERY)]
    labels = [target for target in targets if not target.startswith(QUERY)]
    if queries:
        labels += bazel.query(" union ".join(f"({query})" for query in queries))
    bazel.build(labels, configuration, on_progress=note)
    for key in ("bazel-bin", "bazel-testlogs"):
        bazel.folder(key, configuration)  # now: Bazel replies to no query while it builds for another step
    return [Case(f"build {configuration.name}", PASSED)]


def build_command(targets: Sequence[str], configuration: bazel.Configuration) -> str:
    """The command that repeats a build."""
    labels = [f"$(bazel query '{target.removeprefix(QUERY)}')" if target.startswith(QUERY) else target for target in targets]
    return " ".join(["bazel build", shlex.join(configuration.flags()), *labels])


def fuzz_parser(note: Note) -> Sequence[Case]:
    """Builds the target of fuzzing and runs it."""
    note("building with clang")
    return fuzz.run(fuzz.build(fuzz.RESULTS), fuzz.RESULTS, note)


def check_forms(note: Note) -> Sequence[Case]:
    """See checks."""
    cases = []
    for name, problems, mend in checks.all_checks():
        note(name)
        detail = "\n".join([*problems, f"next: {mend}"])
        cases.append(Case(name, FAILED if problems else PASSED, detail=detail if problems else ""))
    return cases


def run_pytest(folder: str, note: Note, environment: Mapping[str, str] = {}, workers: int = 0) -> Sequence[Case]:
    """The tests of a folder; by several workers where their tests wait and do not disturb each other."""
    if not (repository.ROOT / folder).exists():
        raise ToolError(f"{folder} is missing", next_step="check out the whole repository")
    with scratch_folders.make() as scratch:
        junit = scratch / "pytest.xml"
        # Sockets of tests need short paths.
        options = ["-v", "-p", "no:cacheprovider", f"--junit-xml={junit}", f"--basetemp={scratch}/t"]
        if workers:
            options += ["-n", str(workers), "--dist", "load"]
        result = process.run([PYTHON, "-B", "-m", "pytest", *options, folder], cwd=repository.ROOT, on_line=note,
                             environment={"PYTHONDONTWRITEBYTECODE": "1", **environment})
        if not junit.exists():
            raise ToolError(f"pytest did not run {folder}", where=result.tail(20),
                            next_step="mend the first error above")
        cases = [replace(case, rerun=_pytest_rerun(case.name, environment)) for case in results.read_junit(junit)]
    if not result.ok and all(case.outcome != FAILED for case in cases):
        cases.append(Case(folder, FAILED, detail=result.tail(30)))
    return cases


def _pytest_rerun(name: str, environment: Mapping[str, str]) -> str:
    """pytest's reports name a test `folder.file.function[parameters]`."""
    found = re.fullmatch(r"((?:\w+\.)*test_\w+)\.(test_.*)", name)
    if found is None:
        return ""
    return " ".join([*_assignments(environment), PYTHON, "-B -m pytest", shlex.quote(f"{found[1].replace('.', '/')}.py::{found[2]}")])


def _assignments(environment: Mapping[str, str]) -> list[str]:
    return [f"{key}={shlex.quote(value)}" for key, value in environment.items()]


def run_faults(path: str, configuration: bazel.Configuration, environment: Mapping[str, str], note: Note) -> Sequence[Case]:
    """The tests of failures, on programs that are built already."""
    programs_built = bazel.folder("bazel-bin", configuration) / "conformance" / "faults"
    return run_pytest(path, note, {**environment, "ARMCI_FAULT_BIN_DIR": str(programs_built)})


def run_unit_tests(configuration: bazel.Configuration, tests: str, note: Note) -> Sequence[Case]:
    """Those that match a query of Bazel."""
    labels = bazel.query(tests)
    if not labels:
        raise ToolError("there are no unit tests", where=f"bazel query '{tests}' is empty",
                        next_step="check out the whole repository")
    result = bazel.test(labels, configuration, on_progress=note)
    logs = bazel.folder("bazel-testlogs", configuration)
    cases: list[Case] = []
    for label in labels:
        rerun = f"bazel test {shlex.join(configuration.test_flags())} {label}"
        cases += [replace(case, rerun=rerun) for case in bazel_cases(label, logs)]
    if not result.ok and all(case.outcome != FAILED for case in cases):
        cases.append(Case("bazel test", FAILED, detail=result.tail(40)))
    return cases


def bazel_cases(label: str, logs: Path) -> list[Case]:
    """The cases inside one Bazel test, named after it."""
    folder = logs / label.removeprefix("//").replace(":", "/")
    cases = results.read_junit(folder / "test.xml")
    return [Case(f"{label} {case.name}", case.outcome, case.seconds, _with_log(case, folder / "test.log"))
            for case in cases]


def _with_log(case: Case, log: Path) -> str:
    """A program that died left no account of its own: the end of its output is all there is, and the line of it that
    says most comes first."""
    if case.outcome != FAILED or not case.detail.startswith("exited with error code") or not log.exists():
        return case.detail
    lines = log.read_text(errors="replace").splitlines()[-60:]
    telling = [line for line in lines if line.startswith(("FAILED", "armci: "))]
    return "\n".join([": ".join([case.detail, *telling[:1]]), *lines])


def check_traceability(note: Note) -> Sequence[Case]:
    """See traceability."""
    names = repository.implementations()
    binary = bazel.built(conformance.suite_label(names[0]), bazel.Configuration(), on_progress=note)
    tests = conformance.list_tests(binary)
    found = traceability.problems(traceability.read_clauses(), tests)
    return [Case(name, FAILED if wrong else PASSED, detail="\n".join(wrong)) for name, wrong in found.items()]


def run_conformance(name: str, configuration: bazel.Configuration, processes: int, selection: conformance.Selection,
                 environment: Mapping[str, str], placement: Placement, note: Note) -> Sequence[Case]:
    """The suite, once."""
    where = with_device(placement, repository.device_of(name))
    if where.nodes and not where.guest and os.geteuid() != 0:
        return [Case(f"conformance {name} on {placement.label}", SKIPPED, detail="network namespaces need root")]
    binary = bazel.built(conformance.suite_label(name), configuration, on_progress=note)
    run = conformance.run(libraries.OwnLibrary(name), binary, configuration, processes, selection, environment=environment,
                          placement=placement, on_test=note)
    run = replace(run, settings=(*_assignments(environment), *run.settings))
    return [replace(case, rerun=run.rerun_of(case.name)) if case.outcome == FAILED else case for case in run.cases]


def run_mutants(port: str, configuration: bazel.Configuration, shard: shards.Shard, note: Note) -> Sequence[Case]:
    """See mutants."""
    binary = bazel.built(mutants.label(port), configuration, on_progress=note)
    if os.geteuid() != 0 and any(mutant.nodes for mutant in mutants.read_table(binary)):
        return [Case(f"mutants of {port}", SKIPPED, detail="network namespaces need root")]
    return mutants.cases(*mutants.examine(binary, configuration, note, shard=shard, port=port))


def run_races(name: str, configuration: bazel.Configuration, placement: Placement, note: Note) -> Sequence[Case]:
    """See races."""
    bazel.built(races.label(name), configuration, on_progress=note)
    return races.cases(races.examine(name, configuration, placement, note))


def run_foreign(configuration: bazel.Configuration, note: Note) -> Sequence[Case]:
    """The suite on a library that is not ours."""
    used = FOREIGN_LIBRARY.configuration(configuration)
    binary = bazel.built(FOREIGN_LIBRARY.suite, used, on_progress=note)
    selection = conformance.Selection(FOREIGN_FILTER, deadline_s=FOREIGN_LIBRARY.deadline_s(FOREIGN_PROCESSES), quick=True)
    return conformance.run(FOREIGN_LIBRARY, binary, used, FOREIGN_PROCESSES, selection, on_test=note).cases


def check_report(words: Sequence[str], note: Note) -> Sequence[Case]:
    """The command as a user gives it, and whether all files of the report are there and cover every run."""
    with scratch_folders.make() as scratch:
        folder = scratch / "report"
        result = process.run([str(repository.ROOT / "tools" / "armci"), *words, "--report", str(folder)], on_line=note)
        files = ("matrix.txt", "matrix.json", "junit.xml", "index.html", "flakes.json")
        problems = [f"{name} is missing" for name in files if not (folder / name).is_file()]
        columns = [] if problems else json.loads((folder / "matrix.json").read_text())["columns"]
    if len({column["title"] for column in columns}) != 4 or any(column["repeats"] != 2 for column in columns):
        problems.append(f"not 2 runs of each of 4 columns: {columns}")
    if not result.ok:
        problems += [f"status {result.status}", result.tail(40)]
    return [Case("report of several runs", FAILED if problems else PASSED, result.seconds, "\n".join(problems))]


def run_examples(name: str, configuration: bazel.Configuration, note: Note) -> Sequence[Case]:
    """Each example finds its own result right."""
    labels = {programs.implementation_label(example.label, name) for example in examples.EXAMPLES}
    bazel.build(sorted(labels), configuration, on_progress=note)
    cases = []
    for example in examples.EXAMPLES:
        note(example.title)
        result = examples.run(example, name, configuration)
        cases.append(Case(f"example {example.title}", PASSED if result.ok else FAILED, result.seconds,
                          "" if result.ok else f"status {result.status}\n{result.tail(30)}"))
    return cases
