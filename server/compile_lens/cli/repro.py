"""``compile-lens repro``: a script of plain torch that fails by its exit code, for a finding, a region or a frame."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from rich.console import Console

from compile_lens.cli.check import Ways
from compile_lens.documents.source_file import FileProblem
from compile_lens.entries.entry import AUTOMATIC
from compile_lens.entries.written import BadEntry
from compile_lens.pipeline.job_factory import make_job
from compile_lens.pipeline.workspace import workspace_root
from compile_lens.repro.choose import ISSUE, SCRIPT, UNIT_TEST, Wanted, default_name
from compile_lens.repro.contract import Criterion
from compile_lens.repro.expressions import CannotWrite
from compile_lens.repro.issue import collect_versions, issue_text, issue_title
from compile_lens.repro.unit_test import write_unit_test
from compile_lens.repro.verdict import Bisection, from_json
from compile_lens.repro.verify import TIMEOUT_S
from compile_lens.repro.write import Request, Written, write_recorded, write_repro
from compile_lens.trace.records import TraceError, trace_files
from compile_lens.workers.host import Host, HostError
from compile_lens.workers.interpreter import InterpreterError, find_interpreter
from compile_lens.workers.job import Depth

KINDS = ("source", "graph")


@click.command(context_settings={"ignore_unknown_options": False})
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE|TRACE [-- ARGUMENTS]")
@click.option("--finding", default="", metavar="CODE@LINE", help="The finding to reproduce, as `check` prints it.")
@click.option("--region", default="", metavar="NAME", help="The compile region to take out.")
@click.option("--frame", default="", metavar="ID", help="The frame to take out, as in 0/1.")
@click.option(
    "--kind", type=click.Choice(KINDS), help="source: your own code and inputs; graph: what Dynamo made of it."
)
@click.option(
    "--criterion",
    type=click.Choice([Criterion.DIFFERS.value, Criterion.ANY.value]),
    help="Judge by the numbers, or by any difference from eager, whatever the finding is.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Where to write.  [default: repro_NAME.py here]",
)
@click.option(
    "--as",
    "form",
    type=click.Choice([SCRIPT, UNIT_TEST, ISSUE]),
    default=SCRIPT,
    show_default=True,
    help="Also make of it a failing test in PyTorch's form, or a bug report in Markdown.",
)
@click.option(
    "--verdict",
    type=click.Path(path_type=Path),
    metavar="JSON",
    help="What `bisect --format json` said, for the bug report.",
)
@click.option("--force", is_flag=True, help="Replace a file that is there.")
@click.option(
    "--depth",
    type=click.Choice([depth.value for depth in Depth]),
    default=Depth.DYNAMO.value,
    show_default=True,
    help="How far the run compiles; a finding that is not there is looked for further on.",
)
@click.option(
    "--entry", default=AUTOMATIC, show_default=True, metavar="ENTRY", help="How the file is run, as in `check`."
)
@click.option(
    "--device", default="", metavar="DEVICE", help="Move inputs and weights of other devices there, as in cpu."
)
@click.option("--no-run", is_flag=True, help="Write the script and do not run it.")
@click.option(
    "--python", metavar="PATH", help="The interpreter to run with.  [default: the nearest one that has torch]"
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0.1),
    default=TIMEOUT_S,
    show_default=True,
    metavar="SECONDS",
    help="Per run.",
)
@click.option("-q", "--quiet", is_flag=True, help="Print the path alone.")
@click.pass_context
def repro(
    context: click.Context,
    file: Path,
    finding: str,
    region: str,
    frame: str,
    kind: str | None,
    criterion: str | None,
    output: Path | None,
    form: str,
    verdict: Path | None,
    force: bool,
    depth: str,
    entry: str,
    device: str,
    no_run: bool,
    python: str | None,
    timeout: float,
    quiet: bool,
) -> int:
    """Write a script that shows a problem of FILE and nothing else, run it, and say whether the problem is there.

    Without --finding, --region or --frame it is about the finding that matters most. The exit code is 0 if the script shows the
    problem, 1 if it does not, and 2 if none could be written.
    """
    wanted = Wanted(region, frame, finding)
    document = output or Path(default_name(wanted, file, form))
    out = document if form == SCRIPT else document.with_name(default_name(wanted, file, SCRIPT))
    for path in dict.fromkeys((document, out)):
        if path.exists() and not force:
            raise click.ClickException(f"{path} is there already; give another path with -o, or --force to replace it.")
    if form != SCRIPT and no_run:
        raise click.ClickException(f"--as {form} needs the script to be run: leave --no-run out.")
    bisection = _read_verdict(verdict)
    # a link stays a link: the program sees the path that the user gave
    program = os.path.abspath(file)  # noqa: PTH100
    job = make_job(
        program,
        os.getcwd(),  # noqa: PTH109
        workspace_root(Path(program)),
        depth=Depth(depth),
        arguments=context.obj or (),
        timeout_s=timeout,
    )
    judged_by = Criterion(criterion) if criterion else None
    try:
        recorded = _recorded(file, kind, wanted)
        chosen = kind or ("graph" if recorded else "source")
        ways = None if recorded else Ways(entry, ()).choices(job)[0]
        request = Request(job, wanted, out, judged_by, device, chosen, not no_run, timeout, ways)
        written = asyncio.run(_write(request, recorded, python, quiet))
        made = asyncio.run(_made_of(written, form, document, bisection, python, file, timeout))
    except (CannotWrite, TraceError, InterpreterError, HostError, FileProblem, BadEntry) as problem:
        raise click.ClickException(str(problem)) from None
    click.echo(str(document) if quiet else told(written) + made)
    return 0 if written.verification is None or written.reproduces or written.is_as_in_eager else 1


def _read_verdict(path: Path | None) -> Bisection | None:
    if path is None:
        return None
    try:
        return from_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise click.ClickException(f"{path} is not what `bisect --format json` writes: {problem}") from None


async def _made_of(
    written: Written,
    form: str,
    document: Path,
    bisection: Bisection | None,
    python: str | None,
    file: Path,
    timeout: float,
) -> str:
    """The test or the report, written; what to tell of it."""
    interpreter = find_interpreter(file, (), python)
    if form == UNIT_TEST:
        test = await write_unit_test(written, document, interpreter, timeout)
        outcome = "It fails for the same reason." if test.fails else test.why
        return f"\n{document}: {outcome}\n  In pytorch's tree it belongs in {test.belongs}."
    if form == ISSUE:
        versions = await collect_versions(interpreter)
        return await asyncio.to_thread(_write_issue, written, versions, bisection, document)
    return ""


def _write_issue(written: Written, versions: str, bisection: Bisection | None, document: Path) -> str:
    document.write_text(issue_text(written, versions, bisection), encoding="utf-8")
    return f"\n{document}: {issue_title(written)}"


def _recorded(file: Path, kind: str | None, wanted: Wanted) -> Path | None:
    """The trace file, if ``file`` is a recorded trace and no program. Raises TraceError and CannotWrite."""
    if not (file.is_dir() or file.name.endswith((".log", ".log.gz"))):
        return None
    if kind == "source" or wanted.region:
        raise CannotWrite("A trace has no source: only --kind graph can be made of it, by --frame or --finding.")
    found = trace_files(file)
    if len(found) > 1:
        names = ", ".join(trace.name for trace in found)
        raise CannotWrite(f"There is a trace per rank: give one of {names}.")
    return found[0]


async def _write(request: Request, recorded: Path | None, python: str | None, quiet: bool) -> Written:
    host = Host(find_interpreter(Path(request.job.file), (), python))
    try:
        with _progress(not quiet) as progress:
            if recorded is not None:
                return await write_recorded(host, recorded, request, progress)
            return await write_repro(host, request, progress)
    finally:
        await host.close()


def told(written: Written) -> str:
    """What was written, and what came of it."""
    lines = [f"{written.file}: {written.title}"]
    lines.append(f"  {written.sentence()}")
    if written.verification is not None:
        lines += [f"  {line}" for line in written.verification.words().splitlines()[1:]]
    if written.data is not None:
        lines.append(f"  Values of the run are in {written.data}: the problem depends on them.")
    lines += [f"  Note: {note}" for note in written.notes]
    return "\n".join(lines)


@contextmanager
def _progress(shown: bool) -> Iterator[Callable[[str], None]]:
    """A line on a terminal's stderr that says what is going on."""
    console = Console(stderr=True)
    if not shown or not console.is_terminal:
        yield lambda _: None
        return
    with console.status("starting") as spinner:
        yield spinner.update
