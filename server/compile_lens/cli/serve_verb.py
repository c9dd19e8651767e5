"""``compile-lens serve``: the language server."""

from __future__ import annotations

import click

from compile_lens.cli.serve import run_server


@click.command()
@click.option("--tcp", metavar="[HOST:]PORT", help="Listen on a local TCP port (for debugging).  [default: stdio]")
def serve(tcp: str | None) -> int:
    """Run the language server."""
    return run_server(_address(tcp) if tcp else None)


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not port.isdecimal() or not 0 < int(port) < 65536:
        raise click.BadParameter(f"'{text}' is not a port. Give PORT or HOST:PORT.", param_hint="--tcp")
    return host or "127.0.0.1", int(port)
