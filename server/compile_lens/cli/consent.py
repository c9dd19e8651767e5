"""``compile-lens consent``: the workspaces whose files editors may run in the background, and away with them."""

from __future__ import annotations

import json
from pathlib import Path

import click

from compile_lens.state.consent import ConsentStore


@click.group()
def consent() -> None:
    """List the workspaces for which you allowed background runs, or take that back. It is for editors: `check` runs what you name."""


@consent.command("list")
@click.option("--json", "as_json", is_flag=True, help="For programs: a list of folders.")
def list_roots(as_json: bool) -> int:
    """Print the folders, one a line."""
    roots = [str(root) for root in ConsentStore.of_user().roots()]
    if as_json:
        click.echo(json.dumps(roots, indent=2))
    elif roots:
        click.echo("\n".join(roots))
    else:
        click.echo("No workspace may run its files in the background.", err=True)
    return 0


@consent.command("revoke")
@click.argument("folders", nargs=-1, type=click.Path(), metavar="[FOLDER]...")
@click.option("--all", "all_of_them", is_flag=True, help="Every workspace.")
def revoke(folders: tuple[str, ...], all_of_them: bool) -> int:
    """Take it back for each FOLDER. An editor that has one open asks again before the next run."""
    if bool(folders) == all_of_them:
        raise click.UsageError("Name folders that `compile-lens consent list` prints, or --all.")
    store = ConsentStore.of_user()
    allowed = store.roots()
    chosen = allowed if all_of_them else [Path(folder).absolute() for folder in folders]
    for root in chosen:
        if root not in allowed:
            raise click.ClickException(f"{root} may not run anything in the background as it is.")
    for root in chosen:
        try:
            store.revoke(root)
        except OSError as error:
            raise click.ClickException(f"{error.filename} cannot be deleted: {error.strerror}.") from None
        click.echo(f"{root}: no background runs any more.")
    return 0
