"""The nodes of ``compileLens/tree``, as docs/editors/protocol.md describes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lsprotocol import types

from compile_lens.shown_text import visible_name


@dataclass(frozen=True, slots=True)
class Node:
    """``identifier`` is the same for the same thing in the next tree. ``weight`` orders findings by what they cost.

    ``commands`` are what can be done, by the name of the action: ``run``, ``details``, ``ignore``, ``repro``.
    """

    kind: str
    identifier: str
    label: str
    description: str = ""
    severity: str = ""
    weight: float = 0.0
    uri: str = ""
    range: types.Range | None = None
    commands: Mapping[str, types.Command] = field(default_factory=dict)
    children: tuple[Node, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The node as it is sent; what is empty is left out."""
        found: dict[str, Any] = {"kind": self.kind, "id": self.identifier, "label": visible_name(self.label)}
        if self.description:
            found["description"] = visible_name(self.description)
        if self.severity:
            found["severity"] = self.severity
        if self.weight:
            found["weight"] = self.weight
        if self.uri:
            found["uri"] = self.uri
        if self.range is not None:
            found["range"] = range_to_json(self.range)
        if self.commands:
            found["commands"] = {name: command_to_json(command) for name, command in self.commands.items()}
        if self.children:
            found["children"] = [child.to_json() for child in self.children]
        return found


def range_to_json(place: types.Range) -> dict[str, Any]:
    """A range as the protocol writes it."""
    return {
        "start": {"line": place.start.line, "character": place.start.character},
        "end": {"line": place.end.line, "character": place.end.character},
    }


def command_to_json(command: types.Command) -> dict[str, Any]:
    """A command as the protocol writes it."""
    return {
        "title": visible_name(command.title),
        "command": command.command,
        "arguments": list(command.arguments or ()),
    }
