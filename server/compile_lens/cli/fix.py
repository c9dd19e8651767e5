"""``compile-lens fix``: applies fixes that are verified by runs, and prints the change."""

from __future__ import annotations

import asyncio
import io
import itertools
import json
import os
import sys
import tokenize
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import click

from compile_lens import __version__
from compile_lens.agent.runtime.regular_file import read_regular
from compile_lens.analysis.filters import Filters
from compile_lens.analysis.finding import Finding
from compile_lens.analysis.outcome import Outcome
from compile_lens.cli.options import json_option, python_option, sandbox_options, timeout_option
from compile_lens.cli.terminal import as_given, echo, echo_json
from compile_lens.cli.text_output import display_path
from compile_lens.documents.source_file import FileProblem, read_source, source_if_readable
from compile_lens.entries.entry import AUTOMATIC
from compile_lens.entries.entry_spec import BadEntry
from compile_lens.fixes.as_json import kept_json, repaired_json
from compile_lens.fixes.fix import Fix, FixKind, apply_fix, line_before
from compile_lens.fixes.one_graph import Kept, keep_whole
from compile_lens.fixes.repair import NOT_HERE, WITH_LOSS, WITHOUT_LOSS, Repair, Repaired, Wanted
from compile_lens.fixes.verify import LONGEST_REQUESTED_S, CandidateFix, Verifier, can_compare, why_not_verified
from compile_lens.pipeline.analyze import analyze
from compile_lens.pipeline.entry_choice import analyze_by_entries
from compile_lens.pipeline.file_analysis import EntrySelection, Hosts
from compile_lens.pipeline.job_factory import Confinement, make_job
from compile_lens.pipeline.workspace import workspace_root
from compile_lens.state.atomic_file import write_atomically
from compile_lens.workers.interpreter import InterpreterError, find_interpreter
from compile_lens.workers.job import Job

T = TypeVar("T")
NO_FILTERS = Filters()
CLEAN = "clean"


@click.command()
@click.argument("file", type=click.Path(), metavar="FILE [-- ARGUMENTS]")
@click.option("--finding", metavar="CODE[@LINE]", help="Fix this finding only, such as GB0170 or GB0170@12.")
@click.option("--all", "fix_all", is_flag=True, help="Fix all findings, one after the other, until nothing improves.")
@click.option("--until", type=click.Choice([CLEAN]), help="As --all; exit with 1 unless nothing is left to fix.")
@click.option(
    "--with-loss",
    is_flag=True,
    help="Also apply fixes that lose what their title says, such as a message that is printed.",
)
@click.option(
    "--one-graph",
    is_flag=True,
    help="Instead, set fullgraph=True for each region without a break, where a run shows that it holds.",
)
@click.option(
    "--diff/--write", "only_diff", default=True, help="Print the change, or write it to FILE.  [default: --diff]"
)
@click.option(
    "--entry", default=AUTOMATIC, show_default=True, metavar="ENTRY", help="How to run the file, as in `check`."
)
@python_option
@timeout_option("Time limit of a run.")
@sandbox_options
@json_option("the fixes with their effects, what remains, and the change")
@click.pass_context
def fix(
    context: click.Context,
    file: str,
    finding: str | None,
    fix_all: bool,
    until: str | None,
    with_loss: bool,
    one_graph: bool,
    only_diff: bool,
    entry: str,
    python: str | None,
    timeout: float,
    confinement: Confinement,
    as_json: bool,
) -> int:
    """Run FILE, try fixes for its breaks, recompiles and compile errors on copies of the text, and print the best one as a diff.

    A fix is applied only if a run shows that it helps, that nothing new is found, and that the program computes what the original computes
    in eager. FILE stays as it is without --write. The exit code is 1 if something could be fixed and nothing was.
    """
    path = Path(os.path.abspath(file))  # noqa: PTH100 - resolve() would follow a link
    try:
        text = read_source(path, keep_line_ends=True)
        if not only_diff:
            _written_place(path)
        job = make_job(
            str(path),
            os.getcwd(),  # noqa: PTH109
            workspace_root(path),
            text=text,
            arguments=context.obj or (),
            timeout_s=timeout,
            confinement=confinement,
        )
        kinds = WITH_LOSS if with_loss else WITHOUT_LOSS
        wanted, once = _wanted(finding), not (fix_all or until)
        kept: tuple[Kept, ...] = ()

        async def repair(host: Any, verifier: Verifier) -> Repaired:
            with _progress(as_json) as tell_try:
                tell = (lambda _: None) if as_json else ToldSteps(text).tell
                return await Repair(verifier, wanted, kinds, once, tell, tell_try).run(host)

        async def keep(host: Any, verifier: Verifier) -> Repaired:
            nonlocal kept
            changed, kept = await keep_whole(host, verifier, (lambda _: None) if as_json else partial(_tell_kept, path))
            return Repaired(text, changed, (), (), (verifier.before.counts, verifier.before.counts))

        repaired = asyncio.run(_verified(job, text, python, entry, keep if one_graph else repair))
    except (FileProblem, BadEntry, InterpreterError) as problem:
        raise click.ClickException(str(problem)) from None
    written = not only_diff and repaired.text != text
    if written:
        _write(_written_place(path), text, repaired.text)
    if as_json:
        document = {
            "version": 1,
            "tool": {"name": "compile-lens", "version": __version__},
            **repaired_json(str(path), repaired, written),
            **({"one_graph": [kept_json(each) for each in kept]} if one_graph else {}),
        }
        echo_json(json.dumps(document, indent=2))
    elif one_graph:
        _show_kept(path, repaired, kept, written)
    else:
        _show(path, repaired, written)
    if one_graph:
        return int(bool(kept) and not any(each.holds for each in kept))
    return int(bool(repaired.remaining) and (until == CLEAN or not repaired.steps))


async def _verified(
    job: Job, text: str, python: str | None, entry: str, work: Callable[[Any, Verifier], Awaitable[T]]
) -> T:
    """What ``work`` returns for a run of ``text`` and what tells the effects of its changes."""
    hosts = Hosts()
    used: list[Job] = []

    async def remembering(host: Any, job: Job, on_partial: Any = None, filters: Filters = NO_FILTERS) -> Outcome:
        used.append(job)
        return await analyze(host, job, on_partial, filters)

    try:
        host = hosts.of(0)(find_interpreter(Path(job.file), (), python))
        before: Outcome | None = None
        for choice in EntrySelection(entry, ()).choices(job):
            before = await analyze_by_entries(remembering, host, job, choice)
        if before is None or before.failure or not can_compare(before, LONGEST_REQUESTED_S):
            why = before.failure.rstrip(".") if before is not None and before.failure else ""
            reason = why or (why_not_verified(before, LONGEST_REQUESTED_S) if before is not None else "nothing was run")
            raise click.ClickException(f"No fix can be verified: {reason}.")
        of_entry = next((each for each in reversed(used) if each.entry == before.entry), used[-1])
        return await work(host, Verifier(analyze, of_entry, text, before))
    finally:
        await hosts.close()


def _wanted(finding: str | None) -> Wanted:
    code, _, line = (finding or "").partition("@")
    if line and not line.isdecimal():
        raise click.UsageError(f"--finding {finding}: write CODE or CODE@LINE.")
    return lambda each, _: (
        (not code or code in (each.code, each.kind.value)) and (not line or each.place.line == int(line))
    )


@contextmanager
def _progress(silent: bool) -> Iterator[Callable[[Finding, Fix], None]]:
    """What says in a terminal which fix is being tried, for as long as that takes."""
    if silent or not sys.stderr.isatty():
        yield lambda _finding, _fix: None
        return
    from compile_lens.cli.safe_console import SafeConsole

    number = itertools.count(1)
    with SafeConsole(stderr=True).status("Trying fixes") as spinner:
        yield lambda finding, fix: spinner.update(
            f"Try {next(number)}: {fix.rule} for {finding.code} in line {finding.place.line}"
        )


class ToldSteps:
    """Tells what is applied, with lines of the file as it is: each step is found in the text that the one before it has changed."""

    def __init__(self, text: str) -> None:
        self._first = self._text = text

    def tell(self, step: CandidateFix) -> None:
        place = step.finding.place
        line = line_before(self._first, self._text, place.line)
        self._text = apply_fix(self._text, step.fix)
        name = f"{display_path(place.file)}:{line}: {step.finding.code}"
        echo(as_given(f"{name}: {step.fix.title} ({step.fix.rule}): {step.words}"), err=True)


def _tell_kept(path: Path, kept: Kept) -> None:
    region = kept.whole.region
    said = kept.whole.fix.title if kept.holds else f"`fullgraph=True` is not set for `{region.name}`"
    echo(as_given(f"{display_path(str(path))}:{region.line}: {said}: {kept.words}"), err=True)


def _show_kept(path: Path, repaired: Repaired, kept: tuple[Kept, ...], written: bool) -> None:
    change = repaired.diff(display_path(str(path)))
    if change and not written:
        echo(change.rstrip("\n"))
    if written:
        number = sum(each.holds for each in kept)
        regions = "1 region" if number == 1 else f"{number} regions"
        echo(as_given(f"Wrote {display_path(str(path))}: `fullgraph=True` for {regions}."), err=True)
    elif not kept:
        echo("Nothing to set: each region has a break, was not compiled, or sets `fullgraph` itself.", err=True)


def _show(path: Path, repaired: Repaired, written: bool) -> None:
    name = display_path(str(path))
    change = repaired.diff(name)
    if change and not written:
        echo(change.rstrip("\n"))
    for left in repaired.remaining:
        place = left.finding.place
        is_moved = not written and left.why != NOT_HERE
        line = line_before(repaired.before, repaired.text, place.line) if is_moved else place.line
        echo(as_given(f"{display_path(place.file)}:{line}: {left.finding.code} remains: {left.why}"), err=True)
    losing = {fix.rule: None for left in repaired.remaining for fix in left.undecided if fix.kind is FixKind.LOSSY}
    if losing:
        echo(as_given(f"`--with-loss` also applies {', '.join(losing)}."), err=True)
    if written:
        echo(
            as_given(f"Wrote {name}: {'1 fix' if len(repaired.steps) == 1 else f'{len(repaired.steps)} fixes'}."),
            err=True,
        )
    elif not repaired.steps:
        echo("Nothing to fix." if not repaired.remaining else "No verified fix.", err=True)


def _written_place(path: Path) -> Path:
    """Where ``path`` leads. Raises click.ClickException where a link leads out of the workspace, which a repository may have brought."""
    real, root = Path(os.path.realpath(path)), workspace_root(path) or path.parent
    if not real.is_relative_to(os.path.realpath(root)):
        raise click.ClickException(
            f"{display_path(str(path))} is a link that leads out of {root}, so nothing is written. "
            f"To change the file that it leads to, give that one: {real}."
        )
    return real


def _write(path: Path, before: str, text: str) -> None:
    """Write the text as the file was encoded, with the file's permissions. Raises click.ClickException where it is not ``before`` any more:
    runs take minutes, in which the user may have gone on."""
    name = display_path(str(path))
    try:
        if source_if_readable(str(path), keep_line_ends=True) != before:
            raise click.ClickException(f"{name} changed while fixes were tried, so nothing was written. Try again.")
        encoding, _ = tokenize.detect_encoding(io.BytesIO(read_regular(path)).readline)
        mode = path.stat().st_mode
        write_atomically(path, text.encode(encoding))
        path.chmod(mode)
    except OSError as error:
        raise click.ClickException(f"{name} cannot be written: {error.strerror}.") from None
    except UnicodeEncodeError:
        raise click.ClickException(f"{name} cannot be written: its encoding, {encoding}, lacks a character.") from None
