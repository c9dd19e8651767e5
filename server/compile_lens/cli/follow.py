"""``compile-lens watch``: prints what a job that runs elsewhere compiles, from the folder of its traces."""

from __future__ import annotations

import time
from pathlib import Path

import click

from compile_lens.cli.following import POLL_S, Following
from compile_lens.cli.options import Amount, just_my_code_option, map_option, output_options
from compile_lens.cli.saving import Saving, saving_options
from compile_lens.cli.terminal import echo, remark
from compile_lens.pipeline.live_run import LiveRun


@click.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path), metavar="DIR")
@map_option
@click.option(
    "--for",
    "seconds",
    type=Amount(min=0),
    metavar="SECONDS",
    help="Stop after this many seconds.  [default: at Ctrl+C]",
)
@just_my_code_option
@saving_options
@output_options
def watch(
    folder: Path,
    maps: tuple[tuple[str, str], ...],
    seconds: float | None,
    just_my_code: bool,
    saving: Saving,
    output_format: str,
    fail_on: str,
    quiet: bool,
    verbose: bool,
) -> int:
    """Follow DIR, to which a running job writes its traces (TORCH_TRACE=DIR): print each finding as it arrives, and all at Ctrl+C.

    DIR may be on a mounted file system, and need not exist yet. The exit code is 0 if nothing was found, and 1 if there are findings at
    or above --fail-on.
    """
    following = Following(LiveRun(folder.absolute(), maps=maps, just_my_code=just_my_code), quiet, verbose)
    echo(f"Following {folder}. Press Ctrl+C for the report.", err=True)
    end = None if seconds is None else time.monotonic() + seconds
    try:
        while end is None or time.monotonic() < end:
            following.look()
            time.sleep(POLL_S)
    except KeyboardInterrupt:
        echo(err=True)
    following.look(is_over=True)
    if following.live.is_empty:
        remark(f"{folder} has no torch trace yet.")
        return 0
    outcomes, code = following.finish(output_format, fail_on, to_stderr=False)
    return max(code, saving.save(outcomes))
