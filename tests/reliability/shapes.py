"""Traces whose records say things in another shape: ``python -m tests.reliability.shapes --count 20000 --seed 1``.

Flipped bytes seldom leave JSON that is valid. Here it stays valid: a value gives way to one of another type or to an extreme one,
fields go, are doubled or come from another record; records are dropped, doubled, reordered, mixed with those of another trace and cut.
Payloads are changed with a checksum that fits. Everything that opens a trace must come to its end.
"""

from __future__ import annotations

import contextlib
import copy
import gzip
import json
import logging
import os
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from tests.reliability.targets import DATA, RECORD

from compile_lens.formats.json_document import to_json
from compile_lens.pipeline.loaded_trace import read_recorded, tree_of_file, with_compiled, with_divergence
from compile_lens.pipeline.opened_trace import OpenedTrace
from compile_lens.stages.opened import read_stages
from compile_lens.trace.files import TraceError

VALUES = (
    None,
    True,
    0,
    -1,
    2**63,
    1e308,
    "",
    "0/0",
    "\ud800",
    "x" * 2_000,
    [],
    [[]],
    [None],
    {},
    {"": {}},
    [{"line": "a"}],
)
# records of one changed trace, so that many of them can be tried
LONGEST = 60
MOST_BYTES = 20_000


def recorded() -> list[list[bytes]]:
    """The records of each recorded trace, without the longest."""
    found = []
    for file in sorted(DATA.glob("h*/*trace*.log.gz")):
        records = RECORD.split(gzip.decompress(file.read_bytes()))
        found.append([record for record in records if 0 < len(record) < MOST_BYTES])
    return found


def changed(traces: list[list[bytes]], dice: random.Random) -> bytes:
    """A part of a trace with its tables of strings, and some changes."""
    source = dice.choice(traces)
    strings = [record for record in source if b'{"str":' in record[:200]][:20]
    start = dice.randrange(len(source))
    records = [*strings, *source[start : start + dice.randrange(5, LONGEST)]]
    for _ in range(dice.randrange(1, 6)):
        at = dice.randrange(len(records))
        kind = dice.randrange(8)
        if kind == 0:
            del records[at]
        elif kind == 1:
            records.insert(dice.randrange(len(records)), records[at])
        elif kind == 2:
            dice.shuffle(records)
        elif kind == 3:
            records.insert(at, dice.choice(dice.choice(traces)))
        elif kind == 4:
            records[at] = records[at][: dice.randrange(len(records[at]))]
        else:
            records[at] = with_another_shape(records[at], dice)
        if not records:
            return b""
    return b"".join(records)


def with_another_shape(record: bytes, dice: random.Random) -> bytes:
    """``record`` with one to three values of its JSON changed, or one of its payload."""
    line, newline, payload = record.partition(b"\n")
    prefix, brace, rest = line.partition(b"{")
    try:
        content = json.loads(brace + rest)
    except ValueError:
        return record
    if payload and dice.random() < 0.5:
        with contextlib.suppress(ValueError):
            inner = json.loads(payload.replace(b"\n\t", b"\n"))
            payload = b"\t" + json.dumps(changed_value(inner, dice), indent=0).encode().replace(b"\n", b"\n\t") + b"\n"
            # a reader that knows no checksum takes it as it is
            content.pop("has_payload", None)
            content["has_payload"] = ""
    else:
        for _ in range(dice.randrange(1, 4)):
            content = changed_value(content, dice)
    return prefix + json.dumps(content).encode() + newline + payload


def changed_value(value: Any, dice: random.Random) -> Any:
    """``value`` with one value inside of it exchanged, removed, or doubled under another name."""
    places = list(_places(value))
    if not places:
        return copy.deepcopy(dice.choice(VALUES))
    owner, key = dice.choice(places)
    kind = dice.randrange(4)
    if kind == 0 and isinstance(owner, dict):
        del owner[key]
    elif kind == 1 and isinstance(owner, dict):
        owner[dice.choice(("extra", "frame_id", "stack", "name", "line"))] = copy.deepcopy(owner[key])
    elif kind == 1:
        owner.append(copy.deepcopy(owner[key]))
    else:
        owner[key] = copy.deepcopy(dice.choice(VALUES))
    return value


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield value, key
            yield from _places(inner)
    elif isinstance(value, list):
        for number, inner in enumerate(value[:50]):
            yield value, number
            yield from _places(inner)


def open_all(folder: Path, traces: list[bytes]) -> None:
    """Everything that is made of traces: findings, what was compiled, ranks, JSON and stages."""
    recordings = []
    for number, data in enumerate(traces):
        file = folder / f"dedicated_log_torch_trace_rank_{number}_aaaaaaaa.log"
        file.write_bytes(data)
        with contextlib.suppress(TraceError):  # nothing of a trace is left
            recordings.append(with_compiled(read_recorded(file)))
        with contextlib.suppress(TraceError):
            for graph in read_stages(file).graphs:
                for one in graph.documents:
                    assert isinstance(one.text, str)
    if recordings:
        outcomes = with_divergence(recordings)
        to_json(outcomes, tree_of_file)
        OpenedTrace("traces", tuple(outcomes)).merged()


def run(count: int, seed: int) -> dict[str, object]:
    """Open ``count`` changed traces, two at a time. Raises AssertionError with the number of what broke."""
    traces, dice = recorded(), random.Random(seed)
    began = time.process_time()
    with tempfile.TemporaryDirectory() as scratch:
        for number in range(0, count, 2):
            pair = [changed(traces, dice) for _ in range(2)]
            try:
                open_all(Path(scratch), pair)
            except Exception as error:
                raise AssertionError(f"seed {seed}, input {number}: {error!r}") from error
    return {"seed": seed, "inputs": count, "seconds of a processor": round(time.process_time() - began, 1)}


@click.command()
@click.option("--count", default=20_000, show_default=True)
@click.option("--seed", default=1, show_default=True)
def main(count: int, seed: int) -> None:
    """Open COUNT changed traces."""
    logging.getLogger().setLevel(logging.ERROR)
    with open(os.devnull, "w") as silence, contextlib.redirect_stderr(silence):  # noqa: PTH123
        click.echo(json.dumps(run(count, seed)))


if __name__ == "__main__":
    main()
