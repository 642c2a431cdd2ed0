"""`tools/armci application`: sources, what is built once, and the table; with programs that are scripts."""

from __future__ import annotations

import inspect
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, Sequence

import pytest
from armci_tool import bazel, process
from armci_tool.applications import armci, debian, global_arrays, nwchem, recipe, recipes, report, run, shard, sources
from armci_tool.commands import options
from armci_tool.errors import ToolError
from armci_tool.install import layout
from armci_tool.repository import ROOT
from armci_tool.results import FAILED, PASSED, SKIPPED, Case
from helpers import armci as tool


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of what is built."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return sources.cache()


def archive(folder: Path, name: str, content: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "file"
    file.write_text(content)
    with tarfile.open(folder / name, "w:xz") as made:
        made.add(file, arcname="app-1/file")
    return folder / name


def test_the_only_source_is_found_and_a_missing_or_second_one_named(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "BESIDE_CHECKOUT", tmp_path / "nowhere")
    with pytest.raises(ToolError, match="there is no source app-"):
        sources.find("app-*.tar.*", None)
    with pytest.raises(ToolError, match="there is no source"):
        sources.find("app-*.tar.*", tmp_path / "absent")
    only = archive(cache, "app-1.tar.xz", "")
    (cache / "app-1.tar.xz.asc").touch()
    assert sources.find("app-*.tar.*", None) == only
    archive(cache, "app-2.tar.xz", "")
    with pytest.raises(ToolError, match="there is more than one source"):
        sources.find("app-*.tar.*", None)
    assert sources.find("app-*.tar.*", tmp_path) == tmp_path


def test_an_archive_is_unpacked_without_its_folder(tmp_path: Path) -> None:
    sources.unpack(archive(tmp_path, "app.tar.xz", "text"), tmp_path / "tree")
    assert (tmp_path / "tree" / "file").read_text() == "text"
    (tmp_path / "app-2").mkdir()
    (tmp_path / "app-2" / "file").touch()
    subprocess.run(["tar", "-cf", tmp_path / "dot.tar", "-C", tmp_path, "./app-2"], check=True)
    sources.unpack(tmp_path / "dot.tar", tmp_path / "other" / "tree")
    assert [str(path.relative_to(tmp_path)) for path in tmp_path.glob("other/**/*")] == ["other/tree", "other/tree/file"]


def test_a_folder_is_copied_so_that_it_can_be_built_in(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "configure").touch()
    source.chmod(0o555)
    sources.unpack(source, tmp_path / "copy")
    assert (tmp_path / "copy").stat().st_mode & 0o700 == 0o700


def tar_of(path: Path, *names: str) -> Path:
    with tarfile.open(path, "w:xz") as made:
        for name in names:
            made.add("/dev/null", arcname=name)
    return path


@pytest.mark.parametrize("names, sentence", [
    (["app-1/configure.ac", "app-1/src/one.c"], ""), (["./app-1/configure.ac", "./app-1/src/one.c"], ""), ([], "is empty"),
    (["onefile"], "is no source of One"), (["app-1/src/one.c"], "is no source of One"),
    (["configure.ac", "src/one.c"], "does not begin with one folder"), (["app-1/configure.ac", "app-1/src/one.o"], "has been built in"),
    (["app-1/configure.ac", "app-1/src/config.status"], "has been built in")])
@pytest.mark.parametrize("unpacked", [False, True])
def test_a_wrong_source_is_refused_before_anything_is_built(tmp_path: Path, names: list[str], sentence: str, unpacked: bool) -> None:
    one = recipe.Recipe("one", "One", "o-*", lambda work: pytest.fail("built"), lambda folder, built_on: {}, (1,), 1.0, has_files=("src", "configure.ac"))
    source = tar_of(tmp_path / "one.tar.xz", *names)
    if unpacked:
        folder = tmp_path / "one"
        folder.mkdir()
        subprocess.run(["tar", "-xf", source, "-C", folder], check=True)
        source = folder / "app-1" if (folder / "app-1").is_dir() else folder
        if "one folder" in sentence:
            sentence = ""  # a folder has no such rule
    if not sentence:
        assert one.find_sources(source) == {"one": source}
        return
    with pytest.raises(ToolError, match=sentence):
        one.find_sources(source)


def test_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text.tar").write_text("text")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    for name, sentence in (("text.tar", "is damaged, or no archive"), ("pipe", "is neither a file nor a folder"), ("/", "/ is no source of One")):
        with pytest.raises(ToolError, match=sentence):
            sources.check(tmp_path / name, "One", ["configure.ac"])
    with pytest.raises(ToolError, match="there is no source") as raised:
        sources.find("app-*", tmp_path / "loop")
    assert "link" in raised.value.where


@pytest.mark.parametrize("folder", ["with blank", "with:colon"])
def test_a_cache_that_makefiles_cannot_name_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / folder))
    with pytest.raises(ToolError, match="applications cannot be built in"):
        sources.cache()
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc")
    with pytest.raises(ToolError, match="applications cannot be built in") as raised, sources.locked():
        pass
    assert "XDG_CACHE_HOME=/proc" in raised.value.where
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert sources.cache() == Path.home() / ".cache" / "armci" / "applications"


def test_a_removal_that_is_broken_off_leaves_no_build(monkeypatch: pytest.MonkeyPatch) -> None:
    first = sources.once("app", "0" * 12, lambda folder: None)

    def stopped(_folder: Path) -> None:
        raise KeyboardInterrupt
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(shutil, "rmtree", stopped)
        sources.once("app", "1" * 12, lambda folder: None)
    assert first.is_dir() and not sources.is_built("app", "0" * 12) and sources.is_built("app", "1" * 12)


def test_compilers_that_do_not_run_are_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(layout, "install", lambda *given, **options: None)
    monkeypatch.setenv("OMPI_CC", "/no/such/compiler")
    with pytest.raises(ToolError, match="mpicc.openmpi --version fails"):
        armci.own(bazel.Configuration("openmpi"), lambda note: None)


def test_a_compiler_that_is_not_there_is_named_before_bazel_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "run", lambda *given, **options: pytest.fail("Bazel ran"))
    for variable in ("CC", "CXX"):
        with monkeypatch.context() as patch, pytest.raises(ToolError, match=f"{variable} names a compiler that is not installed"):
            patch.setenv(variable, "nocc -m64")
            bazel.test(["//none"], bazel.Configuration("openmpi"))


def test_a_compiler_that_does_not_run_is_named_before_bazel_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bazel, "executable", lambda: pytest.fail("Bazel ran"))
    monkeypatch.setenv("CC", "/bin/false")
    with pytest.raises(ToolError, match="CC=/bin/false is no compiler that runs"):
        bazel.build(["//none"], bazel.Configuration("openmpi"))


def test_a_report_that_cannot_be_written_is_noticed_first_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="cannot write the report to /proc"):
        options.require_folder(Path("/proc"))
    (tmp_path / "table.txt").mkdir()
    with pytest.raises(ToolError, match="cannot write the report to .*/table.txt"):
        options.require_folder(tmp_path, report.FILES)
    with pytest.raises(OSError):
        report.write(tmp_path, "App", steps(), {})
    assert [path.name for path in tmp_path.iterdir()] == ["table.txt"]


@pytest.mark.parametrize("words, sentence", [(("--filter", "("), "is no regular expression"), (("--impl", "nope"), "there is no implementation 'nope'")])
def test_a_wrong_word_is_refused_before_anything_is_built(words: tuple[str, ...], sentence: str) -> None:
    refused = tool("application", "prk", *words)
    assert refused.returncode == 2 and sentence in refused.stderr and "loopback" not in refused.stderr


def test_an_application_is_built_once_for_each_content(tmp_path: Path) -> None:
    built: list[Path] = []
    first = sources.once("app", "0" * 12, built.append)
    assert sources.once("app", "0" * 12, built.append) == first and built == [first]
    other = sources.once("app", "1" * 12, built.append)
    assert built == [first, other] and not first.exists()

    def fails(_folder: Path) -> None:
        raise ToolError("the application does not build")
    with pytest.raises(ToolError):
        sources.once("app", "2" * 12, fails)
    assert sources.once("app", "2" * 12, built.append) == built[-1], "a build that failed is no build"
    one, two = archive(tmp_path / "a", "x.tar.xz", "1"), archive(tmp_path / "b", "x.tar.xz", "2")
    assert sources.content(one) != sources.content(two)
    assert sources.content(one) == sources.content(one.rename(one.with_name("renamed.tar.xz")))


def test_a_run_removes_broken_builds_and_a_failed_build_leaves_the_good_one(cache: Path) -> None:
    good = sources.once("app-armci-openmpi", "0" * 12, lambda folder: None)

    def fails(_folder: Path) -> None:
        raise ToolError("the application does not build")
    with pytest.raises(ToolError):
        sources.once("app-armci-openmpi", "1" * 12, fails)
    kept = [good, cache / "installed-openmpi", cache / "app-of-a-user-0123456789ab"]
    for folder in [*kept[1:], cache / f"debian-app-{'2' * 12}"]:
        folder.mkdir()
    with sources.locked():
        assert sorted(path for path in cache.iterdir() if path.is_dir()) == sorted(kept)
    assert sources.is_built("app-armci-openmpi", "0" * 12)


def script(folder: Path, name: str, text: str) -> recipe.Program:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return recipe.Program(name, path)


OURS = armci.Candidate("shmem", armci.OWN, Path("/opt/armci/lib/armci/shmem"))
THEIRS = armci.Candidate(armci.BASELINE, armci.BASELINE, Path("/opt/armci-mpi/lib"))
HERE = run.Where(1, "openmpi")


OURS_SAYS = "echo 'armci: shmem: 1 processes'"


@pytest.mark.parametrize("text, more, fault", [
    (OURS_SAYS, {}, ""), ("echo 'armci: ucx: 1 processes'", {}, "the program did not run on shmem"), (f"{OURS_SAYS}; exit 3", {}, "status 3"),
    ("sleep 100", {}, "not over after 1 s"), (f"{OURS_SAYS}; sleep 2", {"is_long": True}, ""),
    ("case $LD_LIBRARY_PATH in /opt/armci/lib/armci/shmem*) echo 'armci: shmem: 1 processes';; esac", {}, ""),
    (OURS_SAYS, {"refused": "no such header"}, "the program does not compile"),
    (OURS_SAYS, {"says": "Solution validates"}, "the program did not say 'Solution validates'"),
    (f"{OURS_SAYS}; echo Solution validates", {"says": "Solution validates"}, ""),
    (f"{OURS_SAYS}; echo size $OMPI_COMM_WORLD_SIZE", {"says": "size 2", "processes": 2}, ""),
    (f"{OURS_SAYS}; pwd", {"says": "/input\n", "folder": "input"}, ""),
    (f"{OURS_SAYS}; setsid sleep 60 > /dev/null 2>&1 < /dev/null &\nsleep 0.2", {}, "the job left something behind")])
def test_a_program_is_judged(tmp_path: Path, text: str, more: dict[str, Any], fault: str) -> None:
    program = replace(script(tmp_path, "program", text), **more)
    if program.folder:
        (tmp_path / program.folder).mkdir()
        program = replace(program, folder=tmp_path / program.folder)
    case = run.program_case(program, OURS, HERE, 1.0 if "sleep " in text and "setsid" not in text else 60.0)
    assert (case.outcome, case.detail.partition("\n")[0]) == (FAILED if fault else PASSED, fault)


def test_a_program_on_no_armci_runs_without_a_library_of_ours_and_only_where_it_was_built(tmp_path: Path) -> None:
    model = armci.Candidate("OpenSHMEM", "OpenSHMEM")
    one = script(tmp_path, "one", 'case $LD_LIBRARY_PATH in *armci*) exit 1;; esac')
    programs = {armci.OWN: [script(tmp_path, "two", OURS_SAYS)], model.built_on: [one]}
    found = list(run.runs(programs, [model], HERE, 30.0, lambda note: None))
    assert [(case.name, case.outcome) for _, case in found] == [("one", PASSED)]


ENERGY = recipe.Reference("Total SCF energy", (-76.026772057,), 1e-7)


@pytest.mark.parametrize("output, fault", [
    ("Total SCF energy =    -76.026772056\n", ""), ("Total SCF energy = -1.0\nTotal SCF energy = -0.76026772056D+02", ""),
    ("Total SCF energy = -76.026772056\nTotal SCF energy = -76.0267719", "is not -76.026772057 within 1e-07"),
    ("Total SCF energy", "is not"), ("  1 # reference: Total SCF energy = -76.026772057", "the program did not say"), ("Total energy = -76.026772056", "the program did not say 'Total SCF energy'")])
def test_the_last_number_after_a_label_is_compared(output: str, fault: str) -> None:
    found = ENERGY.fault(output)
    assert fault in found if fault else not found


def test_a_wrong_number_fails_a_program_which_writes_in_a_folder_of_its_own(tmp_path: Path) -> None:
    wrong = script(tmp_path, "program", "echo 'armci: shmem: 1 processes'; touch made; echo 'Total SCF energy = -75.0'; pwd")
    program = recipe.Program("program", wrong.path, references=(ENERGY,), writes=True)
    case = run.program_case(program, OURS, HERE, 60.0)
    assert case.outcome == FAILED and "is not -76.026772057" in case.detail
    assert not (tmp_path / "made").exists() and not Path(case.detail.splitlines()[-1]).exists()


def test_a_program_that_prints_a_wrong_number_fails_with_every_status(tmp_path: Path) -> None:
    wrong = script(tmp_path, "program", "echo 'armci: shmem: 1 processes'; echo 'mismatch at point 3'")
    case = run.program_case(replace(wrong, fails_if="mismatch at point|other"), OURS, HERE, 60.0)
    assert case.outcome == FAILED and case.detail.startswith("the program said 'mismatch at point'")


@pytest.mark.parametrize("line, is_fault", [
    (" failed #ij test failed #kl test        #compute", False), ("test failed", True), ("ga_add Test FAILED", True), ("NbTest fails", True)])
def test_words_of_a_wrong_number_in_global_arrays_are_distinguished_from_a_title(line: str, is_fault: bool) -> None:
    assert bool(re.search(global_arrays._FAILS_IF, line)) == is_fault


def test_every_input_of_nwchem_says_what_it_has_to_give() -> None:
    inputs = sorted(nwchem.INPUTS.glob("*.nw"))
    assert inputs and all(nwchem.references(path.read_text()) for path in inputs)
    text = "# reference within 0.05: P.Frequency = 1804.38 3953.92\n"
    assert nwchem.references(text) == (recipe.Reference("P.Frequency", (1804.38, 3953.92), 0.05),)


def test_the_profiler_prints_the_share_inside_armci(tmp_path: Path) -> None:
    profiler = script(tmp_path, "profiler", "\"$@\"; echo 'armci-prof: 1 processes, 0.5 s each, 7.3 % of it in ARMCI'")
    program = script(tmp_path, "program", "echo 'armci: shmem: 1 processes'; echo 'Rate (MB/s): 3.0'")
    where = run.Where(1, "openmpi", profiler=profiler.path)
    assert run.program_case(program, OURS, where, 60.0).facts == (("MB/s", "3.0"), ("% in ARMCI", "7.3"))
    assert run.program_case(program, OURS, HERE, 60.0).facts == (("MB/s", "3.0"),)


def test_an_application_needs_the_source_of_what_it_is_built_on(cache: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sources, "BESIDE_CHECKOUT", tmp_path / "nowhere")
    given = tar_of(tmp_path / "nwchem-7.tar.xz", "nwchem-7/src/nwchem.F", "nwchem-7/src/GNUmakefile")
    with pytest.raises(ToolError, match="NWChem needs Global Arrays: there is no source ga-5"):
        recipes.RECIPES["nwchem"].find_sources(given)
    cache.mkdir(parents=True)
    below = tar_of(cache / "ga-5.tar.xz", "ga-5/global/src/ga.h", "ga-5/configure.ac")
    assert recipes.RECIPES["nwchem"].find_sources(given) == {"ga": below, "nwchem": given}
    assert recipes.RECIPES["nwchem"].find_sources(None) == {"ga": below, "nwchem": None}, "Debian has one"


def test_a_build_is_known_by_all_that_it_is_made_of(cache: Path, tmp_path: Path) -> None:
    below = recipe.Recipe("below", "Below", "b-*", lambda work: None, lambda folder, built_on: {}, (1,), 1.0, ("file",))
    above = recipe.Recipe("above", "Above", "a-*", lambda work: None, lambda folder, built_on: {}, (1,), 1.0, ("file",), needs=(below,))
    here = armci.Armci(armci.OWN, tmp_path, "openmpi", "1")
    found = {"below": archive(tmp_path, "b-1.tar.xz", "1"), "above": archive(tmp_path, "a-1.tar.xz", "1")}
    assert not above.is_built(here, found)
    folder = above.built_on(here, found, lambda note: None)
    assert above.is_built(here, found) and folder == above.built_on(here, found, lambda note: None)
    others = (replace(here, key="2"), found), (here, {**found, "below": archive(tmp_path, "b-2.tar.xz", "2")})
    assert not any(above.is_built(library, others_found) for library, others_found in others)


def test_flags_of_the_environment_make_a_build_out_of_date_unless_the_recipe_sets_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here, found = armci.Armci(armci.OWN, tmp_path, "openmpi", "1"), {"ga": archive(tmp_path, "ga-5.tar.xz", "")}

    def key() -> str:
        return recipes.RECIPES["ga"].key(here, found)
    before = key()
    for name, value in (("MAKEFLAGS", "-j2"), ("OMPI_MCA_btl", "self"), ("CFLAGS", "-O0"), ("FFLAGS", "-O0")):
        monkeypatch.setenv(name, value)
        assert key() == before, f"{name} changes nothing that is built"
    for name, value in (("LDFLAGS", "-s"), ("CPATH", "/opt/include"), ("OMPI_CFLAGS", "-O0"), ("USE_OPENMP", "1")):
        with monkeypatch.context() as patch:
            patch.setenv(name, value)
            assert key() != before, name


def test_a_build_of_debians_source_is_known_by_its_version_and_any_build_by_its_recipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here, found = armci.Armci(armci.OWN, tmp_path, "openmpi", "1"), {"nwchem": None, "ga": archive(tmp_path, "ga-5.tar.xz", "")}
    keys = []
    for version in ("7.0.2-4", "7.2.3-1"):
        monkeypatch.setattr(debian, "version", lambda package, version=version: version)
        keys.append(recipes.RECIPES["nwchem"].key(here, found))
    changed = tmp_path / "recipe.py"
    changed.write_text("")
    monkeypatch.setattr(inspect, "getfile", lambda build: str(changed))
    keys.append(recipes.RECIPES["nwchem"].key(here, found))
    assert len(set(keys)) == 3


def test_debians_version_is_what_apt_would_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    script(tmp_path / "bin", "apt-cache", "echo \"$2:\"; echo '  Installed: (none)'; echo '  Candidate: 7.0.2-4'")
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    assert debian.version("nwchem") == "7.0.2-4"
    monkeypatch.setenv("PATH", "")
    assert debian.version("nwchem") == ""


def test_without_a_source_the_shard_is_skipped(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sources, "BESIDE_CHECKOUT", tmp_path / "nowhere")
    monkeypatch.setattr(armci, "own", lambda configuration, note: pytest.fail("nothing is to be built"))
    cases = shard.run_shard("openmpi", lambda note: None)
    assert cases and all(case.outcome == SKIPPED and "there is no source" in case.detail for case in cases)


def test_a_shard_ends_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter((0.0, 100.0, 181.0))
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    cases = list(shard.within(180.0, iter([Case("one", PASSED), Case("two", FAILED), Case("three", PASSED)]), recipes.RECIPES["ga"]))
    assert [(case.name, case.outcome) for case in cases] == [("one", PASSED), ("two", FAILED), ("Global Arrays", SKIPPED)]
    assert "180 s" in cases[-1].detail


@pytest.mark.parametrize("listed, sentence, where", [
    ("deb-src http://mirror bookworm main", "apt-get cannot get Debian's", "no network"),
    ("W: Target Packages is configured multiple times", "apt-get knows nothing of Debian's packages", "")])
def test_what_debian_cannot_give_is_reported(cache: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, listed: str, sentence: str,
                                         where: str) -> None:
    folder = tmp_path / "bin"
    script(folder, "apt-get", f"case $1 in indextargets) echo '{listed}';; *) echo no network; exit 100;; esac")
    script(folder, "dpkg-source", "")
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    with pytest.raises(ToolError, match=sentence) as raised:
        debian.source("nwchem", lambda note: None)
    assert where in raised.value.where and str(cache) in raised.value.next_step


def test_apt_takes_the_list_of_sources(tmp_path: Path) -> None:
    if not shutil.which("apt-get") or not debian.source_lines():
        pytest.skip("apt has no lists of Debian's packages")
    (tmp_path / "sources.list").write_text("\n".join(debian.source_lines()) + "\n")
    read = ["apt-get", *debian.options(tmp_path), "update", "--print-uris"]
    done = subprocess.run(read, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and not done.stderr and done.stdout.count("Sources.xz") == len(debian.source_lines()) > 0


def test_programs_take_turns_on_the_libraries(tmp_path: Path) -> None:
    ours = [script(tmp_path, name, "echo 'armci: shmem: 1 processes'") for name in ("one", "two")]
    found = list(run.runs({armci.OWN: ours, armci.BASELINE: ours[:1]}, [OURS, THEIRS], HERE, 30.0, lambda note: None))
    assert [(candidate.name, case.name, case.outcome) for candidate, case in found] == [
        ("shmem", "one", PASSED), (armci.BASELINE, "one", PASSED), ("shmem", "two", PASSED), (armci.BASELINE, "two", FAILED)]
    assert [step.name for step in run.steps(found, HERE)] == ["shmem, 1 process, openmpi", "armci-mpi, 1 process, openmpi"]


def test_one_run_at_a_time_uses_the_cache() -> None:
    with sources.locked(), pytest.raises(ToolError, match="another tools/armci application or test runs") as raised, sources.locked():
        pass
    assert raised.value.where.startswith(f"process {os.getpid()} holds /")
    with sources.locked():
        pass


# A run that is killed while its build ignores SIGTERM and goes on writing.
_KILLED_RUN = """
from pathlib import Path
from armci_tool.applications import sources
with sources.locked():
    sources.must(["sh", "-c", "trap '' TERM; while :; do date +%s.%N > written; sleep 0.05; done"], Path("."), "fails")
"""


def test_the_jobs_of_a_killed_run_have_ended_when_the_next_one_has_the_cache(tmp_path: Path) -> None:
    written = tmp_path / "written"
    with subprocess.Popen([sys.executable, "-B", "-c", _KILLED_RUN], cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT / "tools")}) as killed:
        while not written.is_file():
            assert killed.poll() is None, "the run ended before its job wrote"
            time.sleep(0.05)
        killed.send_signal(signal.SIGKILL)
    with sources.locked():
        last = written.read_text()
        time.sleep(0.5)
        assert written.read_text() == last


def test_two_programs_of_one_name_are_refused(tmp_path: Path) -> None:
    twice = [script(tmp_path, "one", ""), script(tmp_path, "one", "")]
    with pytest.raises(ToolError, match="have one name"):
        list(run.runs({armci.OWN: twice}, [OURS], HERE, 30.0, lambda note: None))


def steps() -> Sequence[run.LibraryStep]:
    ours = [Case("a", PASSED, 1.0), Case("b", FAILED, 9.0, "status 1"), Case("c", PASSED, 2.0)]
    theirs = [Case("a", PASSED, 2.0), Case("b", PASSED, 1.0), Case("c", PASSED, 4.0)]
    where = run.Where(4, "openmpi")
    return [*run.steps([(OURS, case) for case in ours], where), *run.steps([(THEIRS, case) for case in theirs], where)]


def test_the_table_rates_what_passed_on_both(tmp_path: Path) -> None:
    ours, theirs = report.rows(steps())
    assert ours == ["shmem", "4 processes, openmpi", "2", "1", "0", "12 s", "0.50"]
    assert theirs[-1] == "-"
    assert "FAILED b on shmem, 4 processes, openmpi: status 1" in report.screen(steps())
    report.write(tmp_path, "App", steps(), {"date": "today"})
    assert {path.name for path in tmp_path.iterdir()} == {"table.txt", "results.json", "junit.xml", "index.html"}
    assert json.loads((tmp_path / "results.json").read_text())["runs"][0]["programs"][1]["outcome"] == FAILED
    assert "status 1" in (tmp_path / "index.html").read_text()


@pytest.mark.parametrize("arguments, sentence", [
    (["nonsense"], "nonsense"), (["ga", "--source", "/no/such/source"], "there is no source /no/such/source"),
    (["ga", "--impl", "shmem", "--nodes", "2"], "shmem spans no nodes"), (["ga", "-n", "0"], "0 is not in the range"),
    (["ga", "-n", "100000"], "-n 100000 is too many processes for this machine"), (["ga", "-n", "2,,4"], "'2,,4' has an empty part")])
def test_errors_say_what_and_what_next(arguments: list[str], sentence: str) -> None:
    done = tool("application", *arguments)
    assert done.returncode == 2 and sentence in done.stderr + done.stdout
