"""``compile-lens explain``: explains a flag, an option, a code, an operator or a class of the compiler."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click
from rich.console import Console
from rich.markdown import Markdown

from compile_lens.knowledge.entry import KnowledgeEntry
from compile_lens.knowledge.lookup import Knowledge, search
from compile_lens.knowledge.render import footer, to_markdown
from compile_lens.knowledge.tables import open_tables
from compile_lens.workers.extraction import ExtractionError, cached_tables, extract_tables, find_torch
from compile_lens.workers.interpreter import InterpreterError, find_interpreter

WIDEST = 110


@click.command()
@click.argument("name", required=False)
@click.option(
    "--search", "words", metavar="WORDS", help="List everything whose name or text contains all of the words."
)
@click.option(
    "--python", metavar="PATH", help="Explain the torch of this interpreter.  [default: the nearest one that has torch]"
)
@click.option("--bundled", is_flag=True, help="Use the bundled tables and start no interpreter.")
def explain(name: str | None, words: str | None, python: str | None, bundled: bool) -> int:
    """Explain NAME: `TORCH_LOGS=fusion`, `torch._inductor.config.max_autotune`, `GB0059`, `aten.native_layer_norm`, `Pointwise`, …"""
    if (name is None) == (words is None):
        raise click.UsageError("Give a NAME or --search WORDS.")
    knowledge = _knowledge(python, bundled)
    if words is not None:
        return _list(search(knowledge, words), knowledge, words)
    assert name is not None
    entries = knowledge.find(name)
    if not entries:
        nearest = knowledge.nearest(name)
        click.echo(
            f"compile-lens: torch {knowledge.tables.torch} has no '{name}'.{_elsewhere(knowledge, name)}", err=True
        )
        if nearest:
            click.echo("Similar names: " + ", ".join(nearest), err=True)
        return 1
    console = Console(highlight=False)
    text = to_markdown(entries[0], knowledge.tables)
    if len(entries) > 1:
        text += "\n\nThe same name is also: " + ", ".join(
            f"`{entry.full_name}` ({entry.kind.label})" for entry in entries[1:]
        )
    if console.is_terminal:
        console.print(Markdown(text), width=min(console.width, WIDEST))
    else:
        click.echo(text)
    return 0


def _knowledge(python: str | None, bundled: bool) -> Knowledge:
    """The tables of the installed torch, or the bundled ones if there is no torch and the user named no interpreter."""
    if bundled:
        return Knowledge()
    try:
        interpreter = find_interpreter(Path.cwd() / "program.py", explicit=python)
    except InterpreterError as error:
        if python:
            raise click.ClickException(str(error)) from None
        return Knowledge()
    torch = find_torch(interpreter)
    if torch is None:
        if python:
            raise click.ClickException(f"{interpreter} has no torch.")
        return Knowledge()
    if cached_tables(torch) is None:
        click.echo(f"Reading torch {torch.version} (once, about half a minute) …", err=True)
    try:
        return Knowledge(open_tables(asyncio.run(extract_tables(torch))))
    except ExtractionError as error:
        click.echo(f"compile-lens: {error} Using the bundled tables.", err=True)
        return Knowledge()


def _elsewhere(knowledge: Knowledge, name: str) -> str:
    """The reason why this release does not have the name, if another one does."""
    reason = knowledge.why_unknown(name)
    return f" {reason[:1].upper()}{reason[1:]}." if reason else ""


def _list(entries: list[KnowledgeEntry], knowledge: Knowledge, words: str) -> int:
    if not entries:
        click.echo(f"compile-lens: nothing in torch {knowledge.tables.torch} matches '{words}'.", err=True)
        return 1
    for entry in entries:
        summary = entry.summary
        click.echo(f"{entry.full_name}  ({entry.kind.label.replace('`', '')})")
        if summary:
            click.echo(f"    {summary if len(summary) <= WIDEST else summary[: WIDEST - 1] + '…'}")
    click.echo(footer(entries[0], knowledge.tables).split(" · ")[0].strip("*"))
    return 0
