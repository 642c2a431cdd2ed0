"""The memory model of spec/semantics.md as a definition that can be executed: which outcomes does a program allow?

An execution of a program is a choice of an order of the stores to each variable, of the store that each read sees, and
of the order in which processes take the mutex. The clauses say which events come before which others. An outcome is
allowed if some execution gives it in which no event comes before itself.

Events of a program:

    begin(s), end(s)   a step is issued, and returns
    done(s)            a non-blocking step is locally complete: the end of its wait, or of the text
    look(s)            a read takes its value; an atomic operation takes the value before
    base(s)            an atomic operation or an accumulate takes the value that it updates
    seen(w, p)         process p sees a store w, or a later one to the variable, from now on; p may be `memory`, where
                       atomic operations and accumulates look

`Rules` has the edges that depend on the program alone, each with its clause; `Execution` adds those of the choices.
Sequential consistency is the same enumeration with one observer, in which each step is one event.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from program import ATOMIC, READS, STORES, Act, Program, Step

MEMORY = -1  # an observer
INITIAL = -1  # the store of the first value


class Order:
    """A strict partial order of numbered events, closed under transitivity."""

    def __init__(self, size: int) -> None:
        self._after = [0] * size

    def copy(self) -> Order:
        other = Order(0)
        other._after = self._after.copy()
        return other

    def add(self, first: int, second: int) -> bool:
        """Puts `first` before `second`; False if `second` comes before `first` already."""
        after = self._after
        if first == second or after[second] >> first & 1:
            return False
        if after[first] >> second & 1:
            return True
        gained = after[second] | 1 << second
        mark = 1 << first
        after[first] |= gained
        self._after = [later | gained if later & mark else later for later in after]
        return True

    def add_all(self, edges: Iterable[tuple[int, int]]) -> bool:
        return all(itertools.starmap(self.add, edges))

    def has(self, first: int, second: int) -> bool:
        return bool(self._after[first] >> second & 1)


@dataclass(frozen=True)
class Access:
    """A step of a process with one variable. A store with a flag is two of them."""

    process: int
    index: int
    step: Step
    variable: str
    value: int
    is_flag: bool = False

    @property
    def step_id(self) -> tuple[int, int]:
        return self.process, self.index


def accesses(program: Program) -> list[Access]:
    found = []
    for process, steps in enumerate(program.processes):
        for index, step in enumerate(steps):
            if step.act in STORES | READS:
                found.append(Access(process, index, step, step.variable, step.value))
            if step.flag:
                found.append(Access(process, index, step, step.flag, step.value, is_flag=True))
    return found


class Events:
    """The numbers of all events."""

    def __init__(self, program: Program, stores: list[Access], sequential: bool) -> None:
        self._count = itertools.count()
        self.begin, self.end, self.done = {}, {}, {}
        for process, steps in enumerate(program.processes):
            for index in range(len(steps)):
                self.begin[process, index] = next(self._count)
                self.end[process, index] = next(self._count)
            last = next(self._count)
            for index, step in enumerate(steps):
                waits = [i for i in range(index, len(steps)) if steps[i].act is Act.WAIT]
                completes = not step.nonblocking or sequential
                self.done[process, index] = (self.end[process, index] if completes
                                             else self.end[process, waits[0]] if waits else last)
            self.done[process, len(steps)] = last
        self.observers = [MEMORY] if sequential else [MEMORY, *range(len(program.processes))]
        self.sequential = sequential
        self.seen = {(number, observer): next(self._count)
                     for number in range(len(stores)) for observer in self.observers}
        self.look, self.base = {}, {}
        for access in accesses(program):
            if access.is_flag:
                continue
            if access.step.act in READS:
                self.look[access.step_id] = next(self._count)
            if access.step.act in ATOMIC or access.step.act is Act.ACCUMULATE:
                self.base[access.step_id] = next(self._count)
        self.size = next(self._count)

    def observer(self, process: int) -> int:
        return MEMORY if self.sequential else process


class Rules:
    """The edges that the program alone makes: (first event, second event, clause or "" for what a call is)."""

    def __init__(self, program: Program, stores: list[Access], events: Events) -> None:
        self._program, self._stores, self._events = program, stores, events

    def edges(self) -> Iterator[tuple[int, int, str]]:
        yield from self._steps()
        yield from self._stores_of_one()
        yield from self._between_stores()
        yield from self._fences()
        yield from self._notifications()
        yield from self._messages_and_barriers()

    def _all_seen(self, number: int, event: int, clause: str) -> Iterator[tuple[int, int, str]]:
        for observer in self._events.observers:
            yield self._events.seen[number, observer], event, clause

    def _steps(self) -> Iterator[tuple[int, int, str]]:
        ev = self._events
        for process, steps in enumerate(self._program.processes):
            for index, step in enumerate(steps):
                here = process, index
                yield ev.begin[here], ev.end[here], ""
                following = ev.begin[process, index + 1] if index + 1 < len(steps) else ev.done[process, len(steps)]
                yield ev.end[here], following, ""
                clause = "CMPL-3" if step.nonblocking else "RMW-2" if step.act in ATOMIC else "CMPL-2"
                if here in ev.look:
                    yield ev.begin[here], ev.look[here], ""
                    yield ev.look[here], ev.done[here], clause
                if here in ev.base:
                    yield ev.look.get(here, ev.begin[here]), ev.base[here], ""

    def _stores_of_one(self) -> Iterator[tuple[int, int, str]]:
        ev = self._events
        for number, store in enumerate(self._stores):
            here = store.step_id
            for observer in ev.observers:
                yield ev.begin[here], ev.seen[number, observer], ""
                if here in ev.base:
                    yield ev.base[here], ev.seen[number, observer], ""
                if observer != MEMORY:
                    yield ev.seen[number, MEMORY], ev.seen[number, observer], "LC-4"
            if store.step.act in ATOMIC:
                yield ev.seen[number, MEMORY], ev.end[here], "RMW-2"
            if ev.sequential:
                yield ev.seen[number, MEMORY], ev.end[here], ""
            yield from self._own_reads(number, store)
            if store.is_flag:
                for observer in ev.observers:  # the store before it in the list is that of the data
                    yield ev.seen[number - 1, observer], ev.seen[number, observer], "ORD-5"

    # A later read of the process takes the value of a blocking store, or of a later store to the variable.
    def _own_reads(self, number: int, store: Access) -> Iterator[tuple[int, int, str]]:
        for read in accesses(self._program):
            later = read.process == store.process and read.index > store.index and read.variable == store.variable
            if later and read.step.act is Act.READ and not read.is_flag and not store.step.nonblocking:
                own = self._events.seen[number, self._events.observer(store.process)]
                yield own, self._events.look[read.step_id], "RMW-5" if store.step.act in ATOMIC else "ORD-4"

    # Blocking stores of a process to one target, in the order of issue.
    def _between_stores(self) -> Iterator[tuple[int, int, str]]:
        ev, targets = self._events, self._program.targets
        for (i, first), (j, second) in itertools.combinations(enumerate(self._stores), 2):
            if first.process != second.process or targets[first.variable] != targets[second.variable]:
                continue
            if first.step_id == second.step_id or first.step.nonblocking or second.step.nonblocking:
                continue
            clause = "RMW-5" if ATOMIC & {first.step.act, second.step.act} else "ORD-1"
            if second.step_id in ev.base:
                yield ev.seen[i, MEMORY], ev.base[second.step_id], clause
            for observer in ev.observers:
                yield ev.seen[i, observer], ev.seen[j, observer], clause
        for (i, first), second in itertools.product(enumerate(self._stores), accesses(self._program)):
            follows = first.process == second.process and first.index < second.index and not first.step.nonblocking
            if follows and second.step.act in ATOMIC and targets[first.variable] == targets[second.variable]:
                yield ev.seen[i, MEMORY], ev.look[second.step_id], "RMW-5"  # a failed compare-and-swap too

    def _fences(self) -> Iterator[tuple[int, int, str]]:
        targets = self._program.targets
        for process, steps in enumerate(self._program.processes):
            for index, step in enumerate(steps):
                for number, store in enumerate(self._stores):
                    if store.process != process or store.index > index:
                        continue
                    if step.act is Act.FENCE and targets[store.variable] == targets[step.variable]:
                        yield from self._all_seen(number, self._events.end[process, index], "FENCE-1")
                    elif step.act is Act.ALL_FENCE:
                        yield from self._all_seen(number, self._events.end[process, index], "FENCE-2")

    # The k-th wait belongs to the k-th notify.
    def _notifications(self) -> Iterator[tuple[int, int, str]]:
        for notify, wait in self._pairs(Act.NOTIFY, Act.AWAIT):
            yield self._events.begin[notify], self._events.end[wait], "ORD-6"
            for number, store in enumerate(self._stores):
                if store.process == notify[0] and store.index < notify[1] and self._program.targets[
                        store.variable] == f"P{wait[0]}":
                    yield from self._all_seen(number, self._events.end[wait], "ORD-6")

    def _messages_and_barriers(self) -> Iterator[tuple[int, int, str]]:
        ev = self._events
        for send, receive in self._pairs(Act.SEND, Act.RECV):
            yield ev.begin[send], ev.end[receive], "LC-1"
        barriers = [[(process, index) for index, step in enumerate(steps) if step.act is Act.BARRIER]
                    for process, steps in enumerate(self._program.processes)]
        for meeting in zip(*barriers, strict=True):
            for one, other in itertools.product(meeting, meeting):
                if one != other:
                    yield ev.begin[one], ev.end[other], "FENCE-4"
                for number, store in enumerate(self._stores):
                    if store.process == one[0] and store.index < one[1]:
                        yield from self._all_seen(number, ev.end[other], "FENCE-4")

    def _pairs(self, first: Act, second: Act) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
        processes = range(len(self._program.processes))
        for one, other in itertools.permutations(processes, 2):
            begins = [(one, i) for i, step in enumerate(self._program.processes[one])
                      if step.act is first and step.process == other]
            ends = [(other, i) for i, step in enumerate(self._program.processes[other])
                    if step.act is second and step.process == one]
            if len(ends) > len(begins):
                raise ValueError(f"process {other} waits more often than process {one} calls")
            yield from zip(begins, ends)


@dataclass
class Execution:
    """The choices so far: for each look and base the number of a store, and the orders of the stores."""

    order: Order
    coherence: dict[str, tuple[int, ...]]
    look: dict[tuple[int, int], int]
    base: dict[tuple[int, int], int]


class Model:
    """Enumerates the executions of a program, without the edges of the clauses in `dropped`."""

    def __init__(self, program: Program, sequential: bool = False, dropped: frozenset[str] = frozenset()) -> None:
        self._program, self._dropped, self._sequential = program, dropped, sequential
        self._accesses = accesses(program)

    def outcomes(self) -> set[tuple[int, ...]]:
        """The outcomes that are allowed."""
        swaps = [access for access in self._accesses if access.step.act is Act.SWAP_ZERO]
        found = set()
        for stored in itertools.product((False, True), repeat=len(swaps)):
            idle = {swap.step_id for swap, stores in zip(swaps, stored) if not stores}
            found |= self._with_idle(idle)
        return found

    # `idle`: compare-and-swaps that store nothing.
    def _with_idle(self, idle: set[tuple[int, int]]) -> set[tuple[int, ...]]:
        self._idle = idle
        self._stores = [a for a in self._accesses if a.step.act in STORES and a.step_id not in idle]
        self._events = Events(self._program, self._stores, self._sequential)
        order = Order(self._events.size)
        edges = ((a, b) for a, b, clause in Rules(self._program, self._stores, self._events).edges()
                 if not clause or clause not in self._dropped)
        found: set[tuple[int, ...]] = set()
        if not order.add_all(edges):
            return found
        for locked in self._with_locks(order):
            for coherent, coherence in self._with_coherence(locked):
                for execution in self._with_sources(Execution(coherent, coherence, {}, {}), self._takers()):
                    outcome = self._outcome(execution)
                    if outcome is not None:
                        found.add(outcome)
        return found

    def _with_locks(self, order: Order) -> Iterator[Order]:
        sections = []  # of each process, its critical sections
        for process, steps in enumerate(self._program.processes):
            locks = [i for i, step in enumerate(steps) if step.act is Act.LOCK]
            unlocks = [i for i, step in enumerate(steps) if step.act is Act.UNLOCK]
            sections += [((process, i), (process, j)) for i, j in zip(locks, unlocks, strict=True)]
        if "MUTEX-2" in self._dropped or not sections:
            yield order
            return
        for turn in itertools.permutations(sections):
            ordered = order.copy()
            if ordered.add_all((self._events.begin[first[1]], self._events.end[second[0]])
                               for first, second in itertools.pairwise(turn)):
                yield ordered

    # All processes see the stores to a variable in one order.
    def _with_coherence(self, order: Order) -> Iterator[tuple[Order, dict[str, tuple[int, ...]]]]:
        by_variable: dict[str, list[int]] = {name: [] for name in self._program.targets}
        for number, store in enumerate(self._stores):
            by_variable[store.variable].append(number)
        found = [(order, dict[str, tuple[int, ...]]())]
        for variable, numbers in by_variable.items():
            found = [(ordered, chosen | {variable: turn}) for before, chosen in found
                     for turn in itertools.permutations(numbers) if (ordered := self._in_turn(before, turn))]
        yield from found

    def _in_turn(self, order: Order, turn: tuple[int, ...]) -> Order | None:
        seen = self._events.seen
        ordered = order.copy()
        good = ordered.add_all((seen[first, observer], seen[second, observer])
                               for first, second in itertools.pairwise(turn)
                               for observer in (self._events.observers if "LC-4" not in self._dropped else [MEMORY]))
        return ordered if good else None

    # The steps that take values, those that update (True) before those that read.
    def _takers(self) -> list[tuple[Access, bool]]:
        single = [access for access in self._accesses if not access.is_flag]
        return ([(access, True) for access in single if access.step_id in self._events.base and access.step_id not in self._idle]
                + [(access, False) for access in single if access.step_id in self._events.look])

    def _with_sources(self, execution: Execution, takers: list[tuple[Access, bool]]) -> Iterator[Execution]:
        if not takers:
            yield execution
            return
        access, updates = takers[0]
        for source in self._sources(execution, access, updates):
            order = execution.order.copy()
            if not order.add_all(self._source_edges(execution, access, updates, source)):
                continue
            kind = "base" if updates else "look"
            chosen = getattr(execution, kind) | {access.step_id: source}
            other = Execution(order, execution.coherence, execution.look, execution.base)
            setattr(other, kind, chosen)
            yield from self._with_sources(other, takers[1:])

    # The stores whose value may be taken, INITIAL among them.
    def _sources(self, execution: Execution, access: Access, updates: bool) -> tuple[int, ...]:
        turn = (INITIAL, *execution.coherence[access.variable])
        own = self._number_of(access)
        if own is None:
            return turn
        at = turn.index(own)
        if not updates:  # an atomic operation returns what it updates, or what came before a put that it missed
            return turn[self._atomic_floor(turn, at, access):turn.index(execution.base[access.step_id]) + 1]
        return turn[self._atomic_floor(turn, at, access):at]

    # No operation of the same kind comes between the value that one takes and its own [RMW-2, ACC-2].
    def _atomic_floor(self, turn: tuple[int, ...], at: int, access: Access) -> int:
        if self._sequential:
            return at - 1
        kind = access.step.act in ATOMIC
        clause = "RMW-2" if kind else "ACC-2"
        alike = [i for i in range(1, at) if clause not in self._dropped and self._stores[turn[i]].step_id in
                 self._events.base and (self._stores[turn[i]].step.act in ATOMIC) == kind]
        return alike[-1] if alike else 0

    def _number_of(self, access: Access) -> int | None:
        return next((n for n, store in enumerate(self._stores) if store.step_id == access.step_id), None)

    def _source_edges(self, execution: Execution, access: Access, updates: bool,
                      source: int) -> Iterator[tuple[int, int]]:
        ev = self._events
        at_memory = updates or access.step.act in ATOMIC
        observer = MEMORY if at_memory else ev.observer(access.process)
        event = (ev.base if updates else ev.look)[access.step_id]
        turn = (INITIAL, *execution.coherence[access.variable])
        if source != INITIAL:
            yield ev.seen[source, observer if updates else ev.observer(access.process)], event
        if at_memory or not {"ORD-4", "LC-4"} & self._dropped:
            yield from ((event, ev.seen[later, observer]) for later in turn[turn.index(source) + 1:])
        if not updates:
            yield from self._after_own(access, source, turn, ev.seen.get((source, observer), event))
        if not updates:
            yield from self._cumulative(access, source)

    # A value that was visible before an own store was issued is not taken after that store's completion.
    def _after_own(self, access: Access, source: int, turn: tuple[int, ...],
                   visible: int) -> Iterator[tuple[int, int]]:
        for later in turn[turn.index(source) + 1:]:
            if self._is_own_done(later, access):
                issued = self._events.begin[self._stores[later].step_id]
                yield issued, visible
                if source == INITIAL:  # visible from the beginning
                    yield visible, issued

    def _is_own_done(self, number: int, access: Access) -> bool:
        store = self._stores[number]
        if store.process != access.process or store.index >= access.index or "ORD-4" in self._dropped:
            return False
        steps = self._program.processes[access.process][store.index:access.index]
        return not store.step.nonblocking or any(step.act is Act.WAIT for step in steps)

    # A store that was read before an allfence, or a barrier, is visible to all after it [FENCE-8].
    def _cumulative(self, access: Access, source: int) -> Iterator[tuple[int, int]]:
        if source == INITIAL or "FENCE-8" in self._dropped:
            return
        steps = self._program.processes[access.process]
        for index in range(access.index + 1, len(steps)):
            completes = not access.step.nonblocking or any(
                step.act is Act.WAIT for step in steps[access.index:index])
            if steps[index].act in (Act.ALL_FENCE, Act.BARRIER) and completes:
                for observer in self._events.observers:
                    yield self._events.seen[source, observer], self._events.end[access.process, index]

    # The values of an execution; None if a compare-and-swap stores although it took no 0, or the other way round.
    def _outcome(self, execution: Execution) -> tuple[int, ...] | None:
        reads = {a.step.register: a for a in self._accesses if a.step.act in READS}

        def value_of(number: int) -> int:
            if number == INITIAL:
                return 0
            store = self._stores[number]
            if store.step.act is Act.FORWARD:
                return value_of(execution.look[reads[store.step.source].step_id])
            if store.step.act in (Act.ACCUMULATE, Act.FETCH_ADD):
                return value_of(execution.base[store.step_id]) + store.value
            return store.value

        for access in self._accesses:
            if access.step.act is Act.SWAP_ZERO:
                if (value_of(execution.look[access.step_id]) == 0) == (access.step_id in self._idle):
                    return None
        values = []
        for name in self._program.outcome:
            if name in self._program.targets:
                values.append(value_of((INITIAL, *execution.coherence[name])[-1]))
            else:
                values.append(value_of(execution.look[reads[name].step_id]))
        return tuple(values)


def allowed(program: Program) -> set[tuple[int, ...]]:
    """The outcomes that the clauses allow."""
    return Model(program).outcomes()


def sequential(program: Program) -> set[tuple[int, ...]]:
    """The outcomes of some order of all steps, each at once."""
    return Model(program, sequential=True).outcomes()


# The more special a clause is, the earlier. Those of the second line order a reader's own steps: they forbid much
# together with another clause, which says more.
CLAUSES = ("ORD-5", "ORD-6", "FENCE-8", "FENCE-1", "FENCE-2", "FENCE-4", "MUTEX-2", "ACC-2", "RMW-5", "RMW-2", "ORD-1")
READERS_CLAUSES = ("ORD-4", "LC-4", "LC-1", "CMPL-2")


def unconstrained(program: Program) -> set[tuple[int, ...]]:
    """The outcomes without any clause."""
    return Model(program, dropped=frozenset(CLAUSES + READERS_CLAUSES)).outcomes()


def forbidding(program: Program) -> dict[tuple[int, ...], str]:
    """The outcomes that clauses forbid: "A or B" where each of them alone does, else "A with B" where these two do, the
    earliest in their order. An outcome that no two clauses forbid is not there."""
    good = allowed(program)
    bad = unconstrained(program) - good
    found: dict[tuple[int, ...], str] = {}
    for pool, count in ((CLAUSES, 1), (CLAUSES, 2), (READERS_CLAUSES, 1), (CLAUSES + READERS_CLAUSES, 2)):
        if found.keys() == bad:
            break
        alone: dict[tuple[int, ...], list[str]] = {}
        for clauses in itertools.combinations(pool, count):
            for outcome in Model(program, dropped=frozenset(clauses)).outcomes() - good:
                alone.setdefault(outcome, []).append(" with ".join(clauses))
        for outcome, names in alone.items():
            found.setdefault(outcome, " or ".join(names) if count == 1 else names[0])
    return found
