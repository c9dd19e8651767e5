"""The tool that makes a script of a finding, and tells what a bisection of it found, if the user has run one.

The script is made and tried in the sandbox. It is given as text: nothing is written into the workspace.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from compile_lens.assistants.answers import LEFT_OUT, TEXT, array_of
from compile_lens.assistants.bench import Bench, Tell, Way
from compile_lens.assistants.quoting import quoted, quoted_lines
from compile_lens.pipeline.analyze import analyze
from compile_lens.repro.beside import script_text
from compile_lens.repro.history import recall
from compile_lens.repro.issue import issue_title
from compile_lens.repro.selection import Selection, default_name
from compile_lens.repro.verdict import Bisection
from compile_lens.repro.verify import BAD_LINE
from compile_lens.repro.write import Request, write_repro
from compile_lens.temporary_folders import temporary_folder
from compile_lens.workers.host import Host
from compile_lens.workers.job import Job

LONGEST_SCRIPT = 40_000
VERDICT_LINE = re.compile(rf"^({re.escape(BAD_LINE)}|(good|cannot be judged) with backend ).*$", re.MULTILINE)
REPRO = {
    "file": TEXT,
    "reproduces": {"type": "boolean"},
    "sentence": TEXT,
    "title": TEXT,
    "name": TEXT,
    "script": TEXT,
    "bisection": TEXT,
    "next_steps": array_of(TEXT),
    "notes": array_of(TEXT),
    "left_out": LEFT_OUT,
}


async def repro(bench: Bench, given: dict[str, Any], tell: Tell) -> dict[str, Any]:
    """A script of plain torch that shows a finding and nothing else."""
    source = await bench.source(given["file"], given.get("text"))
    job = bench.job(source, Way())
    choice = await asyncio.to_thread(bench.allowed_choice, source, given.get("entry", ""))
    wanted = Selection(given.get("region", ""), "", given.get("finding", ""))
    name = default_name(wanted, Path(source.file))
    async with bench.ground.turn(bench.ground.interpreter(source.file)) as host:
        await host.start()
        with temporary_folder() as folder:
            out = Path(folder) / name
            request = Request(job, wanted, out, entries=choice, verify=False)
            written = await write_repro(host, request, tell)
            script = await asyncio.to_thread(script_text, out)
            tell(f"running {name} in the sandbox")
            said = await _tried(host, job, out, script)
    earlier = await asyncio.to_thread(recall, Path(source.file).with_name(name))
    return {
        "file": source.file,
        "reproduces": said.startswith(BAD_LINE),
        "sentence": quoted(said or "The script came to no verdict in the sandbox."),
        "title": quoted(issue_title(written)),
        "name": name,
        "script": quoted_lines(script, LONGEST_SCRIPT),
        **({"bisection": _bisected(earlier)} if earlier is not None else {}),
        "next_steps": [
            f"Ask the user to run `compile-lens repro {_about(given)}--as folder {Path(source.file).name}`: the report for "
            "maintainers, with a link to a new issue. It runs outside of the sandbox, so no tool does it.",
            f"Ask the user to run `compile-lens bisect {name}` on the script: the part of the compiler at fault.",
        ],
        "notes": [quoted(note) for note in written.notes],
    }


async def _tried(host: Host, job: Job, file: Path, script: str) -> str:
    """The line in which the script says whether the problem occurs, when it runs in the sandbox; '' if it does not say."""
    own = replace(
        job, file=str(file), text=script, argv=(), plan=None, entry="script", capture=None, cwd=str(file.parent)
    )
    outcome = await analyze(host, own)
    found = VERDICT_LINE.search(outcome.output)
    return found[0] if found is not None else ""


def _bisected(bisection: Bisection) -> str:
    where = f" {bisection.verdict}" if bisection.verdict is not None else ""
    return quoted(f"{bisection.sentence}{where}")


def _about(given: dict[str, Any]) -> str:
    if given.get("finding"):
        return f"--finding {quoted(given['finding'], 60)} "
    return f"--region {quoted(given['region'], 60)} " if given.get("region") else ""
