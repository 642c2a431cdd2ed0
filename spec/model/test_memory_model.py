"""Theorems of the model, checked by enumeration, and its table in spec/semantics.md."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import pytest
import shapes
from model import CLAUSES, READERS_CLAUSES, Model, Order, allowed, sequential, unconstrained
from program import STORES, Act, Program, Step, parse
from tables import document, entries

FOLDER = Path(__file__).parent


def pairs() -> list[Program]:
    """Each kind of access and of synchronisation, in rings of two processes."""
    alphabet = shapes.bodies("WwAaRrM", ("", "wait", "fence x"))
    rings = (shapes.Ring(group, layout, "") for group in itertools.combinations(alphabet, 2) for layout in ("one", "each"))
    found = [text.program() for text in map(shapes.text_of, rings) if text is not None]
    return found[::7]  # a sample of thousands: the whole takes a minute


PAIRS = pairs()


def inserted(program: Program, act: Act) -> Program:
    """The program with a step after each of its steps."""
    return replace(program, processes=tuple(tuple(part for step in steps for part in (step, Step(act)))
                                            for steps in program.processes))


def blocking(program: Program) -> Program:
    return replace(program, processes=tuple(tuple(replace(step, nonblocking=False) for step in steps)
                                            for steps in program.processes))


def test_the_sample_is_not_empty() -> None:
    assert len(PAIRS) > 500
    assert sum(allowed(program) != sequential(program) for program in PAIRS) > 100


def test_an_order_has_no_cycle() -> None:
    order = Order(4)
    assert order.add_all([(0, 1), (1, 2), (2, 3)]) and order.has(0, 3)
    assert not order.copy().add(3, 0) and not order.add(2, 2)


def test_what_sequential_consistency_allows_the_model_allows() -> None:
    assert [program for program in PAIRS if not sequential(program) <= allowed(program)] == []


def test_the_clauses_only_forbid() -> None:
    assert [program for program in PAIRS if not allowed(program) <= unconstrained(program)] == []


NAMED = [form for entry in entries() for program in [parse(entry["places"], entry["processes"], entry["outcome"])]
         for form in ([program, program.nonblocking()] if entry.get("nonblocking", True) else [program])]
MEETING = [parse("x@A y@B", ["x=1; barrier; r1=y", "~y=1; barrier; r2=x"], "r1 r2"),
           parse("x@A y@B", ["~x=1; fence x; send 1", "recv 0; r1=x"], "r1")]


@pytest.mark.parametrize("clause", [*CLAUSES, *READERS_CLAUSES])
def test_each_clause_forbids_something(clause: str) -> None:
    assert any(Model(program, dropped=frozenset({clause})).outcomes() != allowed(program)
               for program in [*NAMED, *MEETING, *PAIRS])


@pytest.mark.parametrize(("places", "processes", "registers", "outcome"), [
    ("x@A f@B", ["x=1; f=1", "r1=f; r2=x"], "r1 r2", (1, 0)),  # ORD-2
    ("x@A f@A", ["~x=1; wait; f=1", "r1=f; r2=x"], "r1 r2", (1, 0)),  # ORD-3
    ("x@A f@A", ["x=1; ~f=1", "r1=f; r2=x"], "r1 r2", (1, 0)),
    ("x@A y@B f@C", ["y=1; x=1; fence x; f=1", "r1=f; r2=y"], "r1 r2", (1, 0)),  # fence x says nothing of y
    ("x@A y@B", ["x=1", "r1=x; fence y; y=1", "r2=y; r3=x"], "r1 r2 r3", (1, 1, 0)),  # only allfence is cumulative
    ("x@A y@B", ["x=1; r1=y", "y=1; r2=x"], "r1 r2", (0, 0)),
    ("x@A", ["x+=1", "r1=x+10"], "x", (1,)),  # an accumulate and an RMW are not atomic together
    ("x@A", ["x+=1", "x=2"], "x", (1,)),
    ("x@A", ["~x=1; wait; r1=x", "x=2"], "r1 x", (2, 1)),
    ("x@A y@B", ["x=1; r1=y+1", "r2=y+2; x=2"], "r1 r2 x", (0, 1, 1)),  # a store on its way is passed by another (D144)
    ("x@A", ["lock; x=1; unlock", "lock; r1=x; unlock", "lock; r2=x; unlock"], "r1 r2", (0, 0)),
    ("x@P1", ["x=1; notify 1; x=2; notify 1", "await 0; r1=x"], "r1", (1,)),
])
def test_freedoms_that_an_implementation_has(places: str, processes: list[str], registers: str, outcome: tuple[int, ...]) -> None:
    assert outcome in allowed(parse(places, processes, registers))


@pytest.mark.parametrize(("places", "processes", "registers", "outcome"), [
    ("x@A", ["x=1", "x=2", "r1=x; r2=x", "r3=x; r4=x"], "r1 r2 r3 r4", (1, 2, 2, 1)),  # LC-4
    ("x@A", ["r1=x+1; send 1", "recv 0; r2=x+1"], "r2", (0,)),  # RMW-2 in real time
    ("x@A", ["x=1; r1=x?5", "x=2"], "r1 x", (2, 1)),  # RMW-5 of a compare-and-swap that fails
    ("x@A g@B", ["x=1", "r1=x?5; allfence; g=1", "r2=g; r3=x"], "r1 r2 r3", (1, 1, 0)),  # FENCE-8 of one
    ("x@P1", ["x=1; notify 1; x=2; notify 1", "await 0; await 0; r1=x"], "r1", (1,)),  # the k-th wait, the k-th notify
    ("x@A y@B", ["x=1; barrier; r1=y", "~y=1; barrier; r2=x"], "r1 r2", (1, 0)),  # FENCE-4
    ("x@A", ["~x=1; wait; r1=x"], "r1", (0,)),  # ORD-4
])
def test_violations_that_the_model_sees(places: str, processes: list[str], registers: str, outcome: tuple[int, ...]) -> None:
    assert outcome not in allowed(parse(places, processes, registers))


def test_a_text_that_means_nothing_is_refused() -> None:
    for places, processes in (("x@A", ["~r1=x+1"]), ("x@A f@B", ["x,f=1"]), ("x@A y@A", ["r1=x", "y=r1"]),
                              ("x@A", ["r1=x; r1=x"]), ("x@A", ["~r1=x; x=r1"]), ("x@A", ["z=1"]), ("x@A", ["notify 5"])):
        with pytest.raises(ValueError):
            parse(places, processes, "")


def test_rings_that_differ_by_the_first_process_only_are_one() -> None:
    keys = [min(ring.turned()) for ring in itertools.islice(shapes.rings(), 20000)]
    assert len(set(keys)) == len(keys)


def test_fences_restore_sequential_consistency() -> None:
    """With a wait and an allfence after each step, where no put meets an atomic update (D39)."""
    checked = 0
    for program in PAIRS:
        if mixes_puts_and_updates(program):
            continue
        fenced = inserted(inserted(program, Act.WAIT), Act.ALL_FENCE)
        assert allowed(fenced) == sequential(fenced), fenced
        checked += 1
    assert checked > 100


def mixes_puts_and_updates(program: Program) -> bool:
    kinds: dict[str, set[bool | None]] = {}
    for steps in program.processes:
        for step in steps:
            if step.act in STORES:
                kind = {Act.ACCUMULATE: True, Act.FETCH_ADD: None}.get(step.act, False)
                kinds.setdefault(step.variable, set()).add(kind)
    return any(len(found) > 1 for found in kinds.values())


def test_critical_sections_with_a_fence_are_sequentially_consistent() -> None:
    """Programs without data races: each access under the mutex, and an allfence before the unlock."""
    for program in map(blocking, PAIRS[::4]):
        if mixes_puts_and_updates(program):
            continue
        locked = replace(program, processes=tuple(
            (Step(Act.LOCK), *steps, Step(Act.WAIT), Step(Act.ALL_FENCE), Step(Act.UNLOCK)) for steps in program.processes))
        whole = {outcome for turn in itertools.permutations(range(2)) for outcome in in_turn(program, turn)}
        assert allowed(locked) == whole, locked


def in_turn(program: Program, turn: tuple[int, ...]) -> set[tuple[int, ...]]:
    """One process after the other, each step complete before the next."""
    steps = list(program.processes)
    first, second = turn
    steps[first] = tuple(part for step in steps[first] for part in (step, Step(Act.WAIT), Step(Act.ALL_FENCE)))
    steps[second] = tuple(part for step in steps[second] for part in (step, Step(Act.WAIT), Step(Act.ALL_FENCE)))
    steps[first] = (*steps[first], Step(Act.SEND, process=second))
    steps[second] = (Step(Act.RECV, process=first), *steps[second])
    return allowed(replace(program, processes=tuple(steps)))


def test_nonblocking_forms_and_missing_fences_forbid_nothing_more() -> None:
    for program in PAIRS:
        assert allowed(blocking(program)) <= allowed(program), program
        bare = replace(program, processes=tuple(tuple(step for step in steps if step.act not in (Act.FENCE, Act.WAIT))
                                                for steps in program.processes))
        assert allowed(program) <= allowed(bare), program


@pytest.mark.parametrize("store", ["x=1", "~x=1", "x+=1", "~x+=1", "_=x+1"])
@pytest.mark.parametrize(("places", "fence", "link", "wait"), [
    ("x@P1", "", "notify 1", "await 0"),
    ("x@A", "fence x; ", "notify 1", "await 0"),
    ("x@A", "fence x; ", "send 1", "recv 0"),
    ("x@A", "", "barrier", "barrier"),
])
def test_release_edges_show_the_store(store: str, places: str, fence: str, link: str, wait: str) -> None:
    program = parse(places, [f"{store}; {fence}{link}", f"{wait}; r1=x"], "r1")
    assert allowed(program) == {(1,)}


def test_a_notification_is_no_fence_to_others() -> None:
    assert allowed(parse("x@A", ["x=1; notify 1", "await 0; r1=x"], "r1")) == {(0,), (1,)}


@pytest.mark.parametrize("count", [2, 3])
def test_blocking_accesses_to_one_variable_are_sequentially_consistent(count: int) -> None:
    for steps in itertools.product(["x=1", "x=2", "r1=x", "r2=x"], repeat=count):
        if len(set(steps)) < count:
            continue
        for cut in range(1, count):
            outcome = " ".join(sorted({step[:2] for step in steps if step.startswith("r")}) + ["x"])
            program = parse("x@A", ["; ".join(steps[:cut]), "; ".join(steps[cut:])], outcome)
            assert allowed(program) == sequential(program), program


def test_the_law_shows_what_the_model_says() -> None:
    law = (FOLDER.parent / "semantics.md").read_text()
    assert "\n".join(document()) + "\n\n" in law, "next: put the lines of `spec/model/tables.py document` into spec/semantics.md"


def test_programs_of_the_extension_put_with_a_flag_or_compare_and_swap() -> None:
    found = list(itertools.islice(shapes.extension_texts(), 600))
    flags = [text for text in found if any(",y=1" in step for step in text.processes)]
    assert len(flags) > 20 and len(found) - len(flags) > 400
    assert all(allowed(text.program()) <= unconstrained(text.program()) for text in found[::10])
