"""Says what models of ``diffusers`` break and recompile at: each is called with two sizes, as a pipeline of images does.

``python -m benchmarks.repairs.diffusers --python PATH`` takes an interpreter that has torch and diffusers, and keeps what it found in
benchmarks/results/repairs-diffusers.jsonl. ``python -m benchmarks.repairs --page`` puts it into the page.
"""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import subprocess
import tempfile
from pathlib import Path

from benchmarks.repairs.kept import Row, Version, changing, digest, is_current, read_rows, renewed, this_version
from benchmarks.repairs.programs import ROOT, Program
from compile_lens.analysis.finding import Kind
from compile_lens.pipeline.analyze import analyze
from compile_lens.workers.host import Host
from compile_lens.workers.job import Job

KEPT = ROOT / "benchmarks" / "results" / "repairs-diffusers.jsonl"
MODELS = Path(__file__).with_name("diffusers_models.toml")
GROUP = "diffusers"
KINDS = (Kind.GRAPH_BREAK, Kind.RECOMPILE, Kind.RECOMPILE_LIMIT, Kind.COMPILE_ERROR)
LONGEST_S = 300.0
PROGRAM = """\
import torch
from diffusers import {name}

torch.manual_seed(0)
model = torch.compile({name}({config}).eval(), backend="eager")
with torch.no_grad():
    for n in (32, 64):
        model(**dict({call}))
"""


def all_models() -> list[Program]:
    """A program for each model (Python 3.11)."""
    import tomllib

    models = tomllib.loads(MODELS.read_text(encoding="utf-8"))
    return [Program(GROUP, name, PROGRAM.format(name=name, **texts)) for name, texts in models.items()]


def kept_rows() -> list[Row]:
    """What was found in the models: a row without a code for one without a finding."""
    return read_rows(KEPT)


async def rows_of(host: Host, program: Program, folder: Path, made: Version) -> list[Row]:
    """A row for each break and recompile, also in the files of the library. Raises RuntimeError for a model that does not run."""
    file = folder / "program.py"
    file.write_text(program.text, encoding="utf-8")
    outcome = await analyze(host, Job(str(file), text=program.text, timeout_s=LONGEST_S))
    if outcome.status.value != "ok":
        raise RuntimeError(f"{program.name}: {outcome.status.value}. {outcome.failure or outcome.output[-500:]}")
    blank = Row(program.group, program.name, digest(program), "", "", "ok", commit=made.commit, day=made.day)
    found = [
        dataclasses.replace(blank, kind=each.kind.value, code=each.code, message=each.message)
        for each in outcome.unfiltered
        if each.kind in KINDS
    ]
    return found or [blank]


async def run(python: str, again: bool) -> None:
    """Analyze the models that have no current rows; those of each are kept as soon as it is done."""
    host = Host(python)
    asked = [
        python,
        "-c",
        "from importlib.metadata import version as v; print('diffusers', v('diffusers') + ', torch', v('torch'))",
    ]
    versions = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    made = this_version()
    with tempfile.TemporaryDirectory() as folder:
        for program in all_models():
            if is_current(kept_rows(), program, made.commit if again else ""):
                continue
            new = [dataclasses.replace(row, plain=versions) for row in await rows_of(host, program, Path(folder), made)]
            with changing(KEPT) as rows:
                rows[:] = renewed(rows, program, new)
            print(
                f"{program.name}: {'; '.join(f'{row.code} {row.message}' for row in new if row.code) or '-'}",
                flush=True,
            )
    await host.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.repairs.diffusers", description=__doc__)
    parser.add_argument("--python", required=True, help="An interpreter that has torch and diffusers.")
    parser.add_argument("--again", action="store_true", help="Also those whose rows another commit made.")
    options = parser.parse_args()
    asyncio.run(run(options.python, options.again))
