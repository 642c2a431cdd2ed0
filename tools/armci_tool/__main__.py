"""Entry point of `python3 -m armci_tool`."""

import sys

from armci_tool.cli import main

sys.exit(main(sys.argv[1:]))
