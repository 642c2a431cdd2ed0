"""Makes a new port: impl/template under another name, and a row in the table of implementations.

The words of the template that stand for the name of the port are `template`, in paths and texts, and `template_port`, its
namespace; no other word of it may be `template`, so that a copy needs nothing but the replacement.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from armci_tool.errors import ToolError
from armci_tool.repository import ROOT, implementation_table

TEMPLATE = "template"
# What a port begins with; the tests of the template are about the template.
FILES = ("BUILD", "transport.h", "transport.cc")

_NAME = re.compile(r"[a-z][a-z0-9-]*")
_WORD = re.compile(r"\btemplate(_port)?\b")
# Names that mean something already where an implementation is named, or that a target of the suite has.
_RESERVED = {"all": "--impl all means all implementations", "foreign": "that is the suite of libraries that are not ours",
             "objects": "the build uses it", "template": "new ports are copied from it"}


@dataclass(frozen=True)
class NewPort:
    """What was written."""

    folder: Path
    files: tuple[Path, ...]
    table: Path
    row: str


def target_name(name: str) -> str:
    """As in the names of targets, and of the namespace."""
    return name.replace("-", "_")


def renamed(text: str, name: str) -> str:
    """A file of the template as the port has it."""
    return _WORD.sub(lambda match: f"{target_name(name)}_port" if match.group(1) else name, text)


def row(name: str) -> str:
    """The line of the table."""
    return (f'    "{name}": struct(library = "//impl/{name}:armci", nodes = [1], spans_nodes = False, test_only = True, '
            "port_level = 0),\n")


def make(name: str, root: Path = ROOT) -> NewPort:
    """Writes the port, or raises ToolError and changes nothing."""
    table = root / "impl" / "variants.bzl"
    _require_name(name, root)
    sources = {file: root / "impl" / TEMPLATE / file for file in FILES}
    missing = [str(path) for path in sources.values() if not path.exists()]
    if missing:
        raise ToolError("the template of a port is incomplete", where=", ".join(missing) + " missing",
                        next_step="check out the whole repository")
    texts = {file: renamed(path.read_text(), name) for file, path in sources.items()}
    changed = _with_row(table.read_text(), name)
    folder = root / "impl" / name
    folder.mkdir()
    for file, text in texts.items():
        (folder / file).write_text(text)
    table.write_text(changed)
    return NewPort(folder, tuple(folder / file for file in FILES), table, row(name).strip())


def _require_name(name: str, root: Path) -> None:
    def refuse(why: str) -> ToolError:
        return ToolError(f"{name!r} cannot be the name of a port", where=why,
                         next_step="give a name of small letters, digits and dashes that is not taken, such as ucx")

    if not _NAME.fullmatch(name):
        raise refuse("a name begins with a letter and has small letters, digits and dashes only")
    if name in _RESERVED:
        raise refuse(_RESERVED[name])
    taken = {target_name(each.name): each.name for each in implementation_table(root / "impl" / "variants.bzl")}
    if target_name(name) in taken:
        raise refuse("impl/variants.bzl has an implementation of that name")
    if (root / "impl" / name).exists():
        raise refuse(f"impl/{name} is there already")


def _with_row(text: str, name: str) -> str:
    """Behind the last row of the table."""
    table = re.search(r"^IMPLEMENTATIONS = \{\n(?:.*\n)*?(?=\}\n)", text, re.MULTILINE)
    if not table:
        raise ToolError("cannot add a row to the table of implementations",
                        where="impl/variants.bzl has no IMPLEMENTATIONS = {...} that ends with } on a line of its own",
                        next_step=f"mend it, or make the port by hand: copy impl/{TEMPLATE} and write the row\n{row(name)}")
    return text[:table.end()] + row(name) + text[table.end():]
