"""``compile-lens choices``: shows and clears what was learned from the fixes that were taken."""

from __future__ import annotations

import json
from pathlib import Path

import click

from compile_lens.cli.options import json_option
from compile_lens.cli.terminal import as_given, echo, echo_json
from compile_lens.shown_text import visible_name
from compile_lens.state.fix_choices import FixChoices
from compile_lens.wording import counted


@click.group()
def choices() -> None:
    """Show or clear which fixes you took and which findings you ignored. They order the next ones; nothing leaves this machine."""


@choices.command("list")
@json_option("workspaces, with counts by code and rule")
def list_choices(as_json: bool) -> int:
    """Print what is known, by workspace."""
    store = FixChoices.of_user()
    known = {str(root): store.recall(root).taken for root in store.workspaces()}
    if as_json:
        echo_json(json.dumps(known, indent=2))
        return 0
    if not known:
        echo("No fix was taken and no finding was ignored in an editor.", err=True)
    for root, taken in known.items():
        echo(f"{visible_name(as_given(root))}:")
        for code, rules in sorted(taken.items()):
            said = ", ".join(f"{rule} {counted(times, 'time')}" for rule, times in sorted(rules.items()))
            echo(f"  {as_given(code)}: {as_given(said)}")
    return 0


@choices.command("clear")
@click.argument("folders", nargs=-1, type=click.Path(), metavar="[FOLDER]...")
@click.option("--all", "all_of_them", is_flag=True, help="Clear those of all workspaces.")
def clear(folders: tuple[str, ...], all_of_them: bool) -> int:
    """Forget the choices of each FOLDER."""
    if bool(folders) == all_of_them:
        raise click.UsageError("Give a FOLDER that `compile-lens choices list` prints, or --all.")
    store = FixChoices.of_user()
    known = store.workspaces()
    chosen = known if all_of_them else [Path(folder).absolute() for folder in folders]
    for root in chosen:
        if root not in known:
            workspace = visible_name(str(root))
            raise click.ClickException(f"Nothing is known of {workspace}.")
    for root in chosen:
        try:
            store.forget(root)
        except OSError as error:
            raise click.ClickException(f"{error.filename} cannot be deleted: {error.strerror}.") from None
        echo(f"{visible_name(as_given(str(root)))}: forgotten.")
    return 0
