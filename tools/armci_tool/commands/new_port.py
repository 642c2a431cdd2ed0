"""`new-port`: the beginning of a new implementation."""

from __future__ import annotations

from armci_tool import checks, new_port
from armci_tool.commands import options


@options.command("new-port", "tools/armci new-port mynet")
@options.argument("name", help="what the implementation is called: small letters, digits and dashes")
def execute(name: str) -> int:
    """Runs the command."""
    made = new_port.make(name)
    for path in made.files:
        print(f"wrote {checks.relative(path)}")
    print(f"added to {checks.relative(made.table)}:  {made.row}")
    folder = checks.relative(made.folder)
    print(f"""
next:
  1. read docs/porting.md and impl/runtime/transport.h
  2. write the members of level 1 in {folder}/transport.cc, then
     tools/armci conformance --impl {name} -n 2 --quick --level 1
  3. raise port_level in the row to what passes: tools/armci test holds the port to it from then on
to undo it: delete {folder} and the row""")
    return 0
