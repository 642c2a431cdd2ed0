"""A search through the states of a model counts only when it was whole, and a broken model must be caught."""

from __future__ import annotations

from pathlib import Path

import pytest
from armci_tool import model
from armci_tool.errors import ToolError
from armci_tool.model import DEADLOCK, Check, Model
from armci_tool.results import FAILED, PASSED

GOOD = Check("good", ())
BROKEN = Check("broken", (), breaks=DEADLOCK)
HOLDS = "State-vector 9 byte, depth reached 9, errors: 0\n  12 states, stored\n"
FAILS = "pan:1: invalid end state (at depth 4)\nState-vector 9 byte, depth reached 9, errors: 1\n  12 states, stored\n"


@pytest.mark.parametrize("check, output, fault", [
    (GOOD, HOLDS, ""),
    (GOOD, FAILS, "does not hold"),
    (GOOD, HOLDS + "Warning: Search not completed\n", "not all"),
    (GOOD, "error: max search depth too small\n" + HOLDS, "end"),
    (GOOD, "pan: out of memory\n", "end"),
    (BROKEN, FAILS, ""),
    (BROKEN, HOLDS, "not noticed"),
    (BROKEN, FAILS.replace("invalid end state", "assertion violated (x)"), "not noticed"),
])
def test_judgement(check: Check, output: str, fault: str) -> None:
    problem = model.judge(check, output)
    assert fault in problem and bool(fault) == bool(problem)


def small(folder: Path, body: str, *checks: Check) -> Model:
    path = folder / "small.pml"
    path.write_text(body)
    return Model(path, checks)


def test_a_small_model_is_searched(tmp_path: Path) -> None:
    body = "#ifdef BAD\n#define END (0)\n#else\n#define END (1)\n#endif\ninit { END }\n"
    good, broken = model.run(tmp_path, models=[small(tmp_path, body, GOOD, Check("broken", ("BAD",), breaks=DEADLOCK))])
    assert (good.outcome, broken.outcome) == (PASSED, PASSED)
    assert dict(good.facts)["states"].isdigit()
    [case] = model.run(tmp_path, models=[small(tmp_path, body, Check("bad", ("BAD",)))])
    assert case.outcome == FAILED
    assert "1 errors" in case.detail and "-DBAD -k" in case.detail
    assert (tmp_path / "small" / "1" / "small.pml.trail").exists()


def test_a_model_that_is_no_model_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ToolError):
        model.run(tmp_path, models=[small(tmp_path, "nothing", GOOD)])


@pytest.mark.parametrize("of", model.MODELS, ids=[of.path.stem for of in model.MODELS])
def test_every_way_to_break_a_model_is_tried(of: Model) -> None:
    text = of.path.read_text()
    listed = text.split("Faults on purpose", 1)[1].split("Run:", 1)[0]
    ways = {line.split()[1] for line in listed.splitlines() if line.startswith(" *   ")}
    tried = {check.defines[-1] for check in of.checks if check.breaks}
    assert ways == tried and all(f"#ifdef {way}" in text for way in ways)
