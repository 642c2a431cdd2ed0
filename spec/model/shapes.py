"""Litmus programs by the thousand: rings of conflicting accesses, as far as they tell models apart.

In a ring each process makes one or two accesses, and its last one conflicts with the first one of the next process. Or
it notifies, or sends a message to, the next process. Between its two accesses a process may wait, fence, or meet the
others in a barrier; or all processes hold a mutex. Its two stores may be one put with a flag. A ring is kept if the model
allows what a weaker or a stronger model does not, and if no wait, fence, barrier or mutex can be left out without another
result. Of those that differ by names and by the process that comes first, one is kept.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache

from model import allowed, sequential, unconstrained
from program import Program, parse

KINDS = {"W": "{x}={v}", "w": "~{x}={v}", "A": "{x}+={v}", "a": "~{x}+={v}", "R": "{r}={x}", "r": "~{r}={x}",
         "M": "{r}={x}+{v}", "C": "{r}={x}?{v}"}
STORING, READING = "WwAaMC", "RrMC"
NAMES = "xyzu"
# Between two stores: both are one call.
FLAG = "flag"


@dataclass(frozen=True, order=True)
class Body:
    """The accesses of a process, one letter of KINDS each, what comes between them, and how the next process follows:
    by a conflict, "notify" or "send"."""

    kinds: str
    between: str
    link: str


@dataclass(frozen=True, order=True)
class Ring:
    bodies: tuple[Body, ...]
    layout: str  # "one" target, "each" variable at its own, "next": at the process that is notified; "single" variable
    mutex: str  # "", "lock", or "fence": locked, with an allfence before the unlock

    def turned(self) -> Iterator[Ring]:
        for first in range(len(self.bodies)):
            yield Ring(self.bodies[first:] + self.bodies[:first], self.layout, self.mutex)


@dataclass(frozen=True, order=True)
class Text:
    places: str
    processes: tuple[str, ...]
    outcome: str

    def program(self) -> Program:
        return parse(self.places, list(self.processes), self.outcome)


def text_of(ring: Ring) -> Text | None:
    """None where a variable would have no store or no second access, or a flag a store besides."""
    size = len(ring.bodies)
    # The variable of each access: it stays along a conflict and changes within a process, unless there is one for all.
    moves = 1 if ring.layout == "single" else sum(len(body.kinds) == 2 or body.link != "" for body in ring.bodies)
    names, registers, at = list(NAMES[:max(moves, 1)]), itertools.count(1), 0
    used: dict[str, list[str]] = {}
    placed: dict[str, int] = {}
    flags: set[str] = set()
    processes, outcome = [], []
    for number, body in enumerate(ring.bodies):
        steps = []
        for position, kind in enumerate(body.kinds):
            if position == 1:
                at += 1
            name = names[at % len(names)]
            used.setdefault(name, []).append(kind)
            stores = sum(other in STORING for other in used[name])
            register = f"r{next(registers)}" if kind in READING else ""
            outcome += [register] if register else []
            # A sum of these values tells which of them it has.
            steps.append(KINDS[kind].format(x=name, v=1 << max(stores - 1, 0), r=register))
            if position == 0 and body.between not in ("", FLAG):
                steps.append(body.between.replace("fence x", f"fence {name}"))
            placed[name] = (number + 1) % size if body.link else placed.get(name, number)
        at += body.link != ""
        if body.between == FLAG:
            if not steps[0].endswith("=1"):  # the only value of the call
                return None
            steps, flags = [f"{steps[0].removesuffix('=1')},{name}=1"], flags | {name}
        steps = _linked(steps, number, size, ring)
        processes.append("; ".join(steps))
    for kinds in used.values():
        if len(kinds) < 2 or all(kind in "Rr" for kind in kinds):
            return None
    stored = {name: sum(kind in STORING for kind in kinds) for name, kinds in used.items()}
    if any(stored[name] > 1 for name in flags):
        return None
    outcome += [name for name, number in stored.items() if number > 1]
    letters = {name: {"one": "A", "single": "A", "each": "ABCD"[NAMES.index(name)], "next": f"P{placed[name]}"}[ring.layout] for name in used}
    return Text(" ".join(f"{name}@{letters[name]}" for name in used), tuple(processes), " ".join(outcome))


def _linked(steps: list[str], number: int, size: int, ring: Ring) -> list[str]:
    if ring.bodies[number].link:
        steps = [*steps, f"{ring.bodies[number].link} {(number + 1) % size}"]
    before = ring.bodies[number - 1].link
    if before:
        steps = [f"{'await' if before == 'notify' else 'recv'} {(number - 1) % size}", *steps]
    if ring.mutex:
        steps = ["lock", *steps, *(["allfence"] if ring.mutex == "fence" else []), "unlock"]
    return steps


Group = tuple[list[Body], ...]
Family = tuple[Group, tuple[str, ...], tuple[str, ...]]


def bodies(alphabet: str, betweens: tuple[str, ...], links: tuple[str, ...] = ("",)) -> list[Body]:
    """Those of one and of two accesses, without what does nothing after the first one."""
    found = []
    for kinds in (*alphabet, *map("".join, itertools.product(alphabet, repeat=2))):
        for between in betweens if len(kinds) == 2 else ("",):
            if ("fence x" in between and kinds[0] in "Rr") or ("wait" in between and kinds[0] not in "war"):
                continue
            found += [Body(kinds, between, link) for link in links]
    return found


def singles(alphabet: str) -> list[Body]:
    return [Body(kind, "", "") for kind in alphabet]


ALL = ("", "wait", "wait; allfence", "fence x", "allfence", "barrier")
WITHOUT_BARRIER = ALL[:-1]
FENCES = ("", "fence x", "allfence")
LINKS = ("notify", "send")
READERS = bodies("WrRM", FENCES)


def flagged(*kinds: str) -> list[Body]:
    """Puts with a flag, in each way that the next process may follow."""
    return [Body(stores, FLAG, link) for stores in kinds for link in ("", *LINKS)]


def with_flags(*kinds: str) -> tuple[Family, ...]:
    return (((flagged(*kinds), bodies("WwARrM", WITHOUT_BARRIER)), ("one",), ("", "lock")),
            ((flagged(*kinds), READERS, READERS), ("one",), ("",)))


# Bodies of each process, places of the variables, and whether a mutex is held.
FAMILIES: tuple[Family, ...] = (
    ((bodies("WwARrM", ALL),) * 2, ("one", "each"), ("",)),
    ((bodies("WwRM", WITHOUT_BARRIER),) * 2, ("one", "each"), ("lock", "fence")),
    ((bodies("WwR", WITHOUT_BARRIER), bodies("WwAR", WITHOUT_BARRIER, LINKS)), ("one", "each", "next"), ("",)),
    ((bodies("WwAaRM", ("", "fence x")),) * 2, ("single",), ("",)),
    ((bodies("WR", ("", "allfence")),) * 3, ("single",), ("",)),
    ((bodies("W", ("",)), bodies("W", ("",)), bodies("R", ("",)), bodies("R", ("",))), ("single",), ("",)),
    ((bodies("WwR", FENCES),) * 3, ("one", "each"), ("",)),
    ((bodies("WM", ("",)), bodies("WAR", ("",)), bodies("aRM", ("",))), ("one", "each"), ("",)),
    ((bodies("WR", ALL), bodies("WR", FENCES, LINKS), bodies("WR", FENCES, ("", *LINKS))), ("one", "each", "next"), ("",)),
    ((bodies("WR", ("", "allfence")),) * 4, ("each",), ("",)),
    *with_flags("WW"),
)
# With compare-and-swap, and with puts with a signal in place of those with a flag.
EXTENSION_FAMILIES: tuple[Family, ...] = (
    ((bodies("C", ("", "fence x")), bodies("WwARM", ("", "wait", "fence x"))), ("single",), ("",)),
    ((bodies("CR", ("",)), bodies("WCR", ("", "fence x"))), ("single", "one", "each"), ("",)),
    ((bodies("C", ("",)), bodies("WC", ("", "fence x"), LINKS)), ("one", "each", "next"), ("",)),
    ((bodies("CR", ("",)), bodies("WC", ("",)), bodies("WR", ("", "fence x"))), ("one", "each"), ("",)),
    ((singles("C"), singles("CW"), bodies("CR", ("",))), ("single",), ("",)),
    ((singles("C"), singles("CW"), bodies("R", ("",)), bodies("R", ("",))), ("single",), ("",)),
    *with_flags("WW", "ww"),
)


def rings(families: Iterable[Family] = FAMILIES) -> Iterator[Ring]:
    """All rings within the bounds, one of each that differ only by the process that comes first."""
    known: set[Ring] = set()
    for groups, layouts, mutexes in families:
        for group in itertools.product(*groups):
            if len({body.between == "barrier" for body in group}) > 1:
                continue
            for layout, mutex in itertools.product(layouts, mutexes):
                ring = Ring(group, layout, mutex)
                first = min(ring.turned())
                if first not in known:
                    known.add(first)
                    yield ring


def simpler(ring: Ring) -> Iterator[Ring]:
    """The ring without one of its steps of synchronisation."""
    def with_between(numbers: Iterable[int], between: str) -> Ring:
        changed = [replace(body, between=between) if number in numbers else body for number, body in enumerate(ring.bodies)]
        return replace(ring, bodies=tuple(changed))

    everywhere = range(len(ring.bodies))
    if ring.bodies[0].between == "barrier":
        yield with_between(everywhere, "")
        return
    for number, body in enumerate(ring.bodies):
        if body.between:
            for less in {"wait; allfence": ("wait", "allfence"), FLAG: ()}.get(body.between, ("",)):
                yield with_between([number], less)
    if ring.mutex:
        yield replace(ring, mutex="lock" if ring.mutex == "fence" else "")


@cache
def allowed_of(text: Text) -> frozenset[tuple[int, ...]]:
    return frozenset(allowed(text.program()))


@cache
def sequential_of(text: Text) -> frozenset[tuple[int, ...]]:
    return frozenset(sequential(text.program()))


def tells_apart(ring: Ring, text: Text) -> bool:
    """Whether each wait, fence, barrier and mutex changes what is allowed, and some other model allows something else."""
    without = (text_of(other) for other in simpler(ring))
    if any(other is not None and allowed_of(other) == allowed_of(text) for other in without):
        return False
    return allowed_of(text) != sequential_of(text) or allowed_of(text) != unconstrained(text.program())


def texts(families: Iterable[Family] = FAMILIES) -> Iterator[Text]:
    """The programs, each once."""
    known = set()
    for ring in rings(families):
        text = text_of(ring)
        if text is not None and text not in known and tells_apart(ring, text):
            known.add(text)
            yield text


def extension_texts() -> Iterator[Text]:
    """Those of EXTENSION_FAMILIES with a compare-and-swap or a flag."""
    return (text for text in texts(EXTENSION_FAMILIES) if any(mark in step for step in text.processes for mark in "?,"))
