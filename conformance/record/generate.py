"""Makes the list of recorded calls of the table of functions: generate.py calls|options api_table.h."""

from __future__ import annotations

import re
import sys
from pathlib import Path

# A program that defines a call of its own is a matter of the extensions; foreign libraries have the classic calls only.
_CLASSIC = ("ARMCI_", "armci_")
# The clock is no operation, and some tests read it all the time.
_LEFT_OUT = {"armci_timer"}


def rows(table: str) -> list[tuple[str, str, str, str]]:
    """Result, name, parameters and arguments of each classic call."""
    text = re.sub(r"\s*\\\n\s*", " ", table)
    found = re.findall(r"\bX\(([^,()]+), \w+, (\w+), (\((?:[^()]|\([^()]*\))*\)), (\([^()]*\))\)", text)
    return [(result, name, parameters, arguments) for result, name, parameters, arguments in found
            if name.startswith(_CLASSIC) and name not in _LEFT_OUT]


def main() -> int:
    """Prints one of the two lists."""
    kind, table = sys.argv[1], Path(sys.argv[2]).read_text(encoding="utf-8")
    for result, name, parameters, arguments in rows(table):
        print(f"-Wl,--wrap={name}" if kind == "options" else f"RECORDED({result}, {name}, {parameters}, {arguments})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
