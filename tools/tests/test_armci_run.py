"""The commands that are installed, armci-run and armci-prof, with libraries that are nothing but their names."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Mapping

import pytest
from armci_tool.repository import ROOT
from helpers import script

IMPLEMENTATIONS = ("one", "two")
# Says what the loader has chosen, and whether something counts the calls.
_PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
extern const char *which(void);
int main(int argc, char **argv) {
  const char *out = getenv("PARMCI_PROF_OUTPUT");
  const char *counted = getenv("COUNTED") ? "yes" : "no";
  printf("%s, counted %s to %s, %s\n", which(), counted, out ? out : "-", argc > 1 ? argv[1] : "");
  return 0;
}
"""
_PROF = 'extern int setenv(const char *, const char *, int); __attribute__((constructor)) static void f(void) ' \
        '{ setenv("COUNTED", "1", 1); }'


def compile_c(folder: Path, output: Path, code: str, *words: str) -> Path:
    """Makes a program or a library."""
    output.parent.mkdir(parents=True, exist_ok=True)
    source = folder / "code.c"
    source.write_text(code)
    subprocess.run(["gcc", str(source), "-o", str(output), "-Wl,--no-as-needed,--enable-new-dtags", *words], check=True)
    return output


def shared(folder: Path, output: Path, code: str, soname: str, *words: str) -> Path:
    """Makes a library."""
    return compile_c(folder, output, code, "-shared", "-fPIC", f"-Wl,-soname,{soname}", *words)


def mpi_library(folder: Path, soname: str) -> Path:
    """Nothing but a name, in a folder of its own."""
    return shared(folder, folder / f"of-{soname}" / soname, "", soname)


@dataclass(frozen=True)
class Installed:
    """A prefix, and the folder it is in."""

    folder: Path
    name: str
    mpi: Path

    @property
    def root(self) -> Path:
        return self.folder / self.name

    def run(self, *words: str, command: str = "armci-run",
            environment: Mapping[str, str] = {}) -> "subprocess.CompletedProcess[str]":
        """One of the commands."""
        return subprocess.run([str(self.root / "bin" / command), *words], env={**os.environ, **environment}, text=True,
                              capture_output=True, check=False, cwd=self.folder, timeout=60)

    def program(self, name: str = "program", *words: str) -> str:
        """Linked with the first implementation, and with the MPI library unless `words` are others."""
        words = words or (str(self.mpi), f"-Wl,-rpath,{self.mpi.parent}")
        library = self.root / "lib" / "armci" / IMPLEMENTATIONS[0]
        return str(compile_c(self.folder, self.folder / name, _PROGRAM, str(library / "libarmci.so.1"),
                             f"-Wl,-rpath,{library}", *words))


def install(folder: Path, name: str, mpi: str, soname: str) -> Installed:
    """With an MPI library of that SONAME."""
    library = mpi_library(folder, soname)
    root = folder / name
    for one in IMPLEMENTATIONS:
        shared(folder, root / "lib" / "armci" / one / "libarmci.so.1", f'const char *which(void) {{ return "{one}"; }}',
               "libarmci.so.1", str(library), f"-Wl,-rpath,{library.parent}")
    shared(folder, root / "lib" / "armci" / "libarmci-prof.so", _PROF, "libarmci-prof.so")
    (root / "share" / "armci").mkdir(parents=True)
    (root / "share" / "armci" / "mpi").write_text(mpi + "\n")
    shutil.copytree(ROOT / "packaging" / "bin", root / "bin")
    return Installed(folder, name, library)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """Above Open MPI, with a program, and with a launcher that hands no variables on."""
    made = install(tmp_path_factory.mktemp("commands"), "prefix", "openmpi", "libmpi.so.40")
    made.program()
    script(made.folder, "launcher", 'n=$2; shift 2\nfor i in $(seq "$n"); do env -i PATH="$PATH" "$@"; done\n')
    return made


@pytest.mark.parametrize("words, said", [
    ([], "one"), (["--impl", "one"], "one"), (["--impl=two"], "two"), (["--impl", "two", "--"], "two")])
def test_the_implementation_that_is_named_runs(installed: Installed, words: list[str], said: str) -> None:
    done = installed.run(*words, "./program", "word")
    assert done.stdout == f"{said}, counted no to -, word\n", done.stderr


def test_every_process_gets_it_though_the_launcher_hands_no_variables_on(installed: Installed) -> None:
    done = installed.run("--impl", "two", "--prof=file", "-n", "3", "--launcher", "./launcher", "./program", "a word")
    assert done.stdout == "two, counted yes to file, a word\n" * 3, done.stderr


@pytest.mark.parametrize("words, said", [
    (["--prof"], "one, counted yes to -"), (["--prof=out"], "one, counted yes to out"),
    (["--prof", "--impl", "two"], "two, counted yes to -")])
def test_calls_are_counted(installed: Installed, words: list[str], said: str) -> None:
    assert installed.run(*words, "./program").stdout.startswith(said)


@pytest.mark.parametrize("words, said", [
    (["./program"], "one, counted yes to -"), (["-o", "out", "./program"], "one, counted yes to out"),
    (["-o", "out", "--impl", "two", "./program"], "two, counted yes to out")])
def test_armci_prof_is_the_same(installed: Installed, words: list[str], said: str) -> None:
    assert installed.run(*words, command="armci-prof").stdout.startswith(said)


@pytest.mark.parametrize("command, words", [("armci-run", ["--impl", "two"]), ("armci-prof", [])])
def test_a_static_program_is_refused_by_both(installed: Installed, command: str, words: list[str]) -> None:
    compile_c(installed.folder, installed.folder / "static", "int main(void) { return 0; }", "-static")
    done = installed.run(*words, "./static", command=command)
    assert done.returncode == 2
    assert "is no program with shared libraries" in done.stderr and "next:" in done.stderr


@pytest.mark.parametrize("command", ["armci-run", "armci-prof"])
def test_what_has_nothing_of_armci_is_refused_by_both(installed: Installed, command: str) -> None:
    done = installed.run("sh", "-c", "true", command=command)
    assert done.returncode == 2
    assert "needs no libarmci.so.1" in done.stderr and "--no-check" in done.stderr


def test_a_script_that_starts_the_program(installed: Installed) -> None:
    script(installed.folder, "wrapper", './program "$1"\n')
    assert "is no program with shared libraries" in installed.run("--impl", "two", "./wrapper", "x").stderr
    for words in (["--no-check"], ["--no-check", "-n", "1", "--launcher", "./launcher"]):
        done = installed.run("--impl", "two", *words, "./wrapper", "x")
        assert done.stdout == "two, counted no to -, x\n", done.stderr


@pytest.mark.parametrize("name", ["say", "fail", "check", "usage"])
def test_a_program_is_found_that_has_the_name_of_a_function_of_the_script(installed: Installed, name: str) -> None:
    folder = installed.folder / "on-the-path"
    folder.mkdir(exist_ok=True)
    shutil.copy(installed.folder / "program", folder / name)
    assert f"there is no program {name}" in installed.run("--impl", "two", name).stderr
    done = installed.run("--impl", "two", name, environment={"PATH": f"{os.environ['PATH']}:{folder}"})
    assert done.stdout.startswith("two,"), done.stderr


@pytest.mark.parametrize("words, says", [
    (["-n", ""], "-n wants a number"), (["-n", "00"], "'00': not a number"), (["-n", "2x"], "'2x': not a number"),
    (["--impl", ""], "--impl wants a name"), (["--impl="], "--impl wants a name"), (["--impl", "../one"], "not a name"),
    (["--launcher", "no-such -x", "-n", "1"], "there is no launcher no-such")])
def test_what_cannot_be_meant_is_refused(installed: Installed, words: list[str], says: str) -> None:
    done = installed.run(*words, "./program")
    assert done.returncode == 2 and says in done.stderr, done.stderr


def test_a_prefix_with_a_space(tmp_path: Path) -> None:
    made = install(tmp_path, "a prefix", "openmpi", "libmpi.so.40")
    program = made.program()
    assert made.run("--impl", "two", program).stdout.startswith("two,")
    counted = made.run("--prof", program)
    assert counted.returncode == 2 and "its path has a space or a colon" in counted.stderr


def test_a_prefix_with_a_colon_is_nothing_for_the_loader(tmp_path: Path) -> None:
    made = install(tmp_path, "a:prefix", "openmpi", "libmpi.so.40")
    done = made.run("--impl", "two", "sh")
    assert done.returncode == 2 and "its path has a colon" in done.stderr


@pytest.mark.parametrize("command", ["armci-run", "armci-prof"])
def test_one_starter_does_not_start_another(installed: Installed, command: str) -> None:
    done = installed.run(str(installed.root / "bin" / "armci-run"), "--impl", "two", "./program", command=command)
    assert done.returncode == 2
    assert "armci-run --prof --impl NAME PROGRAM" in done.stderr


@pytest.mark.parametrize("mpi, soname, other_soname", [
    ("openmpi", "libmpi.so.40", "libmpi.so.12"), ("openmpi", "libmpi.so.80", "libmpich.so.12"),
    ("mpich", "libmpi.so.12", "libmpi.so.80"), ("mpich", "libmpich.so.12", "libmpi.so.40")])
def test_mpi_libraries_are_known_by_their_sonames(tmp_path: Path, mpi: str, soname: str, other_soname: str) -> None:
    made = install(tmp_path, "prefix", mpi, soname)
    done = made.run(made.program())
    assert done.returncode == 0, done.stderr
    other = mpi_library(tmp_path, other_soname)
    done = made.run(made.program("of-another", str(other), f"-Wl,-rpath,{other.parent}"))
    assert done.returncode == 2
    assert f"do not have the same MPI library" in done.stderr and f"was built with {mpi}" in done.stderr


def test_two_names_of_one_mpi_library_are_no_contradiction(tmp_path: Path) -> None:
    made = install(tmp_path, "prefix", "mpich", "libmpich.so.12")
    other = mpi_library(tmp_path, "libmpi.so.12")
    done = made.run(made.program("of-another", str(other), f"-Wl,-rpath,{other.parent}"))
    assert done.returncode == 0, done.stderr


def test_a_program_of_another_installation_is_compared_with_that(installed: Installed, tmp_path: Path) -> None:
    other = install(tmp_path, "prefix", "mpich", "libmpi.so.12")
    program = other.program()
    done = installed.run(program)
    assert done.stdout.startswith("one,"), done.stderr
    # Here it has to fit.
    assert "do not have the same MPI library" in installed.run("--impl", "two", program).stderr
    assert "use the armci-run that was installed with it" in installed.run("--prof", program).stderr


def test_what_is_installed_is_listed(installed: Installed) -> None:
    (installed.root / "lib" / "armci" / "of-others").mkdir(exist_ok=True)
    assert installed.run("--list").stdout.strip() == "openmpi: one two"


@pytest.mark.parametrize("words, said", [
    (["--impl", "three", "./program"], "there is no implementation 'three'"), (["--impl"], "--impl wants a name"),
    (["-n", "x", "./program"], "not a number of processes"),
    (["--launcher", "x", "./program"], "of how many processes?"),
    (["./no-such"], "there is no program ./no-such"), ([], "no program given"), (["--nothing"], "no option --nothing")])
def test_words_that_make_no_sense(installed: Installed, words: list[str], said: str) -> None:
    done = installed.run(*words)
    assert (done.returncode, said in done.stderr) == (2, True), done.stderr
