"""``compile-lens cache``: shows and clears the private caches."""

from __future__ import annotations

import json
import os
from pathlib import Path

import click
from rich.filesize import decimal
from rich.table import Table

from compile_lens.cli.options import Amount, json_option
from compile_lens.cli.safe_console import SafeConsole
from compile_lens.cli.terminal import echo, echo_json, remark
from compile_lens.shown_text import visible_name
from compile_lens.workers.cache_health import find_cache_problem
from compile_lens.workers.cache_limit import CacheInUseError, clear, limit, measure
from compile_lens.workers.caches import CONTENTS, PARTS, cache_root


@click.group()
def cache() -> None:
    """Show or clear the caches of Compile Lens. The caches of your own torch runs are separate and never touched."""


@cache.command("dir")
def print_dir() -> int:
    """Print the cache folder. Set COMPILE_LENS_CACHE_DIR to move it."""
    echo(str(cache_root(os.environ)))
    return 0


@cache.command("stat")
@json_option("the folder, and files and bytes of each part")
def print_sizes(as_json: bool) -> int:
    """Print the size of each part."""
    root = cache_root(os.environ)
    parts = measure(root)
    if as_json:
        sizes = {part.name: {"files": part.files, "bytes": part.bytes} for part in parts}
        echo_json(json.dumps({"folder": str(root), "parts": sizes}, indent=2))
        return _told(root)
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 3, 0, 0))
    for name, justify in (("part", "left"), ("size", "right"), ("files", "right"), ("what it is", "left")):
        table.add_column(name, justify=justify)  # type: ignore[arg-type]
    for part in parts:
        table.add_row(part.name, decimal(part.bytes), f"{part.files:,}", CONTENTS[part.name])
    console = SafeConsole(soft_wrap=True)
    console.print(visible_name(str(root)))
    console.print(table)
    return _told(root)


@cache.command("clear")
@click.argument("parts", nargs=-1, type=click.Choice(PARTS))
def clear_parts(parts: tuple[str, ...]) -> int:
    """Delete the PARTS, or everything. Compile Lens rebuilds what it needs."""
    try:
        size = clear(cache_root(os.environ), parts or PARTS)
    except CacheInUseError as error:
        raise click.ClickException(str(error)) from None
    except OSError as error:
        raise click.ClickException(f"{error.filename} cannot be deleted: {error.strerror}.") from None
    echo(f"{decimal(size)} freed.")
    return _told(cache_root(os.environ))


def _told(root: Path) -> int:
    """Print what is wrong with the folder; the exit code. A disk that is full is no error of the command."""
    problem = find_cache_problem(root)
    if problem is None:
        return 0
    remark(f"{problem}")
    return 0 if problem.is_full else 2


@cache.command("limit")
@click.argument("gigabytes", type=Amount(min=0.0))
def shrink(gigabytes: float) -> int:
    """Shrink the caches to GIGABYTES, deleting the least recently used files first."""
    echo(f"{decimal(limit(cache_root(os.environ), int(gigabytes * 1e9), now=True))} freed.")
    return _told(cache_root(os.environ))
