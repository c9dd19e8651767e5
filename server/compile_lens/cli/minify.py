"""``compile-lens minify``: a smaller repro that fails in the same way."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from rich.console import Console
from rich.status import Status as Spinner

from compile_lens.cli.bisect import absolute
from compile_lens.repro.minify import Minified, MinifyOptions, Progress
from compile_lens.repro.minify import minify as run_minification
from compile_lens.workers.host import Host, HostError
from compile_lens.workers.interpreter import InterpreterError, find_interpreter


@click.command()
@click.argument("repro", type=click.Path(path_type=Path), metavar="REPRO [-- ARGUMENTS]")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Where to write it.  [default: REPRO_min.py]")
@click.option("--no-torch", is_flag=True, help="Do not try torch's own minifier first.")
@click.option(
    "--most-runs", type=click.IntRange(min=1), default=400, show_default=True, metavar="N", help="Of the repro."
)
@click.option(
    "--timeout", type=click.FloatRange(min=1), default=900.0, show_default=True, metavar="SECONDS", help="For all."
)
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
@click.option(
    "--python", metavar="PATH", help="The interpreter to run with.  [default: the nearest one that has torch]"
)
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
) -> int:
    """Make REPRO smaller: fewer nodes, smaller shapes, simpler dtypes, constant inputs, less code around.

    REPRO is a file that `compile-lens repro` wrote, or one with the same functions. Each smaller one was run, and failed in the same
    way. Ctrl+C keeps the smallest so far. The exit code is 1 when there is a smaller repro, 0 when there is none, 2 when REPRO does not
    fail or cannot be run.
    """
    file = absolute(repro)
    target = Path.cwd() / output if output is not None else file.with_name(f"{file.stem}_min.py")
    options = MinifyOptions(timeout, most_runs=most_runs, torch=not no_torch, arguments=context.obj or ())
    try:
        interpreter = find_interpreter(file, (), python)
        with _progress(quiet) as tell:
            found, interrupted = asyncio.run(_run(interpreter, file, target, options, tell))
    except (HostError, InterpreterError) as problem:
        raise click.ClickException(str(problem)) from None
    if found is None or not found.text:
        click.echo(
            f"compile-lens: {found.sentence if found else 'Nothing smaller was found before the end.'}", err=True
        )
        for note in found.notes if found else ():
            click.echo(note, err=True)
        return 0 if found and found.verified else 2
    target.write_text(found.text, encoding="utf-8")
    before, after = file.read_text(encoding="utf-8").count("\n"), found.text.count("\n")
    graph = f"{found.nodes} nodes, inputs {', '.join(found.inputs) or 'none'}; " if found.nodes is not None else ""
    click.echo(f"{target}: {graph}{after} lines instead of {before}, after {found.runs} runs.")
    click.echo(
        "Interrupted: this is the smallest so far, and it was bad when it was run." if interrupted else found.sentence
    )
    for note in found.notes:
        click.echo(note)
    return 1


async def _run(
    interpreter: str, file: Path, target: Path, options: MinifyOptions, tell: Callable[[Progress], None] | None
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
def _progress(quiet: bool) -> Iterator[Callable[[Progress], None] | None]:
    console = Console(stderr=True, highlight=False)
    if quiet or not console.is_terminal:
        yield None
        return
    with Spinner("starting torch", console=console) as spinner:
        yield lambda progress: spinner.update(str(progress))
