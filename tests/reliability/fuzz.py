"""Changes of bytes that are led by what they reach in our code: ``python -m tests.reliability.fuzz trace --runs 400000``.

Needs atheris (``make fuzz`` installs it). libFuzzer ends the process; what broke a target is written to ``crash-…`` in the folder.
"""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path

import atheris
import click

with atheris.instrument_imports(include=["compile_lens"], exclude=["compile_lens.agent"]):
    from tests.reliability.targets import TARGETS

LONGEST = 12_000


@click.command()
@click.argument("name", type=click.Choice(list(TARGETS)))
@click.option("--runs", default=350_000, show_default=True)
@click.option("--seed", default=1, show_default=True)
@click.option(
    "--corpus", type=click.Path(path_type=Path, file_okay=False), default=Path(".cache/fuzz"), show_default=True
)
def main(name: str, runs: int, seed: int, corpus: Path) -> None:
    """Run the target NAME on RUNS inputs; the corpus that is found is kept."""
    logging.getLogger().addHandler(logging.NullHandler())
    logging.getLogger().setLevel(logging.ERROR)
    target, folder = TARGETS[name](), corpus / name
    folder.mkdir(parents=True, exist_ok=True)
    for number, data in enumerate(target.seeds):
        (folder / f"seed-{number}").write_bytes(data)
    sys.stderr = open(os.devnull, "w")  # noqa: SIM115, PTH123 - the stub analysis says what it does
    limits = [
        f"-runs={runs}",
        f"-seed={seed}",
        f"-max_len={LONGEST}",
        "-timeout=60",
        f"-artifact_prefix={folder}/",
        "-verbosity=1",
    ]
    atheris.Setup([sys.argv[0], *limits, str(folder)], target.run)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
