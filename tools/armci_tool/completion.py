"""`tools/armci --install-completion`: shells complete commands, options and values."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from click.shell_completion import get_completion_class

from armci_tool.errors import ToolError
from armci_tool.repository import ROOT

VARIABLE = "_ARMCI_COMPLETE"
# Where the script goes, and the file of a shell that does not look there by itself.
_PLACES = {
    "bash": (".local/share/armci/completion.bash", ".bashrc"),
    "zsh": (".local/share/armci/completion.zsh", ".zshrc"),
    "fish": (".config/fish/completions/armci.fish", ""),
}
SHELLS = list(_PLACES)
# Click starts the word that is typed, or looks for `armci` on PATH. An alias, ~ or another folder would find nothing.
_OURS = (("    (( ! $+commands[%(prog_name)s] )) && return 1\n", ""), ("_complete $1)", "_complete %(tool)s)"),
         ("_complete %(prog_name)s)", "_complete %(tool)s)"), ("-t) %(prog_name)s)", "-t) %(tool)s)"))
_ZSH_START = "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }\n"


def script(shell: str) -> str:
    """The script for the shell. Shells look for `armci` when the word typed is tools/armci, too."""
    found = get_completion_class(shell)
    assert found is not None
    template = found.source_template
    for theirs, ours in _OURS:
        template = template.replace(theirs, ours)
    return _ZSH_START * (shell == "zsh") + template % {
        "complete_func": "_armci_completion", "complete_var": VARIABLE, "prog_name": "armci",
        "tool": shlex.quote(str(ROOT / "tools" / "armci"))}


def install(shell: str) -> str:
    """Writes the script into the user's home; returns the report. Without a name it is the user's shell."""
    shell = shell or Path(os.environ.get("SHELL", "")).name
    if shell not in _PLACES:
        raise ToolError(f"there is no completion for the shell {shell!r}",
                        next_step="name one: tools/armci --install-completion " + "|".join(SHELLS))
    place, start = _PLACES[shell]
    file = Path.home() / place
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(script(shell))
        report = f"wrote {file}\n"
        line = f"source {shlex.quote(str(file))}\n"
        settings = Path.home() / start
        if start and not (settings.exists() and line in settings.read_text()):
            with settings.open("a") as stream:
                stream.write(line)
            report += f"added to {settings}: {line}"
    except OSError as error:
        raise ToolError(f"cannot install completion for {shell}", where=str(error),
                        next_step="set HOME to a folder that can be written") from error
    return report + f"next: start a new {shell}, or: {line}"
