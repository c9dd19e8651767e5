"""Messages with random parts exchanged or bytes flipped: the server answers on, and finds no bug of its own."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from editor import Editor, Message, capabilities
from ordinary import ordinary
from programs import ONE, log, write

MESSAGES = 600
STRANGE: list[Any] = [None, -1, 0, 2**40, -(2**70), 1.5, True, "", "x" * 999, "\ud800", [], [[]], {}, {"a": 1}]
STRANGE += ["file:///", "file://[", "file:///\0", "untitled:1"]
ENDS = (b"shutdown", b"exit")


def mutated(value: Any, dice: random.Random) -> Any:
    """``value`` with one part exchanged or left out."""
    if isinstance(value, dict) and value and dice.random() < 0.8:
        key = dice.choice(list(value))
        rest = {name: entry for name, entry in value.items() if name != key}
        return rest if dice.random() < 0.1 else {**rest, key: mutated(value[key], dice)}
    if isinstance(value, list) and value and dice.random() < 0.8:
        at = dice.randrange(len(value))
        return [*value[:at], mutated(value[at], dice), *value[at + 1 :]]
    return dice.choice(STRANGE)


def body(messages: list[Message], dice: random.Random) -> bytes:
    message = {"jsonrpc": "2.0", **dice.choice(messages)}
    kind = dice.random()
    data = bytearray(json.dumps(mutated(message, dice) if kind < 0.6 else message).encode())
    for _ in range(dice.randrange(1, 4) if kind > 0.85 else 0):
        data[dice.randrange(len(data))] = dice.randrange(256)
    return bytes(data)


@pytest.mark.parametrize("seed", [1, 2])
async def test_nothing_that_comes_over_the_wire_stops_the_server(raw: Editor, root: Path, seed: int) -> None:
    dice = random.Random(seed)
    raw.answers["window/showMessageRequest"] = lambda _: None
    await raw.initialize(root, {"run": {"enabled": "always"}}, capabilities=capabilities(pull=seed == 1))
    messages = ordinary(await raw.open(write(root, ONE)))
    for _ in range(MESSAGES):
        data = body(messages, dice)
        if not any(word in data for word in ENDS):
            await raw.send_bytes(data)
    assert await raw.hover("file:///nowhere.py", 0, 0) is None
    assert await raw.shut_down() == 0
    assert [line for line in log(root) if line.startswith(("ERROR", "Traceback"))] == []
