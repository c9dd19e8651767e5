"""Copies the source that a repro needs from the user's files, in an order in which it runs."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from compile_lens.repro.capture import CapturedCall, CapturedRegion
from compile_lens.repro.expressions import CannotWrite, Expressions


@dataclass(frozen=True, slots=True)
class OwnSource:
    """Imports, definitions and constants."""

    text: str
    future: bool
    notes: tuple[str, ...] = ()


def own_source(region: CapturedRegion, expressions: Expressions) -> OwnSource:
    """The text of the pieces of all files. Raises CannotWrite if two files define different things with one name."""
    imports: list[str] = []
    pieces: list[str] = []
    notes: list[str] = []
    owners: dict[str, str] = {}
    for file in region.files:
        imports += [line for line in file["imports"] if line not in imports]
        if file["module"] != "__main__" and (file["items"] or file["locals"]):
            notes.append(f"Includes code from {Path(file['file']).name}.")
        for item in file["items"]:
            if "text" in item:
                _claim(item["text"], file["module"], owners)
                pieces.append(item["text"])
            elif is_constant(item["value"]):
                expressions.begin()
                pieces.append(f"{item['name']} = {expressions.write(item['value'])}")
        pieces += [_local(local, expressions) for local in file["locals"]]
    pieces += [_patch(patch, expressions) for patch in region.patches]
    # the script imports torch anyway
    imports = [line for line in imports if line not in ("import torch",)]
    text = "\n".join(imports) + ("\n\n\n" if imports and pieces else "") + _joined(pieces)
    return OwnSource(text, any(file["future"] for file in region.files), tuple(notes))


def own_values(region: CapturedRegion, first: CapturedCall) -> list[tuple[str, Any]]:
    """Globals that a call may change, by name, with their values before the first call."""
    changing = {
        name for call in region.calls for name, value in call.globals.items() if first.globals.get(name, value) != value
    }
    found: dict[str, Any] = {}
    for file in region.files:
        for item in file["items"]:
            if "name" in item and (item["name"] in changing or not is_constant(item["value"])):
                # the description in the file may be that of a later call
                found[item["name"]] = first.globals.get(item["name"], item["value"])
    return list(found.items())


def is_constant(value: Any) -> bool:
    """Whether a described value is immutable, so that it can be defined before class bodies and defaults that use it."""
    if isinstance(value, dict):
        if value["is"] in ("tuple", "frozenset"):
            return all(is_constant(item) for item in value["items"])
        return value["is"] in ("code", "device", "ellipsis", "name", "python-module")
    return True


def _claim(text: str, module: str, owners: dict[str, str]) -> None:
    head = text.splitlines()
    for line in head:
        words = line.replace("(", " ").replace(":", " ").split()
        if words[:1] in (["def"], ["class"]) and len(words) > 1 and not line[0].isspace():
            other = owners.setdefault(words[1], module)
            if other != module and words[1] != "_":
                raise CannotWrite(
                    f"`{words[1]}` is defined in both {other} and {module}, and a script in one file cannot contain both."
                )
            return


def _local(local: Any, expressions: Expressions) -> str:
    """A function or class defined inside a function, in a function that binds its free variables."""
    name, free = local["name"], {key: value for key, value in local["free"].items() if key != local["name"]}
    if not free:
        return str(local["text"])
    expressions.begin(list(free.values()))
    lines = []
    for key, value in free.items():
        text = expressions.write(value)
        lines += expressions.statements()
        expressions.statements().clear()
        if text != key:
            lines.append(f"{key} = {text}")
    body = "\n".join([*lines, "", local["text"], "", f"return {name}"])
    return f"def make_{name}():\n{textwrap.indent(body, '    ')}\n\n\n{name} = make_{name}()"


def _patch(patch: Any, expressions: Expressions) -> str:
    """The statement that replaces an attribute of a library."""
    expressions.begin()
    return f"{expressions.write(patch['owner'])}.{patch['name']} = {expressions.write(patch['value'])}"


def _joined(pieces: list[str]) -> str:
    """Definitions separated by two empty lines, other statements by none."""
    text = ""
    was_block = False
    for piece in pieces:
        is_block = piece.lstrip().startswith(("def ", "class ", "@", "async def "))
        text += ("\n\n\n" if is_block or was_block else "\n") if text else ""
        text += piece
        was_block = is_block
    return text
