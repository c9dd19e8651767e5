"""``compile-lens minify``: makes a repro smaller while it fails in the same way."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from rich.status import Status as Spinner
from rich.text import Text

from compile_lens.cli.bisect import absolute
from compile_lens.cli.options import json_option, python_option, timeout_option
from compile_lens.cli.safe_console import SafeConsole
from compile_lens.cli.terminal import echo, echo_json, remark
from compile_lens.documents.source_file import FileProblem, source_if_readable
from compile_lens.repro.minify import Minified, MinifyOptions, MinifyProgress
from compile_lens.repro.minify import minify as run_minification
from compile_lens.state.atomic_file import write_beside
from compile_lens.wording import counted
from compile_lens.workers.host import Host, HostError
from compile_lens.workers.interpreter import InterpreterError, find_interpreter


@click.command()
@click.argument("repro", type=click.Path(path_type=Path), metavar="REPRO [-- ARGUMENTS]")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="PATH", help="File to write.  [default: REPRO_min.py]"
)
@click.option("--no-torch", is_flag=True, help="Skip torch's own minifier, which runs first otherwise.")
@click.option(
    "--most-runs",
    type=click.IntRange(min=1),
    default=400,
    show_default=True,
    metavar="N",
    help="Run the repro at most N times.",
)
@timeout_option("Time limit.", 900.0)
@click.option("-q", "--quiet", is_flag=True, help="Show no progress.")
@python_option
@json_option("the path of the smaller repro or null, its lines, nodes and inputs, and a sentence")
@click.pass_context
def minify(
    context: click.Context,
    repro: Path,
    output: Path | None,
    no_torch: bool,
    most_runs: int,
    timeout: float,
    quiet: bool,
    python: str | None,
    as_json: bool,
) -> int:
    """Make REPRO smaller: fewer nodes, smaller shapes, simpler dtypes, constant inputs, less surrounding code.

    REPRO is a file that `compile-lens repro` wrote, or one with the same functions. Each smaller version is run and must fail in the
    same way. Ctrl+C keeps the smallest one so far. The exit code is 1 if there is a smaller repro, 0 if there is none, and 2 if REPRO
    does not fail or cannot run.
    """
    file = absolute(repro)
    target = Path.cwd() / output if output is not None else file.with_name(f"{file.stem}_min.py")
    options = MinifyOptions(timeout, most_runs=most_runs, torch=not no_torch, arguments=context.obj or ())
    try:
        interpreter = find_interpreter(file, (), python)
        with _progress(quiet) as tell:
            found, interrupted = asyncio.run(_run(interpreter, file, target, options, tell))
    except (HostError, InterpreterError, FileProblem) as problem:
        raise click.ClickException(str(problem)) from None
    if found is not None and found.text:
        write_beside(target, found.text)
    if as_json:
        echo_json(_as_json(found, target))
        return 1 if found and found.text else 0 if found and found.verified else 2
    if found is None or not found.text:
        remark(f"{found.sentence if found else 'Nothing smaller was found.'}")
        for note in found.notes if found else ():
            echo(note, err=True)
        return 0 if found and found.verified else 2
    before, after = (source_if_readable(str(file)) or "").count("\n"), found.text.count("\n")
    graph = (
        f"{counted(found.nodes, 'node')}, inputs {', '.join(found.inputs) or 'none'}; "
        if found.nodes is not None
        else ""
    )
    echo(f"{target}: {graph}{counted(after, 'line')} instead of {before}, after {counted(found.runs, 'run')}.")
    echo(
        "Interrupted: this is the smallest repro so far, and it failed when it ran." if interrupted else found.sentence
    )
    for note in found.notes:
        echo(note)
    return 1


def _as_json(found: Minified | None, target: Path) -> str:
    made = found is not None and bool(found.text)
    told: dict[str, object] = {"file": str(target) if made else None, "verified": found is not None and found.verified}
    if found is not None:
        told |= {
            "lines": found.text.count("\n"),
            "nodes": found.nodes,
            "inputs": list(found.inputs),
            "runs": found.runs,
        }
        told |= {"sentence": found.sentence, "notes": list(found.notes)}
    return json.dumps(told, indent=2)


async def _run(
    interpreter: str, file: Path, target: Path, options: MinifyOptions, tell: Callable[[MinifyProgress], None] | None
) -> tuple[Minified | None, bool]:
    host = Host(interpreter)
    smallest: list[Minified] = []
    try:
        return await run_minification(host, file, target.with_suffix(".pt"), options, tell, smallest.append), False
    except asyncio.CancelledError:  # Ctrl+C: asyncio.run cancels its main task
        task = asyncio.current_task()
        if task is not None and hasattr(task, "uncancel"):
            task.uncancel()
        return (smallest[-1] if smallest else None), True
    finally:
        await host.close()


@contextmanager
def _progress(quiet: bool) -> Iterator[Callable[[MinifyProgress], None] | None]:
    console = SafeConsole(stderr=True)
    if quiet or not console.is_terminal:
        yield None
        return
    with Spinner("starting torch", console=console) as spinner:
        yield lambda progress: spinner.update(Text(str(progress)))
