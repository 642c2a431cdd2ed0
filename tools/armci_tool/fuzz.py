"""Feeds the parser of requests with inputs that libFuzzer generates.

The target is built by clang itself, with its sanitizers: the build's own compiler has no libFuzzer. What it finds is
kept in a folder of results, together with the program that takes it.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Callable, Sequence

from armci_tool import checks, launch, process, scratch_folders
from armci_tool.errors import ToolError
from armci_tool.repository import ROOT
from armci_tool.results import FAILED, PASSED, Case

COMPILER = "clang++"
FUZZER_LIBRARY = "libclang_rt.fuzzer"
SOURCES = ("impl/engine/fuzz/decode_fuzz.cc", "impl/engine/fuzz/seeds.cc", "impl/engine/request.cc",
           "impl/runtime/shapes.cc", "impl/base/status.cc", "impl/base/abi_version.cc")
FLAGS = ("-std=c++20", "-O1", "-g", "-fno-omit-frame-pointer", "-fsanitize=fuzzer,address,undefined",
         "-fno-sanitize-recover=undefined", "-Wall", "-Wextra", "-Werror", "-I.", "-Ispec", "-DOMPI_SKIP_MPICXX")
# As good as the same inputs each time. One change at a time to short messages: most of what is changed more is refused
# at once.
OPTIONS = ("-runs=2000000", "-seed=1", "-mutate_depth=1", "-reduce_inputs=0", "-max_len=512", "-timeout=10",
           "-print_final_stats=1")
# Of each kind of request; fewer would say nothing.
ACCEPTED_MIN = 1000

BUILD_TIMEOUT_S = 300
RUN_TIMEOUT_S = 300
RESULTS = ROOT / "report" / "decode_fuzz"

KEPT = "decode() keeps its promises"
REACHED = "fuzzing gets past the checks"

_FOUND = re.compile(r"Test unit written to (\S+)")
_REASON = re.compile(r"decode_fuzz: decode|runtime error: |ERROR: AddressSanitizer|ERROR: libFuzzer: (?!deadly)")
_NOISE = re.compile(r"#\d+\t|INFO:|\s*NEW_FUNC|0x\w\w,|Base64:")
_KIND = re.compile(r"kind (\d+): (\d+)")


def build(folder: Path) -> Path:
    """The program, built from the sources as they are."""
    if shutil.which(COMPILER) is None:
        raise ToolError(f"{COMPILER} is not installed, which fuzzing needs", next_step="run tools/armci setup",
                        where="Debian packages clang, libclang-rt-dev")
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "decode_fuzz"
    # The library's failures know those of MPI.
    wrapper = launch.mpi_library(launch.DEFAULT_MPI).compiler.replace("mpicc", "mpicxx")
    made = process.run([wrapper, *FLAGS, *SOURCES, "-o", str(program)], cwd=ROOT, timeout_s=BUILD_TIMEOUT_S,
                       environment={"OMPI_CXX": COMPILER})
    if not made.ok:
        lacks_library = FUZZER_LIBRARY in made.output
        raise ToolError("the target of fuzzing could not be built", where=made.tail(40),
                        next_step="run tools/armci setup: libclang-rt-dev is missing" if lacks_library else
                        "mend the first error above; a source that request.cc has come to need goes into SOURCES of "
                        "tools/armci_tool/fuzz.py")
    return program


def run(program: Path, folder: Path, note: Callable[[str], None] = lambda text: None) -> Sequence[Case]:
    """Fuzzes for a fixed number of inputs; what breaks a promise is kept in `folder`."""
    with scratch_folders.make() as scratch:
        seeds, corpus = scratch / "seeds", scratch / "corpus"
        seeds.mkdir()
        corpus.mkdir()
        written = process.run([str(program), f"--write-seeds={seeds}"])
        if not written.ok or not any(seeds.iterdir()):
            raise ToolError("the target of fuzzing did not write its seeds", where=written.tail(10),
                            next_step="mend the fault above, in impl/engine/fuzz")
        result = process.run([str(program), *OPTIONS, f"-artifact_prefix={folder}/", str(corpus), str(seeds)],
                             environment={"UBSAN_OPTIONS": "print_stacktrace=1"}, timeout_s=RUN_TIMEOUT_S, on_line=note)
    if not result.ok:
        return [Case(KEPT, FAILED, result.seconds, _explain(program, result))]
    return [Case(KEPT, PASSED, result.seconds), _reached(result.output)]


def _explain(program: Path, result: process.Result) -> str:
    found = _FOUND.search(result.output)
    # Without progress and the bytes of the input, which are in the file.
    lines = [line for line in result.output.splitlines() if line.strip() and not _NOISE.match(line)]
    if found is None:
        return "\n".join([f"status {result.status}" + (", out of time" if result.timed_out else ""), *lines[-30:]])
    reason = [line for line in lines if _REASON.search(line)][:1]
    return "\n".join([*reason, f"reproduce: {checks.relative(program)} {checks.relative(Path(found.group(1)))}",
                      *[line for line in lines if line not in reason][:30]])


def _reached(output: str) -> Case:
    """Whether enough requests of every kind that there are seeds of were accepted, and so examined."""
    accepted = {int(kind): int(count) for kind, count in _KIND.findall(output)}
    rare = {kind: count for kind, count in accepted.items() if count < ACCEPTED_MIN}
    if accepted and not rare:
        return Case(REACHED, PASSED)
    fault = f"of the kinds {rare} less than {ACCEPTED_MIN} were accepted" if accepted else "no request was accepted"
    return Case(REACHED, FAILED, detail=f"{fault}: seeds.cc, or the options in fuzz.py, no longer fit")
