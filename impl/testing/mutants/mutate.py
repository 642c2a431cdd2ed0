"""Makes sources with switches of a port's mutants: mutate.py FILE TOML... > FILE, or mutate.py table PORT TOML... > table.cc.

A mutant is an entry [[mutant]] of a TOML file:

    name, clause, description    as `tools/armci mutants` prints them
    file                         of the sources, from the root
    edits                        pairs: a text that is once in the file, and the text in its place: statements when it ends
                                 with `;`, an expression otherwise; a third part is text around the first, once in the file
    elsewhere                    edits of other files, after their names: pauses that make it easier to see
    tests                        the filter of the suite; the clause if absent
    processes, node_size         default 2 and 1, of simulated nodes; or
    nodes                        of a network, where a defect shows between them alone
    settings                     of the library
    hangs                        true: a deadline sees it
    ports                        of the engine's: those that it is run on; all if absent

A defect that no program can see is an entry [[explained]], which the tool prints: name, clause, description, reason; ports.

The text of the file stays as it is where no mutant is chosen.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path
from typing import Any

_HEADER = '#include "impl/testing/mutants/chosen.h"\n'


def read(paths: list[str], kind: str = "mutant") -> list[dict[str, Any]]:
    return [entry for path in paths for entry in tomllib.loads(Path(path).read_text()).get(kind, [])]


def mutated(text: str, file: str, mutants: list[dict[str, Any]]) -> str:
    """Raises ValueError for an edit whose text is not once in the file, or lies in that of another one."""
    places: dict[tuple[int, str], list[tuple[str, str]]] = {}
    for mutant in mutants:
        for original, instead, *around in _edits(mutant, file):
            context = around[0] if around else original
            if text.count(context) != 1 or context.count(original) != 1:
                raise ValueError(f"{mutant['name']}: {context!r} is {text.count(context)} times in {file}")
            places.setdefault((text.index(context) + context.index(original), original), []).append((mutant["name"], instead))
    spans = sorted(places)
    for (begin, one), (other_begin, other) in zip(spans, spans[1:]):
        if begin + len(one) > other_begin:
            raise ValueError(f"{other!r} lies in {one!r}")
    for begin, original in reversed(spans):
        text = text[:begin] + _switch(original, places[begin, original]) + text[begin + len(original):]
    return _HEADER + text


def _edits(mutant: dict[str, Any], file: str) -> list[list[str]]:
    own = mutant["edits"] if mutant["file"] == file else []
    return own + [edit for other, *edit in mutant.get("elsewhere", []) if other == file]


def _switch(original: str, ways: list[tuple[str, str]]) -> str:
    if original.rstrip().endswith(";"):
        return "".join(f'if (IS_MUTANT("{name}")) {{ {instead} }} else ' for name, instead in ways) + f"{{ {original} }}"
    return "(" + "".join(f'IS_MUTANT("{name}") ? ({instead}) : ' for name, instead in ways) + f"({original}))"


def table(mutants: list[dict[str, Any]], explained: list[dict[str, Any]]) -> str:
    """The source with the lines that the suite prints for `list`."""
    rows = [[mutant["name"], mutant["clause"], str(mutant.get("processes", 2)), _traits(mutant),
             mutant.get("tests", mutant["clause"]), mutant["description"]] for mutant in mutants]
    rows += [[one["name"], one["clause"], "2", "explained", one["clause"], f"{one['description']}: {one['reason']}"] for one in explained]
    lines = ['    "' + "\\t".join(field.replace("\\", "\\\\").replace('"', '\\"') for field in row) + '\\n"' for row in rows]
    return ('#include "impl/testing/mutants/chosen.h"\n\nnamespace armci::mutants {\n\nconst char* TableText() {\n  return\n'
            + "\n".join(lines) + ";\n}\n\n}  // namespace armci::mutants\n")


def _traits(mutant: dict[str, Any]) -> str:
    place = f"nodes={mutant['nodes']}" if "nodes" in mutant else f"node_size={mutant.get('node_size', 1)}"
    settings = [f"{name}={value}" for name, value in mutant.get("settings", {}).items()]
    return ",".join([place, *(["hangs"] if mutant.get("hangs") else []), *settings])


def _of_port(entries: list[dict[str, Any]], port: str) -> list[dict[str, Any]]:
    return [entry for entry in entries if port in entry.get("ports", [port])]


def main(what: str, *words: str) -> None:
    if what == "table":
        port, *tomls = words
        print(table(_of_port(read(tomls), port), _of_port(read(tomls, "explained"), port)), end="")
        return
    mutants = read(list(words))
    names = [mutant["name"] for mutant in mutants]
    if len(set(names)) < len(names):
        raise ValueError(f"two mutants of one name: {sorted(names)}")
    print(mutated(Path(what).read_text(), what, mutants), end="")


if __name__ == "__main__":
    main(*sys.argv[1:])
