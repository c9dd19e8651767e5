"""Random changes of bytes, for whoever has no coverage-guided fuzzer at hand; the same seed makes the same changes.

``python -m tests.reliability.mutations trace --count 100000`` runs a target on as many.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import random
import time

import click
from tests.reliability.targets import TARGETS

STRANGE = (
    b"\0",
    b"\xff",
    b"\n",
    b"\t",
    b"\r\n\r\n",
    b"{",
    b"}",
    b"[]",
    b"null",
    b"-1",
    b"1e999",
    b'"',
    b"\\ud800",
    b"9" * 30,
)
CHANGES = 4


def changed(data: bytes, others: list[bytes], dice: random.Random) -> bytes:
    """``data`` with up to ``CHANGES`` changes: bytes flipped, deleted, doubled, exchanged for strange ones, or for those of another."""
    found = bytearray(data)
    for _ in range(dice.randrange(1, CHANGES + 1)):
        at = dice.randrange(len(found) + 1)
        end = min(len(found), at + dice.choice((1, 1, 2, 8, 64)))
        kind = dice.randrange(6)
        if kind == 0 and at < len(found):
            found[at] ^= 1 << dice.randrange(8)
        elif kind == 1:
            del found[at:end]
        elif kind == 2:
            found[at:at] = found[at:end]
        elif kind == 3:
            found[at:end] = dice.choice(STRANGE)
        elif kind == 4:
            other = dice.choice(others)
            start = dice.randrange(len(other) + 1)
            found[at:end] = other[start : start + dice.randrange(200)]
        else:
            found[at:at] = dice.choice(STRANGE)
    return bytes(found)


def run(name: str, count: int, seed: int) -> dict[str, object]:
    """Run a target on ``count`` inputs. What it raises comes out with the input beside it in ``error.input``."""
    target, dice = TARGETS[name](), random.Random(seed)
    began = time.perf_counter()
    for number in range(count):
        data = changed(dice.choice(target.seeds), target.seeds, dice)
        try:
            target.run(data)
        except Exception as error:
            raise AssertionError(f"{name}, seed {seed}, input {number}: {error!r} of {data!r}") from error
    return {"target": name, "seed": seed, "inputs": count, "seconds": round(time.perf_counter() - began, 1)}


@click.command()
@click.argument("name", type=click.Choice(list(TARGETS)))
@click.option("--count", default=350_000, show_default=True)
@click.option("--seed", default=1, show_default=True)
def main(name: str, count: int, seed: int) -> None:
    """Run the target NAME on COUNT changed inputs."""
    logging.getLogger().addHandler(logging.NullHandler())
    logging.getLogger().setLevel(logging.ERROR)
    with open(os.devnull, "w") as silence, contextlib.redirect_stderr(silence):  # noqa: PTH123 - the stub says what it does
        try:
            said = json.dumps(run(name, count, seed))
        except AssertionError as error:
            raise SystemExit(str(error)) from None
    click.echo(said)


if __name__ == "__main__":
    main()
