"""Functions in the public headers of other ARMCIs are exported here, or the table of the chapter COMPAT says why not.

spec/declared_elsewhere.txt: a line for each function, with the libraries whose headers declare it: ARMCI and ComEx as Global
Arrays 5.9.2 has them, with comex.h below and gpc.h beside, and ARMCI-MPI of July 2026; and `absent` if the table has it.
"""

from __future__ import annotations

import fnmatch
import itertools
import re

from armci_tool.repository import ROOT, SEMANTICS_FILE
from generated import generated

DECLARED = {words[0]: words[1:] for words in map(str.split, (ROOT / "spec" / "declared_elsewhere.txt").open())}


def exported() -> set[str]:
    """The names that the shared libraries export; that they do is tested where they are built."""
    return set(re.findall(r"^ +(\w+);$", generated("libarmci.map"), re.MULTILINE))


def left_out() -> list[str]:
    """The names in the first column of the table; one may stand for all that begin as it does, `name_*`."""
    table = re.search(r"Names that are not exported:\n(.*?)\n## ", SEMANTICS_FILE.read_text(), re.DOTALL)
    assert table
    cells = re.findall(r"^\| ([^|]*) \|", table.group(1), re.MULTILINE)
    return [str(name) for name in re.findall(r"`(\w+\*?)`", " ".join(cells))]


def test_each_name_is_exported_or_its_absence_is_explained() -> None:
    assert len(DECLARED) > 260
    absent = {name: fnmatch.filter(DECLARED, name) for name in left_out()}
    assert all(absent.values()), "a name that no library declares needs no row"
    assert set(DECLARED) - exported() == set(itertools.chain(*absent.values()))
    assert {name for name, words in DECLARED.items() if "absent" in words} == set(DECLARED) - exported()
