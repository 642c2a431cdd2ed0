"""Cases, steps and their counts; reading and writing JUnit XML."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field
from pathlib import Path
from typing import Iterable, Sequence

PASSED = "passed"
FAILED = "failed"
SKIPPED = "skipped"
# Failed, as a file known_failures.toml says it does.
KNOWN = "known"


@dataclass(frozen=True)
class Case:
    """One test and its outcome; `detail` says why it failed or was skipped."""

    name: str
    outcome: str
    seconds: float = 0.0
    detail: str = ""
    # The test's own report, by key.
    facts: tuple[tuple[str, str], ...] = ()
    # The command that repeats it; empty: its step's repeats it with others.
    rerun: str = ""
    # A file with a program that shows the failure, or the reason why there is none.
    program: str = ""
    no_program: str = ""


@dataclass
class Step:
    """A part of the test run, with the command that repeats it."""

    name: str
    cases: list[Case] = field(default_factory=list)
    seconds: float = 0.0
    rerun: str = ""

    def count(self, outcome: str) -> int:
        """How many cases ended that way."""
        return sum(case.outcome == outcome for case in self.cases)

    @property
    def ok(self) -> bool:
        """True when something ran and nothing failed."""
        return bool(self.cases) and self.count(FAILED) == 0

    def failures(self) -> list[Case]:
        """The failed cases."""
        return [case for case in self.cases if case.outcome == FAILED]

    def rerun_of(self, case: Case) -> str:
        """The shortest command that repeats one of its cases."""
        return case.rerun or self.rerun


def counts_line(steps: Iterable[Step]) -> str:
    """The last line of a test run."""
    cases = [case for step in steps for case in step.cases]
    numbers = [sum(case.outcome == outcome for case in cases) for outcome in (PASSED, FAILED, SKIPPED, KNOWN)]
    passed, failed, skipped, known = numbers
    # The last line has one form, for programs that read it: what fails as known counts as skipped there.
    files = "known_failures.toml of conformance/ and of integration/applications/"
    known_text = f"{known} known failures, of those skipped; see {files}\n" if known else ""
    return f"{known_text}{passed} passed, {failed} failed, {skipped + known} skipped"


def read_junit(path: Path) -> list[Case]:
    """The cases of a JUnit file. One that cannot be read is itself a failed case: tests were lost."""
    try:
        root = ElementTree.parse(path).getroot()
    except (OSError, ElementTree.ParseError) as error:
        return [Case(path.name, FAILED, detail=f"no readable results in {path}: {error}")]
    return [_case(element) for element in root.iter("testcase")]


def _case(element: ElementTree.Element) -> Case:
    name = ".".join(part for part in (element.get("classname"), element.get("name")) if part)
    seconds = float(element.get("time") or 0)
    facts = tuple((fact.get("name", ""), fact.get("value", "")) for fact in element.findall("properties/property"))
    problems = [child for child in element if child.tag in ("failure", "error")]
    if problems:
        detail = "\n".join((child.text or child.get("message") or "").strip() for child in problems)
        return Case(name, FAILED, seconds, detail, facts)
    skipped = element.find("skipped")
    if skipped is not None:
        return Case(name, SKIPPED, seconds, skipped.get("message") or (skipped.text or "").strip(), facts)
    if element.get("status") == "notrun" or element.get("result") == "suppressed":
        return Case(name, SKIPPED, seconds, "disabled or filtered out")
    return Case(name, PASSED, seconds, facts=facts)


def write_junit(path: Path, steps: Sequence[Step]) -> None:
    """One <testsuite> per step."""
    root = ElementTree.Element("testsuites")
    for step in steps:
        suite = ElementTree.SubElement(root, "testsuite", name=step.name, tests=str(len(step.cases)),
                                       failures=str(step.count(FAILED)),
                                       skipped=str(step.count(SKIPPED) + step.count(KNOWN)),
                                       time=f"{step.seconds:.3f}")
        for case in step.cases:
            classname, _, name = case.name.rpartition(".")
            element = ElementTree.SubElement(suite, "testcase", classname=classname or step.name, name=name,
                                             time=f"{case.seconds:.3f}")
            _write_facts(element, case.facts)
            if case.outcome == FAILED:
                ElementTree.SubElement(element, "failure", message=_first_line(case.detail)).text = _xml(case.detail)
            elif case.outcome in (SKIPPED, KNOWN):
                ElementTree.SubElement(element, "skipped", message=_first_line(case.detail))
    path.parent.mkdir(parents=True, exist_ok=True)
    ElementTree.ElementTree(root).write(path, encoding="unicode", xml_declaration=True)


def _write_facts(element: ElementTree.Element, facts: Iterable[tuple[str, str]]) -> None:
    if facts:
        properties = ElementTree.SubElement(element, "properties")
        for key, value in facts:
            ElementTree.SubElement(properties, "property", name=_xml(key), value=_xml(value))


def _first_line(text: str) -> str:
    return _xml(text.strip().splitlines()[0]) if text.strip() else ""


def _xml(text: str) -> str:
    """Output of a crashed program may hold bytes that XML cannot."""
    return "".join(c if c in "\n\t" or ord(c) >= 0x20 else "?" for c in text)
