"""The common part of the commands: how a command is declared, types of options, and options that several commands have."""

from __future__ import annotations

import math
import tempfile
from functools import wraps
from pathlib import Path
from typing import Any, Callable, Optional, Sequence

import click

from armci_tool import bazel, launch, programs, repository
from armci_tool.commands import SUMMARIES
from armci_tool.errors import ToolError
from armci_tool.libraries import DEFAULT_LIBS, DEFAULT_NAME
from armci_tool.placement import Placement
from armci_tool.shards import Shard

Function = Callable[..., int]
Decorator = Callable[[Function], Function]

# Options of which a command line has at most one.
_EXCLUSIVE = (("quick", "full", "changed"), ("fresh", "changed"), ("nodes", "simulate_node_size"), ("keep", "keep_for", "stop"))


class Command(click.Command):
    """A command that refuses options which exclude each other."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click does."""
        rest = super().parse_args(ctx, args)
        for names in () if ctx.resilient_parsing else _EXCLUSIVE:
            given = [name for name in names if ctx.params.get(name)]
            if len(given) > 1 and set(names) <= set(ctx.params):
                first, second = ("--" + name.replace("_", "-") for name in given[:2])
                raise click.UsageError(f"{second} is not allowed with {first}", ctx)
        return rest


class _Argument(click.Argument):
    """A word that is no option, explained in --help."""

    def __init__(self, declarations: Sequence[str], help: str, **attributes: Any) -> None:
        super().__init__(declarations, **attributes)
        self.help = help

    def get_help_record(self, ctx: click.Context) -> tuple[str, str]:
        """Its row in --help."""
        return self.make_metavar(), self.help


def command(name: str, *examples: str, passes_on: bool = False) -> Callable[[Function], click.Command]:
    """Declares a command. With `passes_on` all words behind the first that is no option belong to what is started."""
    summary = SUMMARIES[name]
    return click.command(
        name, cls=Command, help=f"{summary[0].upper()}{summary[1:]}.",
        epilog="\b\nexample:\n" + "\n".join(f"  {example}" for example in examples),
        context_settings={"allow_interspersed_args": not passes_on})


def argument(name: str, help: str, **attributes: Any) -> Decorator:
    """A word that is no option."""
    return click.argument(name, cls=_Argument, help=help, **attributes)


def repeated(*names: str, of: click.ParamType = click.STRING, **attributes: Any) -> Decorator:
    """An option that takes `a,b` and may be repeated; its value is the list of all, each once."""
    def split(context: click.Context, parameter: click.Parameter, given: Sequence[str]) -> list[Any]:
        words: dict[Any, None] = {}
        for text in given:
            found = [part.strip() for part in text.split(",")]
            if not all(found):
                raise click.BadParameter(f"{text!r} {'has an empty part' if any(found) else 'names nothing'}", context, parameter)
            words.update(dict.fromkeys(of.convert(part, parameter, context) for part in found))
        return list(words)
    return click.option(*names, multiple=True, callback=split, **attributes)


class WholeNumber(click.IntRange):
    """A whole number in a range. Click calls it an integer range in its errors."""

    name = "whole number"


class _Seconds(click.FloatRange):
    """A time that is neither zero nor endless."""

    name = "seconds"

    def convert(self, value: Any, param: Optional[click.Parameter], ctx: Optional[click.Context]) -> Any:
        """As click does, for which nan is in every range."""
        number = super().convert(value, param, ctx)
        return self.fail(f"{value!r} is no time", param, ctx) if math.isnan(number) else number


class _PathName(click.Path):
    """A file or folder, to be named."""

    def convert(self, value: Any, param: Optional[click.Parameter], ctx: Optional[click.Context]) -> Any:
        """As click does."""
        return super().convert(value, param, ctx) if value else self.fail("the name is empty", param, ctx)


def shard(text: str) -> Shard:
    """Type of `2/4`: the second of four."""
    part, _, parts = text.partition("/")
    if not part.isdecimal() or not parts.isdecimal() or not 1 <= int(part) <= int(parts):
        raise click.BadParameter(f"{text!r} is not a shard like 2/4, the second of four")
    return int(part), int(parts)


COUNT = WholeNumber(min=1, max=1_000_000)  # more fill the memory of a launcher before it says no
SECONDS = _Seconds(0, 1e7, min_open=True)
PATH = _PathName(path_type=Path, readable=False)


def complete_implementations(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Names for the last of `a,b`."""
    before, comma, last = incomplete.rpartition(",")
    return [before + comma + name for name in [*repository.implementations(), "all"] if name.startswith(last)]


def implementation(default: Optional[str], help: str = "implementation, or all") -> Decorator:
    """--impl of a command that takes one name."""
    return click.option("--impl", default=default, show_default=True, shell_complete=complete_implementations, help=help)


def implementations(help: str, **attributes: Any) -> Decorator:
    """--impl of a command that takes several names."""
    return repeated("--impl", metavar="NAME[,NAME...]", shell_complete=complete_implementations, help=help, **attributes)


def processes(default: Optional[int], help: str = "number of processes") -> Decorator:
    """-n of a command that takes one number."""
    return click.option("-n", "--np", "processes", type=COUNT, default=default, show_default=True, metavar="N", help=help)


verbose = click.option("-v", "--verbose", is_flag=True, help="show the output of the build")
mpi = click.option("--mpi", type=click.Choice(sorted(launch.MPI_LIBRARIES)), default=launch.DEFAULT_MPI, show_default=True,
                   help="MPI library underneath")
_config = click.option("--config", multiple=True, type=click.Choice([*bazel.MODES, *launch.MPI_LIBRARIES]),
                       help="way to build (default: opt); may be repeated")


def configuration(function: Function) -> Function:
    """--mpi and --config; the command gets the `configuration`."""
    @wraps(function)
    def call(mpi: str, config: Sequence[str], **values: Any) -> int:
        return function(configuration=bazel.parse_configuration(config, mpi), **values)
    return mpi(_config(call))


def configurations(function: Function) -> Function:
    """The same for a command that goes through several MPI libraries in one run: it gets their `configurations`."""
    @wraps(function)
    def call(mpi: Sequence[str], config: Sequence[str], **values: Any) -> int:
        return function(configurations=chosen_configurations(mpi, config), **values)
    return repeated("--mpi", metavar="MPI[,MPI...]",
                    help=f"MPI libraries underneath: {', '.join(sorted(launch.MPI_LIBRARIES))} or all; may be repeated "
                    f"(default: {launch.DEFAULT_MPI})")(_config(call))


def chosen_configurations(libraries: Sequence[str], config: Sequence[str]) -> list[bazel.Configuration]:
    """One for each MPI library, in the order they were named."""
    named = list(launch.MPI_LIBRARIES) if "all" in libraries else libraries or [launch.DEFAULT_MPI]
    for library in named:
        launch.mpi_library(library)
    return list(dict.fromkeys(bazel.parse_configuration(config, library) for library in named))


def placed(function: Function) -> Function:
    """--nodes and --simulate-node-size; the command gets the placement as `where`."""
    @wraps(function)
    def call(nodes: Optional[int], simulate_node_size: Optional[int], **values: Any) -> int:
        return function(where=Placement.chosen(nodes or 0, simulate_node_size or 0), **values)
    over_nodes = click.option("--nodes", type=COUNT, metavar="N",
                              help="spread the processes over N nodes: network namespaces of this machine with TCP "
                              "between them, which needs root; for an implementation that needs a verbs device, guests "
                              "(see tools/armci rdma)")
    simulated = click.option("--simulate-node-size", type=COUNT, metavar="K",
                             help="have the library treat each K consecutive processes as a node; needs no root")
    return over_nodes(simulated(call))


def foreign(function: Function) -> Function:
    """--prefix, --libs and --name of a library that is not of this repository."""
    for option in (
            click.option("--name", default=DEFAULT_NAME, show_default=True,
                         help="its name in the report and in the known failures"),
            click.option("--libs", default=DEFAULT_LIBS, metavar="WORDS", show_default=True,
                         help="what links it; {mpi} stands for the MPI library"),
            click.option("--prefix", type=PATH, metavar="DIR",
                         help="installation of a library that is not of this repository: DIR/include/armci.h, DIR/lib, "
                         "as in --prefix /usr --libs -larmci")):
        function = option(function)
    return function


def wrapped(function: Function) -> Function:
    """--wrapper; the command gets its words."""
    @wraps(function)
    def call(wrapper: str, **values: Any) -> int:
        return function(wrapper=programs.wrapper(wrapper), **values)
    return click.option("--wrapper", default="", metavar="COMMAND",
                        help="start each rank as COMMAND BINARY ARGS..., as with a script, or 'valgrind -q'")(call)


def require_folder(folder: Path, files: Sequence[str] = ()) -> None:
    """Before anything runs: results that cannot be written would be lost. `files` are names in the folder."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise ToolError(f"cannot write the report to {folder}", where=str(error),
                        next_step="give a folder that can be made, or written to") from error
    for path in (folder / name for name in files):
        if path.exists():
            require_file(path)


def require_file(path: Path) -> None:
    """The same for a file; what is in it stays until there is something new."""
    try:
        path.open("a").close()
    except OSError as error:
        raise ToolError(f"cannot write the report to {path}", where=str(error),
                        next_step="give a file that can be written") from error
