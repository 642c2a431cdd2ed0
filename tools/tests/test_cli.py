"""The command line as a user meets it, and the list of packages."""

from __future__ import annotations

import errno
from pathlib import Path

import click
import pytest
from armci_tool import bazel, cli, console, packages, process
from armci_tool.commands import SUMMARIES, conformance, options
from armci_tool.errors import ToolError
from helpers import armci, parsed


@pytest.mark.parametrize("command", SUMMARIES)
def test_every_command_explains_itself_with_an_example(command: str) -> None:
    done = armci(command, "--help")
    assert done.returncode == 0
    assert "example:\n    " in done.stdout
    assert SUMMARIES[command][1:] + "." in " ".join(done.stdout.split())
    assert f"tools/armci {command}" in done.stdout


def test_link_words_may_begin_with_a_dash() -> None:
    options = parsed("conformance", "--prefix", "/usr", "--libs", "-La -lb", "-n", "2")
    assert options.libs == "-La -lb"
    assert options.processes == [2]


def test_the_table_has_every_module() -> None:
    modules = {path.stem for path in Path(options.__file__).parent.glob("*.py")} - {"__init__", "options"}
    assert modules == {name.replace("-", "_") for name in SUMMARIES}


@pytest.mark.parametrize("words, said", [(["nothing"], "No such command 'nothing'"), (["run"], "Missing argument 'PROGRAM'"),
                                         (["test", "--jun", "x"], "No such option: --jun")])
def test_usage_errors_have_status_2(words: list[str], said: str) -> None:
    done = armci(*words)
    assert done.returncode == 2
    assert said in done.stderr and "Usage: tools/armci" in done.stderr


@pytest.mark.parametrize("words, option, rest", [
    ("run -n 3 ./p -n 4 -- --quick", "arguments", "-n 4 -- --quick"), ("run -- ./p --help", "arguments", "--help"),
    ("rdma --keep sh -c x --keep", "command", "sh -c x --keep"), ("rdma -- ibv_devinfo -v", "command", "ibv_devinfo -v")])
def test_options_behind_the_program_are_its_own(words: str, option: str, rest: str) -> None:
    assert getattr(parsed(*words.split()), option) == tuple(rest.split())


def test_without_a_command_the_commands_are_listed() -> None:
    done = armci()
    assert done.returncode == 2
    assert all(command in done.stdout for command in SUMMARIES)


@pytest.mark.parametrize("arguments, said", [
    (("run", "./no-such-program"), "there is no program ./no-such-program"),
    (("mutants", "--report", "/proc/none"), "cannot write the report"),
    (("bench", "--report", "/proc/none"), "cannot write the report"),
    (("test", "--junit", "/proc/none/file"), "cannot write the report"),
    (("mpi-doctor", "--output", "/proc/none"), "cannot write the report"),
    (("mpi-doctor", "--only", "no-such-fault"), "there is no fault no-such-fault"),
    (("conformance", "--report", "/proc/none"), "cannot write the report"),
    (("tune",), "nothing to tune of mpi-twosided"),
    (("tune", "--impl", "shmem", "--simulate-node-size", "1"), "shmem spans no nodes"),
    (("compare", "--prefix", "/usr", "--name", "../x"), "is no name for a library"),
    (("tune", "--impl", "loopback"), "loopback is for the tests"),
    (("tune", "--impl", "shmem", "--output", "/proc/none/file"), "cannot write the report"),
    (("tune", "--simulate-node-size", "1", "--setting", "ARMCI_SPIN"), "ARMCI_SPIN is not tuned"),
    (("run", "--impl", "nothing", "//examples:hello"), "there is no implementation 'nothing'"),
    (("run", "--impl", "loopback", "//examples:hello"), "loopback is for the tests"),
    (("info", "--impl", "loopback"), "loopback is for the tests"),
])
def test_errors_say_what_and_what_next(arguments: tuple[str, ...], said: str) -> None:
    done = armci(*arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert "next:" in done.stderr
    assert "Traceback" not in done.stderr


def test_configurations_keep_their_outputs_apart() -> None:
    chosen = [bazel.Configuration(mpi, mode) for mpi in ("openmpi", "mpich") for mode in bazel.MODES]
    suffixes = [[flag for flag in one.flags() if flag.startswith("--platform_suffix")] for one in chosen]
    assert len({tuple(suffix) for suffix in suffixes}) == len(chosen)


@pytest.mark.parametrize("names, expected", [
    ([], bazel.Configuration()),
    (["mpich"], bazel.Configuration("mpich", "opt")),
    (["asan", "mpich"], bazel.Configuration("mpich", "asan")),
])
def test_configuration_names(names: list[str], expected: bazel.Configuration) -> None:
    assert bazel.parse_configuration(names) == expected


@pytest.mark.parametrize("line, expected", [
    ([], [bazel.Configuration()]),
    (["--mpi", "all"], [bazel.Configuration("openmpi"), bazel.Configuration("mpich")]),
    (["--mpi", "mpich,openmpi", "--mpi", "mpich"], [bazel.Configuration("mpich"), bazel.Configuration("openmpi")]),
    (["--mpi", "all", "--config", "asan"],
     [bazel.Configuration("openmpi", "asan"), bazel.Configuration("mpich", "asan")]),
    (["--config", "mpich"], [bazel.Configuration("mpich")]),
])
def test_several_mpi_libraries(line: list[str], expected: list[bazel.Configuration]) -> None:
    given = parsed("conformance", *line)
    assert options.chosen_configurations(given.mpi, given.config) == expected


@pytest.mark.parametrize("line, said", [(("--mpi", "othermpi"), "there is no MPI library 'othermpi'"),
                                        (("--impl", "shmem,nothing"), "there is no implementation 'nothing'")])
def test_unknown_names_end_the_run_before_anything_is_built(line: tuple[str, ...], said: str) -> None:
    done = armci("conformance", *line)
    assert done.returncode == 2
    assert said in done.stderr


def test_packages_file_is_complete() -> None:
    listed = packages.read_packages()
    assert len({package.name for package in listed}) == len(listed)
    assert {"bazel-bootstrap", "libopenmpi-dev", "libmpich-dev"} <= {package.name for package in listed}


def test_wrong_row_of_the_packages_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "packages.txt"
    path.write_text("# comment\nbuild | g++ | g++ | compiler\nlonely\n")
    with pytest.raises(ToolError) as caught:
        packages.read_packages(path=path)
    assert f"{path}:3" in caught.value.render()


def test_absent_packages_are_found_by_dpkg_and_by_probe() -> None:
    present = packages.Package("test", "dpkg", "sh", "")
    absent = packages.Package("test", "no-such-package-anywhere", "/no/such/file", "")
    assert packages.missing([present, absent]) == [absent]
    assert present.probe_found() and not absent.probe_found()


def test_elsewhere_the_missing_things_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "has_apt", lambda: False)
    with pytest.raises(ToolError) as caught:
        packages.ensure(print, [packages.Package("test", "libx-dev", "/no/such/file", "the x library")], "tools/armci setup")
    assert "the x library: /no/such/file not found (Debian package libx-dev)" in caught.value.render()


def test_table_pads_its_columns() -> None:
    assert console.table(["a", "b"], [["xx", "1"], ["y", "22"]]) == "a    b\n--  --\nxx   1\ny   22"


@pytest.mark.parametrize("seconds, text", [(0.44, "0.4 s"), (37.2, "37 s"), (185, "3 min 05 s")])
def test_durations(seconds: float, text: str) -> None:
    assert console.duration(seconds) == text


@pytest.mark.parametrize("words", [
    "mutants --share 5/4", "rdma --keep --stop", "bench --nodes 2 --simulate-node-size 1", "mutants --share 0/4", "test --quick --full",
    "run -n 0 /bin/true", "run --timeout 0 /bin/true", "run --timeout nan /bin/true", "bench -n -1", "bench --seconds -1",
    "conformance -n 2,0", "conformance --repeat 0", "conformance --deadline -5", "conformance --seed -1",
    f"conformance --seed {2**64}", "conformance --report=", "conformance --simulate-node-size 0", "conformance --nodes x",
    "mpi-doctor --only=", "mpi-doctor --only ,", "tune --rounds 0",
])
def test_values_that_make_no_sense_are_refused(words: str) -> None:
    with pytest.raises(click.UsageError):
        parsed(*words.split())


def test_the_score_of_the_mutants_needs_a_report() -> None:
    with pytest.raises(ToolError, match="--mutants needs a report"):
        conformance.execute.main(["--impl", "shmem", "--mutants"], standalone_mode=False)


def test_a_filter_that_matches_nothing_is_an_error() -> None:
    conformance._require_match("FAKE-1", {"A.a": ["FAKE-1"]})
    conformance._require_match("A[.]", {"A.a": ["FAKE-1"]})
    with pytest.raises(ToolError, match="no regular expression"):
        conformance._require_match("(", {"A.a": ["FAKE-1"]})
    with pytest.raises(ToolError, match="no test matches"):
        conformance._require_match("FAKE-10", {"A.a": ["FAKE-1"]})


@pytest.mark.parametrize("number, step", [(errno.ENOSPC, "make room"), (errno.EACCES, "may write to"), (errno.EIO, "as they should be")])
def test_what_the_machine_refuses_is_reported_without_a_traceback(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
                                                             number: int, step: str) -> None:
    def refused(*_arguments: object, **_options: object) -> None:
        raise OSError(number, "the machine says no", "/the/path")
    monkeypatch.setattr(cli.TOOL, "main", refused)
    monkeypatch.setattr(process, "install_signal_handlers", lambda made: None)
    assert cli.main(["setup"]) == 2
    output = capsys.readouterr().err
    assert output.startswith("armci: the machine says no\n  where: /the/path\n  next: ") and step in output
