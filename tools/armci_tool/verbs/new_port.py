"""`new-port`: the beginning of a new implementation."""

from __future__ import annotations

import argparse

from armci_tool import checks, new_port
from armci_tool.verbs import make_parser


def add_parser(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Declares the verb."""
    made = make_parser(verbs, "new-port", "begin a new implementation: a copy of impl/template and a row in impl/variants.bzl",
                       "tools/armci new-port ucx", execute)
    made.add_argument("name", metavar="NAME", help="what the implementation is called: small letters, digits and dashes")


def execute(options: argparse.Namespace) -> int:
    """Runs the verb."""
    made = new_port.make(options.name)
    for path in made.files:
        print(f"wrote {checks.relative(path)}")
    print(f"added to {checks.relative(made.table)}:  {made.row}")
    folder = checks.relative(made.folder)
    print(f"""
next:
  1. read docs/porting.md and impl/common/transport.h
  2. write the members of level 1 in {folder}/transport.cc, then
     tools/armci conformance --impl {options.name} -n 2 --quick --level 1
  3. raise port_level in the row to what passes: tools/armci test holds the port to it from then on
to undo it: delete {folder} and the row""")
    return 0
