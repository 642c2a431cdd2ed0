"""Makes a new port: impl/template under another name, and a row in the table of implementations.

The words of the template that stand for the name of the port are `template`, in paths and texts, and `template_port`,
its namespace; no other word of it may be `template`, so that a copy needs nothing but the replacement.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from armci_tool.errors import ToolError
from armci_tool.repository import ROOT, implementation_table

TEMPLATE = "template"
# The files that a port begins with; the tests of the template are about the template.
FILES = ("BUILD", "transport.h", "transport.cc")

_NAME = re.compile(r"[a-z][a-z0-9-]*")
_WORD = re.compile(r"\btemplate(_port)?\b")
# Names that mean something already where an implementation is named, or that a target of the suite has.
_RESERVED = {"all": "--impl all means all implementations",
             "foreign": "that is the suite of libraries that are not ours",
             "objects": "the build uses it", "template": "new ports are copied from it"}
_TABLE = re.compile(r"^IMPLEMENTATIONS = \{\n(?:.*\n)*?(?=\}\n)", re.MULTILINE)


@dataclass(frozen=True)
class NewPort:
    """The files that the command wrote."""

    folder: Path
    files: tuple[Path, ...]
    table: Path
    row: str


def target_name(name: str) -> str:
    """As in the names of targets, and of the namespace."""
    return name.replace("-", "_")


def make(name: str, root: Path = ROOT) -> NewPort:
    """Writes the port, or raises ToolError and changes nothing."""
    table, folder = root / "impl" / "variants.bzl", root / "impl" / name
    if why := _objection(name, root):
        raise ToolError(f"{name!r} cannot be the name of a port", where=why,
                        next_step="give a name of small letters, digits and dashes that is not taken, such as ucx")
    sources = {file: root / "impl" / TEMPLATE / file for file in FILES}
    if missing := [str(path) for path in sources.values() if not path.exists()]:
        raise ToolError("the template of a port is incomplete", where=", ".join(missing) + " missing",
                        next_step="check out the whole repository")
    row = (f'"{name}": struct(library = "//impl/{name}:armci", spans_nodes = False, test_only = True, '
           "port_level = 0),")
    before = table.read_text()
    rows = _TABLE.search(before)
    if not rows:
        raise ToolError("cannot add a row to the table of implementations", next_step="mend it, or make the port by "
                        f"hand: copy impl/{TEMPLATE} and write the row\n    {row}", where="impl/variants.bzl has no "
                        "IMPLEMENTATIONS = {...} that ends with } on a line of its own")
    folder.mkdir()
    for file, path in sources.items():
        (folder / file).write_text(_WORD.sub(lambda word: f"{target_name(name)}_port" if word[1] else name,
                                             path.read_text()))
    # Behind the last row.
    table.write_text(f"{before[:rows.end()]}    {row}\n{before[rows.end():]}")
    return NewPort(folder, tuple(folder / file for file in FILES), table, row)


def _objection(name: str, root: Path) -> str:
    """Why no port can have this name; empty where one can."""
    if not _NAME.fullmatch(name):
        return "a name begins with a letter and has small letters, digits and dashes only"
    taken = {target_name(each.name) for each in implementation_table(root / "impl" / "variants.bzl")}
    if name not in _RESERVED and target_name(name) in taken:
        return "impl/variants.bzl has an implementation of that name"
    return _RESERVED.get(name, f"impl/{name} is there already" if (root / "impl" / name).exists() else "")
