"""docs/environment.md: every variable that the libraries read, from what armci_info says of each implementation."""

from __future__ import annotations

import json
from typing import Mapping, Sequence

from armci_tool import bazel, launch
from armci_tool.errors import ToolError
from armci_tool.repository import ROOT, implementations

PAGE = ROOT / "docs" / "environment.md"
COMMAND = "tools/armci info --reference"
_TIME_LIMIT_S = 60.0

Setting = Mapping[str, str]

_HEAD = """\
# Environment

After this page you can look up every variable that the libraries read. `ARMCI_Init` refuses a value that it cannot
read, and names the variable and its range. It warns of an unknown variable whose name begins with `ARMCI_`. Sizes take
K, M, G. `armci_info` prints the values in force. Made by `{command}` from the tables of the
libraries; a test holds it against them.
"""


def settings(name: str, configuration: bazel.Configuration) -> list[Setting]:
    """Of an implementation, as it says itself; the user's own settings do not matter."""
    binary = bazel.built("//tools:armci_info" + bazel.target_suffix(name), configuration)
    job = launch.Launch((str(binary), "--json"), 1, configuration.mpi, configuration.environment())
    made = launch.start(job, timeout_s=_TIME_LIMIT_S)
    if not made.ok:
        raise ToolError(f"armci_info of {name} failed", where=made.tail(10),
                        next_step="mend the fault that its last lines name")
    found: list[Setting] = json.loads(made.output[made.output.index("{"):])["settings"]
    return found


def render(by_implementation: Mapping[str, Sequence[Setting]]) -> str:
    """The page. What all have comes first, then what only some have."""
    names = list(by_implementation)
    owners: dict[str, list[str]] = {}
    rows: dict[str, Setting] = {}
    for name, found in by_implementation.items():
        for one in found:
            owners.setdefault(one["name"], []).append(name)
            rows.setdefault(one["name"], one)
    groups: dict[tuple[str, ...], list[str]] = {}
    for setting, having in sorted(owners.items()):
        groups.setdefault(tuple(having), []).append(_row(rows[setting]))
    parts = [_HEAD.format(command=COMMAND)]
    for group in sorted(groups, key=lambda group: (-len(group), names.index(group[0]))):
        parts += ["## " + ("All implementations" if len(group) == len(names) else ", ".join(group)), "",
                  "| variable | default | unit | |", "|---|---|---|---|", *groups[group], ""]
    return "\n".join(parts)


def current(configuration: bazel.Configuration) -> str:
    """The page as it should be."""
    return render({name: settings(name, configuration) for name in implementations()})


def _row(one: Setting) -> str:
    default = f"`{one['default']}`" if one["default"] else "empty"
    return f"| `{one['name']}` | {default} | {one['unit']} | {one['text'].replace('|', ' or ')} |"
