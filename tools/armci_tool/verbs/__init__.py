"""One module per verb: `add_parser` declares its command line, `execute` does it and returns the exit status."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Callable

from armci_tool import bazel, launch, option_types
from armci_tool.errors import ToolError


def make_parser(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]", name: str, summary: str,
                example: str, execute: Callable[[argparse.Namespace], int]) -> argparse.ArgumentParser:
    """A verb's parser with its example at the end of --help."""
    made = verbs.add_parser(name, help=summary, description=summary[0].upper() + summary[1:] + ".",
                            epilog=f"example:\n  {example}", formatter_class=argparse.RawDescriptionHelpFormatter)
    made.set_defaults(execute=execute)
    return made


def add_verbose(parser: argparse.ArgumentParser) -> None:
    """--verbose, as every verb that builds has it."""
    parser.add_argument("-v", "--verbose", action="store_true", help="show the output of the build")


def add_configuration(parser: argparse.ArgumentParser) -> None:
    """--mpi and --config."""
    parser.add_argument("--mpi", choices=sorted(launch.MPI_LIBRARIES), default=launch.DEFAULT_MPI,
                        help="MPI library underneath (default: %(default)s)")
    _add_config(parser)


def _add_config(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--config", action="append", default=[], choices=[*bazel.MODES, *launch.MPI_LIBRARIES],
                        help="way to build (default: opt); may be repeated")


def configuration(options: argparse.Namespace) -> bazel.Configuration:
    """From the options of add_configuration."""
    return bazel.parse_configuration(options.config, options.mpi)


def add_configurations(parser: argparse.ArgumentParser) -> None:
    """As add_configuration, for verbs that go through several MPI libraries in one run."""
    parser.add_argument("--mpi", action="append", type=option_types.words, metavar="MPI[,MPI...]",
                        help=f"MPI libraries underneath: {', '.join(sorted(launch.MPI_LIBRARIES))} or all; may be "
                        f"repeated (default: {launch.DEFAULT_MPI})")
    _add_config(parser)


def configurations(options: argparse.Namespace) -> list[bazel.Configuration]:
    """From the options of add_configurations; one for each MPI library, in the order they were named."""
    named = dict.fromkeys(each for part in options.mpi or [] for each in part)
    libraries = list(launch.MPI_LIBRARIES) if "all" in named else list(named) or [launch.DEFAULT_MPI]
    for library in libraries:
        launch.mpi_library(library)
    return list(dict.fromkeys(bazel.parse_configuration(options.config, library) for library in libraries))


def require_folder(folder: Path) -> None:
    """Before anything runs: results that cannot be written would be lost."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ToolError(f"cannot write the report to {folder}", where=str(error),
                        next_step="give a folder that can be made") from error


def require_file(path: Path) -> None:
    """The same for a file; what is in it stays until there is something new."""
    try:
        path.open("a").close()
    except OSError as error:
        raise ToolError(f"cannot write the report to {path}", where=str(error),
                        next_step="give a file that can be written") from error
