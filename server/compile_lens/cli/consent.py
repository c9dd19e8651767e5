"""``compile-lens consent``: lists and revokes the permission of editors to run the files of a workspace."""

from __future__ import annotations

import json
from pathlib import Path

import click

from compile_lens.cli.options import json_option
from compile_lens.cli.terminal import echo, echo_json
from compile_lens.state.consent import ConsentStore


@click.group()
def consent() -> None:
    """List or revoke your permissions for background runs in editors. `check` needs none: it runs the files that you name."""


@consent.command("list")
@json_option("a list of folders")
def list_roots(as_json: bool) -> int:
    """Print the allowed workspace folders, one per line."""
    roots = [str(root) for root in ConsentStore.of_user().roots()]
    if as_json:
        echo_json(json.dumps(roots, indent=2))
    elif roots:
        echo("\n".join(roots))
    else:
        echo("Background runs are not allowed in any workspace.", err=True)
    return 0


@consent.command("revoke")
@click.argument("folders", nargs=-1, type=click.Path(), metavar="[FOLDER]...")
@click.option("--all", "all_of_them", is_flag=True, help="Revoke all permissions.")
def revoke(folders: tuple[str, ...], all_of_them: bool) -> int:
    """Revoke the permission of each FOLDER. An editor that has it open asks again before the next run."""
    if bool(folders) == all_of_them:
        raise click.UsageError("Give a FOLDER that `compile-lens consent list` prints, or --all.")
    store = ConsentStore.of_user()
    allowed = store.roots()
    chosen = allowed if all_of_them else [Path(folder).absolute() for folder in folders]
    for root in chosen:
        if root not in allowed:
            raise click.ClickException(f"{root} has no permission for background runs.")
    for root in chosen:
        try:
            store.revoke(root)
        except OSError as error:
            raise click.ClickException(f"{error.filename} cannot be deleted: {error.strerror}.") from None
        echo(f"{root}: background runs are no longer allowed.")
    return 0
