"""TOML and JSON files that the tool reads, as pydantic models: an error names the file, the entry and the key."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Mapping, Pattern, Type, TypeVar

import pydantic

from armci_tool.errors import ToolError

if TYPE_CHECKING:
    Text = str
    Expression = Pattern[str]
else:
    # Some text, not empty; and a regular expression.
    Text, Expression = pydantic.constr(strict=True, min_length=1), Pattern


class Entry(pydantic.BaseModel, extra=pydantic.Extra.forbid, frozen=True):
    """A table of a file, which has these keys and no others."""


Model = TypeVar("Model", bound=pydantic.BaseModel)


def read(path: Path, model: Type[Model], what: str, next_step: str = "") -> Model:
    """The file as a model; raises ToolError where it is no such file."""
    try:
        return model.parse_obj((tomllib if path.suffix == ".toml" else json).loads(path.read_text()))
    except pydantic.ValidationError as error:
        where = "; ".join(_sentence(problem) for problem in error.errors())
    except (OSError, ValueError) as error:
        where = str(error)
    raise ToolError(f"cannot read {what}", where=f"{path}: {where}", next_step=next_step)


def _sentence(problem: Mapping[str, Any]) -> str:
    """Entries of a list are counted from 1."""
    place = " ".join(str(part + 1) if isinstance(part, int) else part for part in problem["loc"])
    words = {"value_error.missing": "is missing", "value_error.extra": "is not understood"}
    return f"{place} {words.get(problem['type'], 'is wrong: ' + problem['msg'])}"
