"""``compile-lens run``: starts a program as it is, and prints what torch.compile does with it while it runs."""

from __future__ import annotations

import os
import shlex
from contextlib import ExitStack
from pathlib import Path

import click

from compile_lens.cli.following import POLL_S, Following
from compile_lens.cli.options import NEVER, just_my_code_option
from compile_lens.cli.saving import Saving, saving_options
from compile_lens.cli.terminal import echo, remark
from compile_lens.pipeline.live_run import LiveRun, trace_files_in
from compile_lens.temporary_folders import sweep, temporary_folder
from compile_lens.workers.launched import TRACE, Launched, LaunchError

NOTHING = "compile-lens: nothing was compiled: the program wrote no trace."


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="-- COMMAND")
@click.option(
    "--trace",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Keep the trace in this folder.  [default: $TORCH_TRACE, else it is deleted at the end]",
)
@just_my_code_option
@saving_options
@click.option("-v", "--verbose", is_flag=True, help="Also print torch's own text.")
@click.option("-q", "--quiet", is_flag=True, help="Print a line for each finding, and no report at the end.")
@click.pass_context
def run(
    context: click.Context,
    arguments: tuple[str, ...],
    folder: Path | None,
    just_my_code: bool,
    saving: Saving,
    verbose: bool,
    quiet: bool,
) -> int:
    """Run COMMAND, and print what torch.compile does with it while it runs: `compile-lens run -- python train.py`.

    The program is not changed and not sandboxed: it runs as without `compile-lens run`, and torch writes its trace (TORCH_TRACE) as well.
    Findings are printed to stderr. The exit code is the program's, and signals are passed on to it.
    """
    after: tuple[str, ...] = context.obj or ()
    command = (*arguments, "--", *after) if arguments and after else arguments or after
    if not command:
        raise click.UsageError("Name the program to run: compile-lens run -- python train.py")
    sweep()  # what a command that was killed has left
    with ExitStack() as ends:
        given = folder or (Path(os.environ[TRACE]) if os.environ.get(TRACE) else None)
        where = given or Path(ends.enter_context(temporary_folder()))
        older = frozenset(trace_files_in(where.absolute()))
        live = LiveRun(where.absolute(), older, name=_name(command), just_my_code=just_my_code)
        following = Following(live, quiet, verbose)
        try:
            program = Launched(command, where.absolute(), os.environ)
        except LaunchError as problem:
            remark(f"{problem}")
            return problem.code
        with program.passing_signals_on():
            while not program.wait(POLL_S):
                following.look()
            following.look(is_over=True)
            if following.live.is_empty:
                echo(NOTHING, err=True)
            else:
                saving.save(following.outcomes())
                if not quiet:  # each line has been printed
                    following.finish("text", NEVER, to_stderr=True)
        if folder is not None:
            remark(f"the trace is in {folder}.")
        return program.code


def _name(command: tuple[str, ...]) -> str:
    """``command`` as people say it: ``python train.py``."""
    return shlex.join((Path(command[0]).name, *command[1:]))
