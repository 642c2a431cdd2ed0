"""Command line of `tools/armci`: one module of `verbs` per verb."""

from __future__ import annotations

import argparse
import io
import os
import sys
from typing import Sequence

from armci_tool import process
from armci_tool.errors import Stopped, ToolError
from armci_tool.verbs import (bench, build, compare, conformance, format, info, install, mpi_doctor, mutants, new_port,
                              quickstart, rdma, run, setup, test, trace, traceability, tune)

VERBS = (quickstart, test, setup, build, run, conformance, mutants, bench, compare, tune, info, mpi_doctor, install, rdma,
         trace, new_port, format, traceability)


def parser() -> argparse.ArgumentParser:
    """The whole command line."""
    top = argparse.ArgumentParser(
        prog="tools/armci", description="Sets up, builds, runs, tests and measures ARMCI.",
        epilog="examples:\n  tools/armci quickstart\n  tools/armci test --quick\n  tools/armci VERB --help",
        formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = top.add_subparsers(metavar="VERB", dest="verb")
    for module in VERBS:
        module.add_parser(verbs)
    return top


def join_values(arguments: Sequence[str]) -> list[str]:
    """Link words begin with a dash, so argparse would take the value of --libs for an option unless it is joined on."""
    joined: list[str] = []
    for word in arguments:
        if joined and joined[-1] == "--libs":
            joined[-1] += "=" + word
        else:
            joined.append(word)
    return joined


def main(arguments: Sequence[str]) -> int:
    """Runs one verb; returns the exit status."""
    process.install_signal_handlers(Stopped)
    # Lines must appear as they are made also when a log file or a pipe takes them.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)
    options = parser().parse_args(join_values(arguments))
    if options.verb is None:
        parser().print_help()
        return 2
    try:
        return int(options.execute(options))
    except ToolError as error:
        sys.stdout.flush()
        print(error.render(), file=sys.stderr)
        return error.status
    except Stopped as stopped:
        print("\n" + stopped.render(), file=sys.stderr)
        return stopped.status
    except BrokenPipeError:
        # The reader of our output has gone; python would complain once more when it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
