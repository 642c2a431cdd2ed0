"""Command line of `tools/armci`; what a command needs is imported when it runs."""

from __future__ import annotations

import errno
import importlib
import io
import sys
from typing import Optional, Sequence

import click

from click.shell_completion import CompletionItem

from armci_tool import completion, process
from armci_tool.commands import SUMMARIES
from armci_tool.errors import Stopped, ToolError


class _Tool(click.Group):
    """All commands, by their table."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order of --help."""
        return list(SUMMARIES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> Optional[click.Command]:
        """Imports its module."""
        if cmd_name not in SUMMARIES:
            return None
        found = importlib.import_module("armci_tool.commands." + cmd_name.replace("-", "_")).execute
        assert isinstance(found, click.Command)
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Imports none of them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(SUMMARIES.items()))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Imports none of them."""
        return [*(CompletionItem(name, help=text) for name, text in SUMMARIES.items() if name.startswith(incomplete)),
                *click.Command.shell_complete(self, ctx, incomplete)]


def _install_completion(context: click.Context, _: click.Parameter, shell: Optional[str]) -> None:
    if shell is not None and not context.resilient_parsing:
        click.echo(completion.install(shell), nl=False)
        context.exit()


TOOL = _Tool(help="Sets up, builds, runs, tests and measures ARMCI.",
             epilog="\b\nexamples:\n  tools/armci quickstart\n  tools/armci test --quick\n  tools/armci COMMAND --help",
             context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
             params=[click.Option(["--install-completion"], is_flag=False, flag_value="", metavar="[bash|zsh|fish]",
                                  is_eager=True, expose_value=False, callback=_install_completion,
                                  shell_complete=lambda *_: completion.SHELLS,
                                  help="have the shell complete commands, options and values (default: your $SHELL)")])


_LOOK = "look whether this path and its file system are as they should be"
_MENDS = {errno.ENOSPC: "make room on that file system", errno.EDQUOT: "make room: your quota is used up",
          errno.EROFS: "give a folder on a file system that can be written to",
          **dict.fromkeys((errno.EACCES, errno.EPERM), "give a folder that you may write to, or change its owner")}


def main(arguments: Sequence[str]) -> int:
    """Runs one command; returns the exit status."""
    process.install_signal_handlers(Stopped)
    # Lines must appear as they are made also when a log file or a pipe takes them.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)
    try:
        status = TOOL.main(list(arguments) or ["--help"], "tools/armci", complete_var=completion.VARIABLE,
                           standalone_mode=False)
        return int(status) if arguments else 2
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except ToolError as error:
        sys.stdout.flush()
        print(error.render(), file=sys.stderr)
        return error.status
    except BrokenPipeError:
        raise
    except OSError as error:  # of the machine, and none that a command knows more about
        print(ToolError(error.strerror or str(error), where=error.filename or "", next_step=_MENDS.get(error.errno or 0, _LOOK)).render(),
              file=sys.stderr)
        return 2
    except Stopped as stopped:
        print("\n" + stopped.render(), file=sys.stderr)
        return stopped.status
