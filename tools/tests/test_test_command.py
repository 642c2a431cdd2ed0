"""`tools/armci test`: two steps at once, logs, times, what changed files can affect, and the fresh machine."""

from __future__ import annotations

import ast
import errno
import json
import os
import shlex
import subprocess
import threading
from pathlib import Path
from typing import Sequence

import pytest
from armci_tool import bazel, packages, process, repository
from armci_tool.cli import TOOL
from armci_tool.errors import ToolError
from armci_tool.results import FAILED, PASSED, Case, Step
from armci_tool.testing import changes, fresh_machine, plan, run, times, work
from armci_tool.testing.steps import ALL_CORES, Level, Note, PlannedStep
from helpers import armci, script


@pytest.fixture(autouse=True)
def report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of logs and results."""
    monkeypatch.setattr(run, "REPORT", tmp_path / "report")
    return tmp_path / "report"


def passed(_note: Note) -> Sequence[Case]:
    return [Case("S.a", PASSED)]


def step(name: str, cores: float = ALL_CORES, function: object = passed) -> PlannedStep:
    assert callable(function)
    return PlannedStep(name, function, f"rerun {name}", cores=cores)


def meeting(barrier: threading.Barrier, name: str, cores: float) -> PlannedStep:
    def meet(_note: Note) -> Sequence[Case]:
        barrier.wait(timeout=10)
        return [Case("S.met", PASSED)]
    return step(name, cores, meet)


@pytest.fixture(autouse=True)
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cores that the steps have to share."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})


@pytest.mark.parametrize("cores", [(0.5, ALL_CORES), (ALL_CORES, 1.0), (1.2, 1.2), (0.5, 1.2, 1.2)])
def test_steps_run_at_once_on_the_cores_there_are(cores: tuple[float, ...]) -> None:
    barrier = threading.Barrier(len(cores))
    steps = run.run_steps([meeting(barrier, f"step {number}", share) for number, share in enumerate(cores)])
    assert all(each.ok for each in steps)


@pytest.mark.parametrize("cores", [ALL_CORES, 100, 1.6])
def test_steps_that_want_more_cores_do_not_run_at_once(cores: float) -> None:
    alone: list[bool] = []
    lock = threading.Lock()

    def compute(_note: Note) -> Sequence[Case]:
        alone.append(lock.acquire(blocking=False))
        threading.Event().wait(0.1)
        lock.release()
        return [Case("S.a", PASSED)]

    run.run_steps([step(f"step {number}", cores, compute) for number in range(3)])
    assert alone == [True, True, True]


def test_a_step_that_fits_is_taken_early_but_not_before_its_build() -> None:
    opt = bazel.Configuration()
    build = PlannedStep("build", passed, "", configuration=opt, builds=True)
    computes = PlannedStep("computes", passed, "", configuration=opt)
    waits = PlannedStep("waits", passed, "", configuration=opt, cores=0.5)
    other = step("other", 0.5)
    last = PlannedStep("last", passed, "", alone=True)
    assert run.next_step([build, computes, waits, other, last], []) == build
    assert run.next_step([computes, waits, other, last], [build]) == other
    assert run.next_step([computes, waits, last], [build]) is None
    assert run.next_step([waits, last], [computes]) == waits
    assert run.next_step([last], [waits]) is None
    assert run.next_step([last, other], [waits]) is None
    assert run.next_step([last], []) == last
    assert run.next_step([last, computes], []) == last
    assert run.next_step([computes], [last]) is None


def test_steps_that_use_one_resource_run_one_after_the_other() -> None:
    one, other = (PlannedStep(name, passed, "", cores=0.1, resource="guests") for name in ("one", "other"))
    assert run.next_step([other], [one]) is None
    assert run.next_step([other, step("third", 0.1)], [one]) == step("third", 0.1)


def test_results_have_the_order_of_the_plan() -> None:
    slow = threading.Event()

    def wait_for_second(_note: Note) -> Sequence[Case]:
        assert slow.wait(10)
        return [Case("S.a", PASSED)]

    def release(_note: Note) -> Sequence[Case]:
        slow.set()
        return [Case("S.b", PASSED)]

    steps = run.run_steps([step("first", 0.5, wait_for_second), step("second", ALL_CORES, release)])
    assert [each.name for each in steps] == ["first", "second"]


def test_a_failure_says_at_once_how_to_repeat_it_and_where_its_log_is(capsys: pytest.CaptureFixture[str]) -> None:
    def fails(note: Note) -> Sequence[Case]:
        note("half way")
        return [Case("S.a", FAILED, detail="test_x.py:3:\nE  assert 1 == 2")]

    run.run_steps([step("a step, with (words)", ALL_CORES, fails)])
    out = capsys.readouterr().out
    log = run.REPORT / "logs" / "a-step-with-words.log"
    assert "S.a: E  assert 1 == 2" in out
    assert "rerun: rerun a step, with (words)" in out
    assert f"log:   {log}" in out
    assert "half way" in log.read_text() and "assert 1 == 2" in log.read_text()


def test_logs_of_the_steps_of_a_level_have_names_of_their_own() -> None:
    for level in Level:
        steps = plan.with_builds(plan.plan_steps(level))
        assert len({each.slug for each in steps}) == len(steps)
        assert all(len(f"{each.slug}.log") < 200 for each in steps)


def test_an_unexpected_exception_fails_its_step_only(capsys: pytest.CaptureFixture[str]) -> None:
    def breaks(_note: Note) -> Sequence[Case]:
        raise OSError(28, "No space left on device")

    steps = run.run_steps([step("breaks", ALL_CORES, breaks), step("a" * 300)])
    assert [each.count(FAILED) for each in steps] == [1, 0]
    assert "OSError: [Errno 28] No space left on device" in capsys.readouterr().out


@pytest.mark.parametrize("code", [errno.EROFS, errno.EACCES])
def test_logs_that_cannot_be_removed_are_reported_with_the_cause(code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    (run.REPORT / "logs").mkdir(parents=True)

    def refuse(path: object, **_: object) -> None:
        raise OSError(code, os.strerror(code), path)
    monkeypatch.setattr(os, "rmdir", refuse)
    with pytest.raises(ToolError, match=f"cannot write its logs: {os.strerror(code)}") as caught:
        run.run_steps([step("any")])
    assert caught.value.where == str(run.REPORT / "logs") and str(run.REPORT) in caught.value.next_step


def test_times_are_kept_and_shown_slowest_first(tmp_path: Path) -> None:
    file = tmp_path / "times.json"
    times.record([Step("fast", [Case("a", PASSED)], 1.0), Step("slow", [Case("a", PASSED)], 200.0),
                  Step("broken", [Case("a", FAILED)], 3.0)], file)
    times.record([Step("fast", [Case("a", PASSED)], 2.0)], file)
    lines = times.table(["fast", "slow", "broken"], path=file).splitlines()
    assert [line.split()[0] for line in lines[2:]] == ["slow", "fast", "broken", "sum"]
    assert "3 min 20 s" in lines[2] and "2.0 s" in lines[3] and "1.0 s" in lines[3]


def test_help_says_which_of_list_and_times_runs_the_steps() -> None:
    text = " ".join(armci("test", "--help").stdout.split())
    assert "--list run nothing: print the names of the steps; with --times also what they took in earlier runs" in text
    assert "--times run the steps, and then print what each took, slowest first, beside earlier runs" in text


@pytest.mark.parametrize("content", ["", "{", "{}", "[]"])
def test_a_history_that_cannot_be_read_counts_for_nothing(tmp_path: Path, content: str) -> None:
    file = tmp_path / "times.json"
    file.write_text(content)
    assert times.table(["a"], path=file).startswith("a\n\nno earlier run of tools/armci test here")
    times.record([Step("a", [Case("a", PASSED)], 1.0)], file)
    assert len(json.loads(file.read_text())) == 1


def test_every_build_stands_before_the_steps_that_need_it() -> None:
    steps = plan.with_builds(plan.plan_steps(Level.USUAL))
    ready: set[str] = set()
    for each in steps:
        if each.name.startswith("build ("):
            assert each.name not in ready
            ready.add(each.name)
        elif each.configuration:
            assert f"build ({each.configuration.name})" in ready


def test_errors_of_a_build_are_printed_once(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def build(targets: Sequence[str], *_: object, **__: object) -> None:
        if "//:broken" in targets:
            raise ToolError("the build failed", where="broken.cc:1:2: error: no such thing", next_step="mend it")
    monkeypatch.setattr(bazel, "build", build)
    monkeypatch.setattr(bazel, "folder", lambda *_: None)

    def tests(name: str, target: str) -> PlannedStep:
        def run_tests(_note: Note) -> Sequence[Case]:
            bazel.build([target], bazel.Configuration())
            return [Case(name, PASSED)]
        return PlannedStep(name, run_tests, f"rerun {name}", targets=(target,), configuration=bazel.Configuration())
    steps = run.run_steps([*plan.with_builds([tests("one", "//:broken"), tests("other", "//:broken"), tests("third", "//:good")]),
                           step("without a build")])
    assert [each.ok for each in steps] == [False, False, False, True, True]
    early = capsys.readouterr().out
    assert early.count("no such thing") == 1
    assert [line.split()[1] for line in early.splitlines() if run.NOT_BUILT in line] == ["one", "other"]
    run.print_report(steps)
    late = capsys.readouterr().out
    assert late.count("no such thing") == 1
    assert f"\nFAILED one: {run.NOT_BUILT}\n\nFAILED other: {run.NOT_BUILT}\n\n" in late
    assert late.splitlines()[-1] == "2 passed, 3 failed, 0 skipped"
    assert "no such thing" in (run.REPORT / "logs" / "one.log").read_text()


def test_the_build_of_every_day_is_not_of_everything() -> None:
    targets = {target for each in plan.plan_steps(Level.QUICK) for target in each.targets}
    assert bazel.EVERYTHING not in targets
    assert bazel.EVERYTHING in {target for each in plan.plan_steps(Level.USUAL) for target in each.targets}


def test_what_was_built_is_not_built_again(monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[Sequence[str]] = []

    def fake(_verb: str, targets: Sequence[str], *_: object) -> object:
        lines.append(targets)
        return type("Result", (), {"ok": True})()

    monkeypatch.setattr(bazel, "_run", fake)
    monkeypatch.setattr(bazel, "_built", {})
    bazel.build(["//a", "//b"], bazel.Configuration())
    bazel.build(["//b"], bazel.Configuration())
    bazel.build(["//b"], bazel.Configuration("mpich"))
    assert lines == [["//a", "//b"], ["//b"]]


def test_a_changed_build_file_is_a_change_of_its_folder() -> None:
    assert changes.affected(["impl/ucx/BUILD", "impl/ucx/transport.cc"]) == (
        'rdeps(//..., set("//impl/ucx:all" "//impl/ucx:transport.cc"))')


@pytest.mark.parametrize("name", ["WORKSPACE", "impl/variants.bzl", ".bazelrc"])
def test_a_change_of_all_builds_affects_everything(name: str) -> None:
    assert changes.affected([name]) == bazel.EVERYTHING


@pytest.mark.parametrize("name, pattern", [
    ("impl/ucx/no_such_file.cc", '"//impl/ucx:all"'), ("docs/no such page.md", '"//:all"'), ("README.md", '"//:README.md"'),
    ("tools/no_such_folder/no_such_file", '"//tools:all"'),
])
def test_a_file_that_has_gone_is_a_change_of_its_package(name: str, pattern: str) -> None:
    assert changes.affected([name]) == f"rdeps(//..., set({pattern}))"


def test_a_package_that_has_gone_affects_everything() -> None:
    assert changes.affected(["no_such_package/BUILD"]) == bazel.EVERYTHING


def planned_for(files: list[str], labels: list[str], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setattr(changes, "files", lambda since: files)
    monkeypatch.setattr(bazel, "check_packages", lambda: None)
    monkeypatch.setattr(bazel, "query", lambda expression: labels if expression.startswith("rdeps") else [])
    return [each.name for each in changes.plan_steps(None)]


def test_a_changed_port_runs_its_suite_between_nodes_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    names = planned_for(["impl/ucx/client.cc"], ["//conformance:suite_ucx", "//examples:hello_ucx"], monkeypatch)
    assert [name for name in names if name.startswith("conformance")] == [
        "conformance ucx, np=2, nodes of 1, simulated (opt, openmpi)"]
    assert "tests of the tool" not in names
    assert "form of the sources" in names


def test_a_changed_file_of_the_tool_runs_its_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    names = planned_for(["tools/armci_tool/bazel.py"], [], monkeypatch)
    assert "tests of the tool" in names
    assert not [name for name in names if name.startswith("conformance")]


def test_a_failure_that_can_be_repeated_alone_says_how(capsys: pytest.CaptureFixture[str]) -> None:
    def failing(_note: Note) -> Sequence[Case]:
        return [Case("S.a", FAILED, detail="why", rerun="repeat S.a"), Case("S.b", FAILED, detail="why")]
    steps = run.run_steps([step("a step", function=failing)])
    early = capsys.readouterr().out
    assert "rerun: repeat S.a\n" in early and "the whole step: rerun a step\n" in early
    run.print_report(steps)
    late = capsys.readouterr().out
    assert late.count("rerun: repeat S.a\n") == 1 and late.count("rerun: rerun a step\n") == 1


def test_a_failed_test_of_the_tool_is_repeated_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "some" / "tests"
    folder.mkdir(parents=True)
    (folder / "test_one.py").write_text("import pytest\n@pytest.mark.parametrize('text', ['a.b c'])\n"
                                        "def test_it(text):\n    assert False\ndef test_other():\n    pass\n")
    monkeypatch.setattr(repository, "ROOT", tmp_path)
    [failed] = [case for case in work.run_pytest("some/tests", lambda _: None) if case.outcome == FAILED]
    again = subprocess.run(shlex.split(failed.rerun), cwd=tmp_path, capture_output=True, text=True, check=False)
    assert again.returncode == 1 and "1 failed" in again.stdout and "passed" not in again.stdout


def test_what_no_step_needs_is_built_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    names = planned_for(["bench/micro/accumulate.cc"], ["//bench/micro:accumulate_ucx"], monkeypatch)
    assert names[0] == "what else the changed files affect"
    assert names[0] not in planned_for(["conformance/init_test.cc"], ["//conformance:suite_shmem"], monkeypatch)


def test_changed_tests_of_faults_and_changed_clauses_have_their_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "faults shmem (opt, openmpi)" in planned_for(["conformance/faults/test_death.py"], [], monkeypatch)
    assert "clauses and tests" in planned_for(["spec/semantics.md"], [], monkeypatch)


@pytest.mark.parametrize("commit", ["no-such-commit", "--list", "--output=/tmp/no-such-file"])
def test_an_unknown_commit_is_reported(commit: str) -> None:
    with pytest.raises(ToolError, match="git rev-parse failed"):
        changes.files(commit)


def test_a_wrong_build_file_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    said = f"Loading:\nERROR: {repository.ROOT}/impl/ucx/BUILD:9:6: syntax error\nERROR: and more"
    monkeypatch.setattr(process, "run", lambda *_words, **_more: process.Result(("bazel",), 7, said, 0.1))
    with pytest.raises(ToolError) as caught:
        bazel.check_packages()
    assert caught.value.where == "impl/ucx/BUILD:9:6: syntax error"


@pytest.mark.parametrize("text, chosen", [
    ("form", ["form of the sources"]), ("conf", ["conformance mpi-rma, np=2 (opt, mpich)"]), ("form of", ["form of the sources"]),
    ("rma, np=2", ["conformance mpi-rma, np=2 (opt, mpich)"]), ("(opt", ["conformance mpi-rma, np=2 (opt, mpich)"]),
    ("ance", []), ("o", ["form of the sources", "conformance mpi-rma, np=2 (opt, mpich)"]),
])
def test_only_takes_words_by_their_beginning(text: str, chosen: list[str]) -> None:
    steps = [step("form of the sources"), step("conformance mpi-rma, np=2 (opt, mpich)")]
    assert [each.name for each in steps if each.has_words(text)] == chosen


def test_every_step_is_chosen_by_its_whole_name() -> None:
    assert all(each.has_words(each.name) for each in plan.plan_steps(Level.FULL))


@pytest.mark.parametrize("words, said", [
    (("--quick", "--full"), "not allowed with --quick"), (("--changed", "--fresh"), "not allowed with --fresh"), (("--since", "HEAD"), "add --changed"), (("--only", "no such step"), "no step's name has a word that begins with no such step"),
])
def test_options_that_contradict_each_other_are_refused(words: tuple[str, ...], said: str) -> None:
    done = armci("test", *words)
    assert done.returncode == 2
    assert said in done.stderr


def test_packages_are_there_before_the_plan_needs_them(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []

    def planned(_level: Level) -> list[PlannedStep]:
        done.append("plan")
        raise ToolError("stop here", next_step="")

    monkeypatch.setattr(packages, "ensure_installed", lambda _say: done.append("packages"))
    monkeypatch.setattr(plan, "plan_steps", planned)
    with pytest.raises(ToolError, match="stop here"):
        TOOL.main(["test", "--quick"], standalone_mode=False)
    assert done == ["packages", "plan"]


def test_the_readme_names_the_two_commands() -> None:
    assert fresh_machine.readme_commands((repository.ROOT / "README.md").read_text()) == [
        ["tools/armci", "quickstart"], ["tools/armci", "test"]]


def test_a_fresh_machine_is_due_in_no_fresh_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(fresh_machine.INSIDE_VARIABLE, "1")
    assert not fresh_machine.is_due()


def test_a_fresh_machine_that_is_broken_off_leaves_no_keyring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bin_folder, temporary, scratch = (tmp_path / name for name in ("bin", "tmp", "scratch"))
    for folder in (bin_folder, temporary, scratch):
        folder.mkdir()
    # As mmdebstrap does, which removes the keyring at its end: here it is broken off before.
    script(bin_folder, "mmdebstrap", 'mktemp -d -t mmdebstrap.gpghome.XXXXXX; exit 1\n')
    script(bin_folder, "unshare", 'shift; exec "$@"\n')
    monkeypatch.setenv("PATH", f"{bin_folder}:{os.environ['PATH']}")
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr(fresh_machine, "why_not", lambda: "")
    monkeypatch.setattr(fresh_machine, "_SCRATCH", scratch)
    with pytest.raises(ToolError, match="mmdebstrap could not make") as caught:
        with fresh_machine.made(lambda _: None):
            pass
    assert str(scratch) in caught.value.where and "gpghome" in caught.value.where
    assert not list(temporary.iterdir()) and not list(scratch.iterdir())


@pytest.mark.parametrize("name, matters", [
    ("tools/packages.txt", True), ("impl/ucx/BUILD", True), ("BUILD", True), ("impl/variants.bzl", True), ("README.md", True),
    (".ci/run", True), ("impl/ucx/client.cc", False), ("docs/ucx.md", False), ("conformance/README.md", False),
])
def test_what_a_newcomer_meets_makes_it_due(name: str, matters: bool) -> None:
    assert bool(fresh_machine._DEPENDENCIES.match(name)) == matters


def test_apt_gets_this_release_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sources.list.d").mkdir()
    (tmp_path / "sources.list").write_text("deb http://mirror/debian bookworm main\n")
    (tmp_path / "sources.list.d" / "other.list").write_text("deb http://elsewhere/tools stable main\n")
    assert fresh_machine._apt_sources("bookworm", tmp_path) == [str(tmp_path / "sources.list")]
    assert fresh_machine._apt_sources("trixie", tmp_path) == []


# Calls that ask about the machine: setup, or the user, may change the answer while the tool runs.
_LOOKS = {"glob", "rglob", "exists", "is_dir", "is_file", "iterdir", "stat", "which", "read_text", "read_bytes", "open", "run",
          "check_output", "getenv", "geteuid", "cpu_count", "sched_getaffinity", "isatty", "listdir", "freedesktop_os_release", "environ"}


def _calls_at_import(tree: ast.Module) -> list[str]:
    """Names of what is called when a module is imported: not in the bodies of functions, but in those of classes, in default
    values and in decorators."""
    found: list[str] = []

    def visit(node: ast.AST) -> None:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            outside = [*node.args.defaults, *(each for each in node.args.kw_defaults if each)]
            outside += getattr(node, "decorator_list", [])
            for each in outside:
                visit(each)
            return
        if isinstance(node, ast.Call):
            found.append(node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", ""))
        if isinstance(node, ast.Attribute) and node.attr == "environ":
            found.append("environ")
        for child in ast.iter_child_nodes(node):
            visit(child)

    visit(tree)
    return found


def test_nothing_about_the_machine_is_decided_at_import() -> None:
    looks = {path.name: _LOOKS.intersection(_calls_at_import(ast.parse(path.read_text())))
             for path in (repository.ROOT / "tools" / "armci_tool").rglob("*.py")}
    assert {path: names for path, names in looks.items() if names} == {}


def test_a_look_at_import_would_be_seen() -> None:
    assert "glob" in _calls_at_import(ast.parse("FOLDERS = (*Path('/usr/lib').glob('*'),)"))
    assert "environ" in _calls_at_import(ast.parse("def f(x=os.environ['HOME']): pass"))
    assert _calls_at_import(ast.parse("def f():\n    return Path('/').exists()")) == []


def test_the_shell_names_what_root_has_to_install(tmp_path: Path) -> None:
    """tools/armci in a root without the tool's packages, as an ordinary user without sudo: commands of the system only."""
    (tmp_path / "bin").mkdir()
    for name, body in (("id", "echo 1000"), ("readlink", 'exec /usr/bin/readlink "$@"'), ("dirname", 'exec /usr/bin/dirname "$@"'),
                       ("apt-get", "exit 9")):
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{body}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    (tmp_path / "tools").mkdir()
    text = (repository.ROOT / "tools" / "armci").read_text().replace("python=/usr/bin/python3", "python=/no/python3")
    (tmp_path / "tools" / "armci").write_text(text)
    (tmp_path / "tools" / "packages.txt").write_text("tool | python3-none | /no/such/*/file | nothing\n"
                                                     "build | g++ | g++ | not the tool's\n")
    done = subprocess.run(["/bin/sh", str(tmp_path / "tools" / "armci"), "quickstart"], env={"PATH": str(tmp_path / "bin")},
                          text=True, capture_output=True, check=False)
    assert done.returncode == 2
    assert "the tool needs these packages: python3-none;" in done.stderr
    assert "as root, run: tools/armci setup --for quickstart" in done.stderr
    assert "apt-get install -q -y --no-install-recommends python3-none" in done.stderr
