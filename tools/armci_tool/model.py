"""Checks models with spin: that each holds, and that it does not when it is broken on purpose."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Sequence

from armci_tool import checks, process
from armci_tool.errors import ToolError
from armci_tool.repository import ROOT
from armci_tool.results import FAILED, PASSED, Case

RESULTS = ROOT / "report" / "models"
MEMORY_MB = 2000
TIMEOUT_S = 300

# Of the program that spin makes. A claim that looks along whole paths needs a counter for each process.
_SAFETY = ("-O2", "-DSAFETY", "-DCOLLAPSE")
_QUICKLY = ("-O0", "-DSAFETY", "-DCOLLAPSE")  # to build: an error is found after few states
_LIVENESS = ("-O1", "-DCOLLAPSE", "-DNFAIR=4")
_WHOLE = ("-m1000000",)
_FAIR_PATHS = (*_WHOLE, "-a", "-f")

DEADLOCK = "invalid end state"
TWO_HOLDERS = r"assertion violated \(holders==1"
WRONG_ORDER = r"assertion violated \(n2==executed"
FENCE_TOO_EARLY = r"assertion violated \((executed\S*==issued|\(ended)"


@dataclass(frozen=True)
class Check:
    """A configuration of the model; `breaks`: what a broken one must be caught at, as a regular expression."""

    name: str
    defines: tuple[str, ...]
    compiler_flags: tuple[str, ...] = _SAFETY
    options: tuple[str, ...] = _WHOLE
    breaks: str = ""

    @property
    def words(self) -> list[str]:
        """For spin."""
        return [f"-D{define}" for define in self.defines]


@dataclass(frozen=True)
class Model:
    """A file for spin, with its configurations."""

    path: Path
    checks: tuple[Check, ...]


FLOW_CONTROL = Model(ROOT / "impl" / "engine" / "model" / "flow_control.pml", (
    Check("2 servers, 2 clients", ("REQUESTS=2",)),
    Check("2 servers, 3 clients", ("CLIENTS=3", "REQUESTS=1")),
    Check("3 servers, 3 clients", ("SERVERS=3", "CLIENTS=3", "REQUESTS=1")),
    Check("a client ends", ("REQUESTS=1", "WATCHED=0"), _LIVENESS, _FAIR_PATHS),
    Check("a client is served for ever", ("REQUESTS=1", "WATCHED=0", "ENDLESS"), _LIVENESS, _FAIR_PATHS),
    Check("broken: one pool for clients and servers", ("REQUESTS=2", "SHARED_POOL"), _QUICKLY, breaks=DEADLOCK),
    Check("broken: credits before execution", ("REQUESTS=2", "EARLY_CREDITS"), _QUICKLY, breaks=FENCE_TOO_EARLY),
    Check("broken: credits held back", ("REQUESTS=2", "CREDITS=3", "HELD_CREDITS"), _QUICKLY, breaks=DEADLOCK),
    Check("broken: chunks in any order", ("REQUESTS=2", "ANY_CHUNK"), _QUICKLY, breaks=DEADLOCK),
    Check("broken: requests overtake", ("REQUESTS=3", "CREDITS=3", "UNORDERED"), _QUICKLY, breaks=WRONG_ORDER),
))
COUNTS = Model(ROOT / "impl" / "engine" / "model" / "counts.pml", (
    Check("4 credits, 6 requests", ()),
    Check("1 credit, 4 requests", ("CREDITS=1", "REQUESTS=4")),
    Check("broken: a fence requests no count", ("NO_REQUEST",), _QUICKLY, breaks=DEADLOCK),
    Check("broken: counts wait for more than all credits", ("ALL_CREDITS",), _QUICKLY, breaks=DEADLOCK),
    Check("broken: the server reports once, though an earlier request is pending", ("FORGETFUL",), _QUICKLY, breaks=DEADLOCK),
    Check("broken: a request counts when it is taken", ("EARLY_COUNT",), _QUICKLY, breaks=FENCE_TOO_EARLY),
))
QUEUE_LOCK = Model(ROOT / "impl" / "runtime" / "model" / "queue_lock.pml", (
    Check("2 processes, 4 turns", ("PROCESSES=2", "TURNS=4")),
    Check("3 processes, 2 turns", ("TURNS=2",)),
    Check("broken: one next for all turns", ("TURNS=2", "ONE_NEXT"), _QUICKLY, breaks=DEADLOCK),
    Check("broken: no note", ("TURNS=2", "NO_NOTE"), _QUICKLY, breaks=DEADLOCK),
    Check("broken: the note of any turn", ("PROCESSES=2", "ANY_NOTE"), _QUICKLY, breaks=TWO_HOLDERS),
    Check("broken: a signal clears any tail", ("TURNS=2", "BLIND_CLEAR"), _QUICKLY, breaks=TWO_HOLDERS),
))
MODELS = (FLOW_CONTROL, COUNTS, QUEUE_LOCK)

_STATES = re.compile(r"(\d+) states, stored")
_ERRORS = re.compile(r"errors: (\d+)")


def run(results: Path, note: Callable[[str], None] = lambda text: None,
        models: Sequence[Model] = MODELS) -> Sequence[Case]:
    """A case for each check; what leads to an error is kept in `results`."""
    cases = []
    for model in models:
        for number, check in enumerate(model.checks, 1):
            note(check.name)
            cases.append(_search(model.path, check, results / model.path.stem / str(number)))
    return cases


def _search(path: Path, check: Check, folder: Path) -> Case:
    """Goes through all states."""
    folder.mkdir(parents=True, exist_ok=True)
    for line in (["spin", *check.words, "-a", str(path)],
                 ["gcc", "-w", f"-DMEMLIM={MEMORY_MB}", *check.compiler_flags, "-o", "pan", "pan.c"]):
        made = process.run(line, cwd=folder, timeout_s=TIMEOUT_S)
        if not made.ok:
            raise ToolError("the model cannot be built", where=made.tail(20),
                            next_step="mend " + checks.relative(path))
    result = process.run([str(folder / "pan"), *check.options], cwd=folder, timeout_s=TIMEOUT_S)
    states, errors = ("".join(found.findall(result.output)[:1]) for found in (_STATES, _ERRORS))
    facts = (("states", states),) if states else ()
    problem = judge(check, result.output)
    if not problem:
        return Case(check.name, PASSED, result.seconds, facts=facts)
    trail = [f"{problem}; {states or 'no'} states, {errors or 'no'} errors counted",
             f"the way there: spin {' '.join(check.words)} -k {checks.relative(folder)}/{path.name}.trail -p -g "
             f"{checks.relative(path)}"]
    shown = [line for line in result.output.splitlines() if line.strip() and "unreached" not in line]
    return Case(check.name, FAILED, result.seconds, "\n".join([*trail, *shown[:25]]), facts)


def judge(check: Check, output: str) -> str:
    """The fault in the output of a search, "" if there is none."""
    errors = _ERRORS.search(output)
    if errors is None or "error: " in output:
        return "the search did not come to its end"
    if check.breaks:
        return "" if re.search(check.breaks, output) else f"what is broken was not noticed ({check.breaks})"
    if int(errors.group(1)) > 0:
        return "the model does not hold"
    # Memory, depth: the search says so, and then that it found nothing.
    return "not all states were searched" if "not completed" in output or "too small" in output else ""
