"""Which module of the tool imports which."""

from __future__ import annotations

import ast
import re
import subprocess
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Iterator

from helpers import ARMCI

TOOLS = ARMCI.parent
HEAVY = ("rich", "pandas", "matplotlib", "jinja2", "scipy", "pydantic", "numpy")


def module_name(path: Path) -> str:
    """`armci_tool.commands` for armci_tool/commands/__init__.py."""
    return ".".join(path.relative_to(TOOLS).with_suffix("").parts).removesuffix(".__init__")


MODULES = {module_name(path): path for path in (TOOLS / "armci_tool").rglob("*.py")}


def imported(path: Path) -> Iterator[str]:
    """The modules of the tool that a file imports when it is imported itself."""
    for node in ast.parse(path.read_text()).body:
        named = [alias.name for alias in node.names] if isinstance(node, (ast.Import, ast.ImportFrom)) else []
        for name in named:
            whole = f"{node.module}.{name}" if isinstance(node, ast.ImportFrom) else name
            yield from {whole, whole.rpartition(".")[0]} & MODULES.keys()


def test_no_module_is_imported_by_what_it_imports() -> None:
    graph = {name: set(imported(path)) - {name, "armci_tool"} for name, path in MODULES.items()}
    assert "armci_tool.placement" in graph["armci_tool.launch"]
    order = list(TopologicalSorter(graph).static_order())
    assert order.index("armci_tool.git") < order.index("armci_tool.shards")


def test_help_imports_no_command_and_no_large_library() -> None:
    line = ["/usr/bin/python3", "-B", "-X", "importtime", "-m", "armci_tool", "--help"]
    done = subprocess.run(line, cwd=TOOLS, text=True, capture_output=True, check=True)
    loaded = set(re.findall(r"\| +([\w.]+)$", done.stderr, re.MULTILINE))
    assert "click.core" in loaded and "armci_tool.commands" in loaded
    assert not loaded & set(HEAVY)
    assert not [name for name in loaded if name.startswith("armci_tool.commands.")]
