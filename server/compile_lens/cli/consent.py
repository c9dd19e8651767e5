"""``compile-lens consent``: lists and revokes the permission of editors to run the files of a workspace."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import click

from compile_lens.cli.options import json_option
from compile_lens.cli.terminal import as_given, echo, echo_json
from compile_lens.shown_text import visible_name
from compile_lens.state.consent import ConsentStore

QUESTION = (
    "Editors and coding assistants will run Python files of {folder} and its subfolders. Runs are sandboxed: no network, no secrets, and "
    "changes are discarded."
)


@click.group()
def consent() -> None:
    """Give, list or revoke your permissions for runs of editors and assistants. `check` needs none: it runs the files that you name."""


@consent.command("list")
@json_option("a list of folders")
def list_roots(as_json: bool) -> int:
    """Print the allowed workspace folders, one per line."""
    roots = [str(root) for root in ConsentStore.of_user().roots()]
    if as_json:
        echo_json(json.dumps(roots, indent=2))
    elif roots:
        echo("\n".join(map(visible_name, roots)))
    else:
        echo("Background runs are not allowed in any workspace.", err=True)
    return 0


@consent.command("allow")
@click.argument("folder", type=click.Path(path_type=Path), metavar="FOLDER")
def allow(folder: Path) -> int:
    """Allow editors and coding assistants to run the files of FOLDER in the sandbox. Asks in the terminal."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise click.ClickException(
            "`consent allow` asks you, and needs a terminal: a script cannot give your permission."
        )
    root = Path(os.path.abspath(folder))  # noqa: PTH100 - an editor names the folder as the user does
    if not root.is_dir():
        name = visible_name(str(folder))
        raise click.ClickException(f"{name}: no such folder.")
    echo(QUESTION.format(folder=visible_name(as_given(str(root)))))
    if not click.confirm("Allow?", default=False):
        return 1
    try:
        ConsentStore.of_user().allow(root)
    except OSError as error:
        raise click.ClickException(f"Your answer could not be saved: {error.strerror}.") from None
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
            workspace = visible_name(str(root))
            raise click.ClickException(f"{workspace} has no permission for background runs.")
    for root in chosen:
        try:
            store.revoke(root)
        except OSError as error:
            raise click.ClickException(f"{error.filename} cannot be deleted: {error.strerror}.") from None
        workspace = visible_name(str(root))
        echo(f"{workspace}: background runs are no longer allowed.")
    return 0
