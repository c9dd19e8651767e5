"""``compile-lens repro``: writes a plain torch script that reproduces a finding, a region or a frame and says so by its exit code."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import click
from rich.text import Text

from compile_lens.agent.runtime.regular_file import read_regular_text
from compile_lens.cli.options import json_option, python_option, timeout_option
from compile_lens.cli.safe_console import SafeConsole
from compile_lens.cli.terminal import echo, echo_json
from compile_lens.documents.source_file import FileProblem
from compile_lens.entries.entry import AUTOMATIC
from compile_lens.entries.entry_spec import BadEntry
from compile_lens.pipeline.file_analysis import EntrySelection
from compile_lens.pipeline.job_factory import make_job
from compile_lens.pipeline.workspace import workspace_root
from compile_lens.repro.contract import Criterion
from compile_lens.repro.expressions import CannotWrite
from compile_lens.repro.issue import collect_versions, issue_text, issue_title
from compile_lens.repro.issue_folder import write_issue_folder
from compile_lens.repro.script_runs import ScriptRuns
from compile_lens.repro.selection import FOLDER, ISSUE, SCRIPT, UNIT_TEST, Selection, default_name
from compile_lens.repro.unit_test import write_unit_test
from compile_lens.repro.verdict import Bisection, from_json
from compile_lens.repro.verify import TIMEOUT_S
from compile_lens.repro.write import Request, Written, write_recorded, write_repro
from compile_lens.state.atomic_file import write_beside
from compile_lens.trace.files import TraceError, unpacked
from compile_lens.workers.host import Host, HostError
from compile_lens.workers.interpreter import InterpreterError, find_interpreter
from compile_lens.workers.job import Depth

KINDS = ("source", "graph")


@click.command(context_settings={"ignore_unknown_options": False})
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE|TRACE [-- ARGUMENTS]")
@click.option(
    "--finding",
    default="",
    metavar="CODE@LINE",
    help="Finding to reproduce, as `check` prints it.  [default: the most important one]",
)
@click.option("--region", default="", metavar="NAME", help="Compile region to extract.")
@click.option("--frame", default="", metavar="ID", help="Frame to extract, such as 0/1.")
@click.option(
    "--kind",
    type=click.Choice(KINDS),
    help="Extract your own source and inputs, or the captured graph.  [default: source; graph for a trace]",
)
@click.option(
    "--criterion",
    type=click.Choice([Criterion.DIFFERS.value, Criterion.ANY.value]),
    help="Judge by wrong numbers, or by any difference from eager.  [default: depends on the finding]",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="File to write.  [default: repro_NAME.py in this folder]",
)
@click.option(
    "--as",
    "form",
    type=click.Choice([SCRIPT, UNIT_TEST, ISSUE, FOLDER]),
    default=SCRIPT,
    show_default=True,
    help="Write the script only, or also a failing test in PyTorch's style, a bug report in Markdown, or a folder for maintainers: the "
    "report with a smaller repro, a bisection, the environment and a link to a new issue. Nothing is sent.",
)
@click.option(
    "--verdict",
    type=click.Path(path_type=Path),
    metavar="JSON",
    help="Output of `bisect --json`, to include in the bug report.",
)
@click.option("--force", is_flag=True, help="Overwrite existing files.")
@click.option(
    "--depth",
    type=click.Choice([depth.value for depth in Depth]),
    help="How far to compile; if the finding does not occur, the full depth is tried next."
    "  [default: dynamo, and the full depth unless the program already fails]",
)
@click.option(
    "--entry", default=AUTOMATIC, show_default=True, metavar="ENTRY", help="How to run the file, as in `check`."
)
@click.option(
    "--device",
    default="",
    metavar="DEVICE",
    help="Move inputs and weights to this device, such as cpu.  [default: keep their devices]",
)
@click.option("--no-run", is_flag=True, help="Do not run the script after writing it.")
@python_option
@timeout_option("Time limit per run.", TIMEOUT_S)
@click.option("-q", "--quiet", is_flag=True, help="Print only the path.")
@json_option("the path, whether the problem occurs, and a sentence about it")
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
    depth: str | None,
    entry: str,
    device: str,
    no_run: bool,
    python: str | None,
    timeout: float,
    quiet: bool,
    as_json: bool,
) -> int:
    """Write a script that reproduces a problem of FILE and nothing else, run it, and say whether the problem occurs.

    The exit code is 0 if the script reproduces the problem, 1 if it does not, and 2 if no script could be written.
    """
    selection = Selection(region, frame, finding)
    document = output or Path(default_name(selection, file, form))
    beside = document if form == FOLDER else document.parent
    out = document if form == SCRIPT else beside / default_name(selection, file, SCRIPT)
    for path in dict.fromkeys((document, out)):
        if os.path.lexists(path) and not force:
            raise click.ClickException(f"{path} exists. Give another path with -o, or use --force to overwrite it.")
    if form != SCRIPT and no_run:
        raise click.ClickException(
            f"--as {form} cannot be combined with --no-run, because it needs the output of the script."
        )
    bisection = _read_verdict(verdict)
    # do not resolve links: the program sees the path that the user gave
    program = os.path.abspath(file)  # noqa: PTH100
    job = make_job(
        program,
        os.getcwd(),  # noqa: PTH109
        workspace_root(Path(program)),
        depth=Depth(depth or Depth.DYNAMO),
        arguments=context.obj or (),
        timeout_s=timeout,
    )
    judged_by = Criterion(criterion) if criterion else None
    try:
        if form == FOLDER:
            document.mkdir(parents=True, exist_ok=True)
        with _recorded(file, kind, selection) as recorded:
            chosen = kind or ("graph" if recorded else "source")
            entries = None if recorded else EntrySelection(entry, ()).choices(job)[0]
            request = Request(
                job, selection, out, judged_by, device, chosen, not no_run, timeout, entries, depth is None
            )
            written = asyncio.run(_write(request, recorded, python, quiet))
        form_text = asyncio.run(_write_form(written, form, document, bisection, python, file, timeout, quiet))
    except (CannotWrite, TraceError, InterpreterError, HostError, FileProblem, BadEntry, OSError) as problem:
        if form == FOLDER:
            with suppress(OSError):  # there, or not empty: it stays
                document.rmdir()
        raise click.ClickException(str(problem)) from None
    if as_json:
        told = {"file": str(document), "reproduces": written.reproduces, "sentence": written.sentence()}
        echo_json(json.dumps({**told, "notes": list(written.notes)}, indent=2))
    else:
        echo(str(document) if quiet else summary(written) + form_text)
    return 0 if written.verification is None or written.reproduces or written.is_as_in_eager else 1


def _read_verdict(path: Path | None) -> Bisection | None:
    if path is None:
        return None
    try:
        return from_json(read_regular_text(path))
    except (OSError, ValueError) as problem:
        raise click.ClickException(f"{path} is not the output of `bisect --json`: {problem}") from None


async def _write_form(
    written: Written,
    form: str,
    document: Path,
    bisection: Bisection | None,
    python: str | None,
    file: Path,
    timeout: float,
    quiet: bool,
) -> str:
    """Write the test, the report or the folder, and return what to print about it."""
    interpreter = find_interpreter(file, (), python)
    if form == UNIT_TEST:
        host = Host(interpreter)
        try:
            test = await write_unit_test(host, written, document, timeout)
        finally:
            await host.close()
        outcome = "It fails for the same reason." if test.fails else test.why
        return f"\n{document}: {outcome}\n  In PyTorch's repository it belongs in {test.belongs}."
    if form == ISSUE:
        host = Host(interpreter)
        try:
            versions = await collect_versions(ScriptRuns(host, written.job))
        finally:
            await host.close()
        return await asyncio.to_thread(_write_issue, written, versions, bisection, document)
    if form == FOLDER:
        return await _write_folder(written, document, bisection, interpreter, timeout, quiet)
    return ""


async def _write_folder(
    written: Written, folder: Path, bisection: Bisection | None, interpreter: str, timeout: float, quiet: bool
) -> str:
    host = Host(interpreter)
    try:
        with _progress(not quiet) as progress:
            made = await write_issue_folder(host, written, folder, bisection, timeout, progress)
    finally:
        await host.close()
    said = "".join(f"\n  {sentence}" for sentence in made.said)
    return f"\n{folder}: {made.title}{said}\nOpen a new issue with the report (nothing is sent before you submit it):\n{made.link}"


def _write_issue(written: Written, versions: str, bisection: Bisection | None, document: Path) -> str:
    write_beside(document, issue_text(written, versions, bisection))
    return f"\n{document}: {issue_title(written)}"


@contextmanager
def _recorded(file: Path, kind: str | None, selection: Selection) -> Iterator[Path | None]:
    """The trace file, if ``file`` is a recorded trace and not a program; for the block. Raises TraceError and CannotWrite."""
    if file.suffix == ".py" or not file.exists():
        yield None
        return
    if kind == "source" or selection.region:
        raise CannotWrite("A trace has no source. Use --kind graph with --frame or --finding.")
    with unpacked(file) as found:
        if len(found) > 1:
            names = ", ".join(trace.path.name for trace in found)
            raise CannotWrite(f"{file} has one trace per rank. Choose one of {names}.")
        yield found[0].path


async def _write(request: Request, recorded: Path | None, python: str | None, quiet: bool) -> Written:
    host = Host(find_interpreter(Path(request.job.file), (), python))
    try:
        with _progress(not quiet) as progress:
            if recorded is not None:
                return await write_recorded(host, recorded, request, progress)
            return await write_repro(host, request, progress)
    finally:
        await host.close()


def summary(written: Written) -> str:
    """What was written, and what happened when it ran."""
    lines = [f"{written.file}: {written.title}"]
    lines.append(f"  {written.sentence()}")
    if written.verification is not None:
        lines += [f"  {line}" for line in written.verification.summary().splitlines()[1:]]
    if written.data is not None:
        lines.append(f"  The problem depends on values of the run, which are saved in {written.data}.")
    lines += [f"  Note: {note}" for note in written.notes]
    return "\n".join(lines)


@contextmanager
def _progress(enabled: bool) -> Iterator[Callable[[str], None]]:
    """Show progress on stderr: in one line that changes, or a line for each step where that is no terminal."""
    console = SafeConsole(stderr=True)
    if not enabled or not console.is_terminal:
        yield lambda words: echo(words, err=True) if enabled else None
        return
    with console.status("starting") as spinner:
        yield lambda words: spinner.update(Text(words))
