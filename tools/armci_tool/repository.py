"""Where things are in the repository, and which implementations its table lists."""

from __future__ import annotations

import ast
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Iterator, Mapping, Optional

from armci_tool.errors import ToolError

ROOT = Path(__file__).resolve().parents[2]
PACKAGES_FILE = ROOT / "tools" / "packages.txt"
SEMANTICS_FILE = ROOT / "spec" / "semantics.md"
VARIANTS_FILE = ROOT / "impl" / "variants.bzl"
MUTATED_PORTS_FILE = ROOT / "impl" / "testing" / "mutants" / "ports.bzl"

# Results of a run, and Bazel's links: not sources.
_GENERATED = re.compile(r"^(bazel-.*|report|__pycache__|\.git|\.pytest_cache)$")


def source_files(root: Path = ROOT, *suffixes: str) -> Iterator[Path]:
    """Files of the source tree in a fixed order, those ending in one of `suffixes` if any is given."""
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not _GENERATED.match(name))
        for name in sorted(names):
            path = Path(folder) / name
            # Links of Bazel lead nowhere while it has built nothing.
            if (not suffixes or path.suffix in suffixes) and path.exists():
                yield path


@dataclass(frozen=True)
class Implementation:
    """A row of the table; `test_only` ones prove something to the tests and are nothing for users."""

    name: str
    test_only: bool = False
    spans_nodes: bool = False
    device: str = ""  # the device that it needs between nodes: "verbs", or nothing
    port_level: int = 5  # which level of docs/porting.md an unfinished port has reached; 0: none yet


def implementation_table(variants: Path = VARIANTS_FILE) -> list[Implementation]:
    """The table of implementations that the build stamps its targets from: IMPLEMENTATIONS = {"name": struct(...)}."""
    return [_row(key, value) for key, value in _table(variants, "IMPLEMENTATIONS")]


def mutated_ports(ports: Path = MUTATED_PORTS_FILE) -> tuple[str, ...]:
    """The implementations whose own sources have mutants: the names in PORTS = {"name": struct(...)}."""
    return tuple(str(getattr(key, "value", "")) for key, _ in _table(ports, "PORTS"))


def _table(file: Path, name: str) -> list[tuple[Optional[ast.expr], ast.expr]]:
    """The rows of a table of implementations in a file of the build."""
    if not file.exists():
        raise ToolError("cannot list the implementations", where=f"{file} is missing",
                        next_step="check out the whole repository")
    # Starlark's assignments and literals are also Python's.
    try:
        tree = ast.parse(file.read_text(), str(file))
    except SyntaxError as error:
        raise ToolError("cannot list the implementations", where=f"{file}, line {error.lineno}: {error.msg}",
                        next_step="mend that line") from error
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == name and isinstance(node.value, ast.Dict):
            return list(zip(node.value.keys, node.value.values))
    raise ToolError("cannot list the implementations", where=f"no table {name} = {{...}} in {file}",
                    next_step="restore the table, or check out the file anew")


def _row(key: Optional[ast.expr], value: ast.expr) -> Implementation:
    fields = {keyword.arg: keyword.value for keyword in getattr(value, "keywords", [])}

    def flag(name: str) -> bool:
        return bool(getattr(fields.get(name), "value", False))

    device = str(getattr(fields.get("device"), "value", ""))
    level = int(getattr(fields.get("port_level"), "value", Implementation.port_level))
    return Implementation(str(getattr(key, "value", "")), flag("test_only"), flag("spans_nodes"), device, level)


def device_of(name: str) -> str:
    """The device that an implementation needs between nodes; none for one that is not of the table."""
    return next((row.device for row in implementation_table() if row.name == name), "")


def implementations() -> list[str]:
    """Names of the implementations for users."""
    return [row.name for row in implementation_table() if not row.test_only]


def leaves_node(name: str) -> bool:
    """Whether an implementation can."""
    return any(row.name == name and row.spans_nodes for row in implementation_table())


def spans_nodes() -> bool:
    """Whether any of those for users can leave the node."""
    return any(row.spans_nodes for row in implementation_table() if not row.test_only)


def require_implementation(name: str) -> None:
    """Raises ToolError unless the table has it."""
    known = [row.name for row in implementation_table()]
    if name not in known:
        raise ToolError(f"there is no implementation {name!r}", next_step="use one of: " + ", ".join(known))


def require_for_users(name: str) -> None:
    """Raises ToolError as well for those that only the tests are linked with."""
    if name not in implementations():
        is_known = any(row.name == name for row in implementation_table())
        raise ToolError(f"{name} is for the tests: no program is linked with it" if is_known else f"there is no implementation {name!r}",
                        next_step="use one of: " + ", ".join(implementations()))


def choose_implementations(choice: str) -> list[str]:
    """`all` those for users, or one name that must be in the table."""
    if choice == "all":
        return implementations()
    require_implementation(choice)
    return [choice]
