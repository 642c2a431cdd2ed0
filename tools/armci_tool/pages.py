"""Pages that need no other file, no network and no script, from templates."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from armci_tool import console

if TYPE_CHECKING:
    import jinja2

TEMPLATES = Path(__file__).with_name("templates")

_CODE = re.compile(r"`([^`]+)`")


def environment() -> "jinja2.Environment":
    """That knows all templates; a name that is missing is an error."""
    import jinja2
    import markupsafe

    def code(text: str) -> markupsafe.Markup:
        """Clauses are written in Markdown; what they use of it is `code`."""
        return markupsafe.Markup(_CODE.sub(r"<code>\1</code>", str(markupsafe.escape(text))))

    made = jinja2.Environment(loader=jinja2.FileSystemLoader(TEMPLATES), autoescape=True, trim_blocks=True,
                              lstrip_blocks=True, undefined=jinja2.StrictUndefined)
    made.filters.update(code=code, duration=console.duration)
    return made
