"""``compile-lens mcp``: the server for coding assistants."""

from __future__ import annotations

from importlib.util import find_spec

import click

from compile_lens.cli.options import python_option

MISSING = "The package mcp is not installed. Run `pip install 'compile-lens[mcp]'`."


@click.command()
@python_option
def mcp(python: str | None) -> int:
    """Serve coding assistants over standard input and output (MCP).

    Files run in the sandbox, and only in workspaces that you have allowed: in an editor, or with `compile-lens consent allow`.
    """
    if find_spec("mcp") is None:
        raise click.ClickException(MISSING)
    from compile_lens.mcp.server import serve

    return serve(python)
