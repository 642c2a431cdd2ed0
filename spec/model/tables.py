"""Makes C++ of the programs and of the outcomes that the model allows.

    tables.py programs classic|extension    the named programs of programs.toml, as a source file
    tables.py shapes classic|extension      the programs of shapes.py, as a source file with one text
    tables.py document                      the table of the named programs in spec/semantics.md
    tables.py outcomes PLACES REGISTERS PROCESS...
                                            the outcomes of one program, with the clauses that forbid some
"""

from __future__ import annotations

import itertools
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import shapes
from model import allowed, forbidding, sequential
from program import Program, parse

_HEAD = """\
// Made by spec/model/tables.py.
#include "conformance/litmus/{header}"

namespace conformance::litmus {{
"""
_STORES = {"put": "kPut", "put or accumulate": "kPutOrAcc", "accumulate": "kAcc", "none": "kNone",
           "contiguous flag": "kContiguousFlag", "contiguous or strided flag": "kContiguousOrStridedFlag"}
_CALLS = {"PutFlag": "{PutFlag, nullptr}", "PutSignal": "{PutSignal, nullptr}", "SwapZero": "{nullptr, SwapZero}"}


def _values(outcome: tuple[int, ...]) -> str:
    return " ".join(map(str, outcome))


def verdicts(program: Program) -> Iterator[tuple[str, str, str]]:
    """(outcome, grade, clauses): what sequential consistency has too, what the clauses allow besides, what they forbid."""
    simple = sequential(program)
    yield from ((_values(outcome), "acceptable", "") for outcome in sorted(simple))
    yield from ((_values(outcome), "interesting", "") for outcome in sorted(allowed(program) - simple))
    for outcome, clauses in sorted(forbidding(program).items()):
        yield _values(outcome), "forbidden", clauses


def _table(program: Program | None) -> str:
    found = verdicts(program) if program is not None else ()
    return "{" + ",\n   ".join(f'{{"{values}", Grade::k{grade.capitalize()}, "{clauses}"}}' for values, grade, clauses in found) + "}"


def _strings(texts: list[str]) -> str:
    return "{" + ", ".join(f'"{text}"' for text in texts) + "}"


def named(entry: dict[str, Any]) -> str:
    """The initialiser of a Litmus."""
    program = parse(entry["places"], entry["processes"], entry["outcome"])
    clauses = entry["clauses"]
    fields = [f'"{entry["name"]}"', f'"{clauses[0].partition("-")[0]}"', f'"{clauses[0].replace("-", "")}"', _strings(clauses),
              f'"{entry["places"]}"', _strings(entry["processes"]), f'"{entry["outcome"]}"', _table(program),
              _table(program.nonblocking() if entry.get("nonblocking", True) else None),
              f'Stores::{_STORES[entry.get("stores", "put or accumulate")]}', str(entry.get("loads", True)).lower(),
              str(entry.get("all_sizes", True)).lower(), _strings(entry.get("needs", [])), _CALLS.get(entry.get("call", ""), "{}")]
    return "  {" + ",\n   ".join(fields) + "}"


def entries() -> list[dict[str, Any]]:
    """The named programs, as programs.toml has them."""
    found: list[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("programs.toml").read_text())["program"]
    return found


def _programs(extension: bool) -> str:
    chosen = [named(entry) for entry in entries() if entry.get("extension", False) == extension]
    name = "ExtensionPrograms" if extension else "Programs"
    return (_HEAD.format(header="program.h") + f"\nconst std::vector<Litmus>& {name}() {{\n"
            + "  static const std::vector<Litmus> programs{\n" + ",\n".join(chosen)
            + "};\n  return programs;\n}\n\n}  // namespace conformance::litmus\n")


def _cell(program: Program) -> str:
    found = list(verdicts(program))
    free = [values for values, grade, _ in found if grade == "interesting"]
    texts = [f"interesting: {'; '.join(free)}"] if free else []
    by_clauses = itertools.groupby(sorted((clauses, values) for values, grade, clauses in found if grade == "forbidden"),
                                   key=lambda pair: pair[0])
    for clauses, group in by_clauses:
        values = [value for _, value in group]
        texts.append(f"{clauses}: {'; '.join(values) if len(values) <= 4 else f'{len(values)} outcomes'}")
    return "<br>".join(texts)


def document() -> list[str]:
    """The lines of a table: program, its text, and what is interesting and forbidden in each of its forms."""
    lines = ["| program | steps | registers | blocking | non-blocking |", "|---|---|---|---|---|"]
    for entry in entries():
        program = parse(entry["places"], entry["processes"], entry["outcome"])
        steps = "<br>".join(f"`{text}`" for text in entry["processes"])
        free = _cell(program.nonblocking()) if entry.get("nonblocking", True) else ""
        lines.append(f"| {entry['name']} | {entry['places']}<br>{steps} | {entry['outcome']} | {_cell(program)} | {free} |")
    return lines


def shape_line(text: shapes.Text) -> str:
    """places | processes... | outcome | allowed outcomes, those that sequential consistency has not marked by `i`"""
    simple = shapes.sequential_of(text)
    outcomes = [_values(outcome) + ("" if outcome in simple else " i") for outcome in sorted(shapes.allowed_of(text))]
    return " | ".join([text.places, *text.processes, text.outcome, ", ".join(outcomes)])


def _shapes(extension: bool) -> str:
    name, texts = ("ExtensionShapeTexts", shapes.extension_texts()) if extension else ("ShapeTexts", shapes.texts())
    lines = (f'    "{shape_line(text)}\\n"' for text in texts)
    return (_HEAD.format(header="shapes.h") + f"\nconst char* {name}() {{\n  return\n" + "\n".join(lines)
            + ";\n}\n\n}  // namespace conformance::litmus\n")


def _outcomes(places: str, registers: str, *processes: str) -> str:
    program = parse(places, list(processes), registers)
    return "".join(f"{registers}: {values}  {grade} {clauses}\n" for values, grade, clauses in verdicts(program))


def main(arguments: list[str]) -> None:
    match arguments:
        case ["shapes", kind]:
            made = _shapes(kind == "extension")
        case ["programs", kind]:
            made = _programs(kind == "extension")
        case ["document"]:
            made = "\n".join(document()) + "\n"
        case ["outcomes", places, registers, *processes]:
            made = _outcomes(places, registers, *processes)
        case _:
            raise SystemExit(__doc__)
    print(made, end="")


if __name__ == "__main__":
    main(sys.argv[1:])
