"""``compile-lens explain``: explains a flag, an option, a code, an operator or a class of the compiler."""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict
from pathlib import Path

import click
from rich.markdown import Markdown
from rich.status import Status as Spinner

from compile_lens.cli.options import json_option
from compile_lens.cli.safe_console import SafeConsole
from compile_lens.cli.terminal import echo, echo_json, remark
from compile_lens.knowledge.entry import KnowledgeEntry
from compile_lens.knowledge.lookup import Knowledge, search
from compile_lens.knowledge.render import footer, to_markdown
from compile_lens.knowledge.tables import bundled_tables, open_tables
from compile_lens.workers.extraction import ExtractionError, InstalledTorch, cached_tables, extract_tables, find_torch
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
@click.option(
    "--installed",
    is_flag=True,
    help="Read the installed torch first, which takes about 20 seconds, once per torch.  [default: only if it has been read]",
)
@click.option("--bundled", is_flag=True, help="Use the bundled tables and start no interpreter.")
@json_option("a list of entries; with --search, of kinds and names")
def explain(
    name: str | None, words: str | None, python: str | None, installed: bool, bundled: bool, as_json: bool
) -> int:
    """Explain NAME: `TORCH_LOGS=fusion`, `torch._inductor.config.max_autotune`, `GB0059`, `aten.native_layer_norm`, `Pointwise`, …"""
    if (name is None) == (words is None):
        raise click.UsageError("Give a NAME or --search WORDS.")
    if installed and bundled:
        raise click.UsageError("Give --installed or --bundled, not both.")
    torch = None if bundled else _find_torch(python)
    knowledge = _knowledge(torch, wait=installed)
    if words is not None:
        found = search(knowledge, words)
        if as_json:
            echo_json(json.dumps([{"kind": entry.kind.value, "name": entry.full_name} for entry in found], indent=2))
            return int(not found)
        return _list(found, knowledge, words)
    assert name is not None
    entries = knowledge.find(name)
    if not entries and torch is not None and knowledge.tables.instead_of:
        # only the installed torch knows whether it has the name
        knowledge = _knowledge(torch, wait=True)
        entries = knowledge.find(name)
    if not entries:
        nearest = knowledge.nearest(name)
        remark(f"torch {knowledge.tables.torch} has no '{name}'.{_elsewhere(knowledge, name)}")
        if nearest:
            echo("Similar names: " + ", ".join(nearest), err=True)
        return 1
    if as_json:
        shown = [{**asdict(entry), "kind": entry.kind.value, "torch": knowledge.tables.torch} for entry in entries]
        echo_json(json.dumps(shown, indent=2))
        return 0
    console = SafeConsole()
    text = to_markdown(entries[0], knowledge.tables)
    if len(entries) > 1:
        text += "\n\nThe same name is also: " + ", ".join(
            f"`{entry.full_name}` ({entry.kind.label})" for entry in entries[1:]
        )
    if console.is_terminal:
        console.print(Markdown(text), width=min(console.width, WIDEST))
    else:
        echo(text)
    return 0


def _find_torch(python: str | None) -> InstalledTorch | None:
    """The torch to explain; None if there is none and the user named no interpreter."""
    try:
        interpreter = find_interpreter(Path.cwd() / "program.py", explicit=python)
    except InterpreterError as error:
        if python:
            raise click.ClickException(str(error)) from None
        return None
    torch = find_torch(interpreter)
    if torch is None and python:
        raise click.ClickException(f"{interpreter} has no torch.")
    return torch


def _knowledge(torch: InstalledTorch | None, *, wait: bool) -> Knowledge:
    """The tables of ``torch`` if they were read before or the user waits for them, else the bundled ones, and a note if they differ."""
    if torch is None:
        return Knowledge()
    cached = cached_tables(torch)
    if cached is not None:
        return Knowledge(open_tables(cached))
    tables = bundled_tables(torch.version, str(torch.folder.parent))
    if wait:
        try:
            return Knowledge(open_tables(_read(torch)))
        except ExtractionError as error:
            remark(f"{error} Using the bundled tables.")
    elif tables.instead_of:
        echo(
            f"compile-lens: This is about torch {tables.torch}; torch {torch.version} is installed. "
            "Add --installed to read that one (once, about 20 s).",
            err=True,
        )
    return Knowledge(tables)


def _read(torch: InstalledTorch) -> Path:
    """Read the tables of ``torch``, with progress in a terminal."""
    text = f"Reading torch {torch.version} (once, about 20 s)"
    console = SafeConsole(stderr=True)
    if not console.is_terminal:
        echo(f"{text} …", err=True)
        return asyncio.run(extract_tables(torch))
    with Spinner(text, console=console) as spinner:
        return asyncio.run(
            extract_tables(torch, on_table=lambda kind, done, of: spinner.update(f"{text}: {done} of {of} tables"))
        )


def _elsewhere(knowledge: Knowledge, name: str) -> str:
    """The reason why this release does not have the name, if another one does."""
    reason = knowledge.why_unknown(name)
    return f" {reason[:1].upper()}{reason[1:]}." if reason else ""


def _list(entries: list[KnowledgeEntry], knowledge: Knowledge, words: str) -> int:
    if not entries:
        remark(f"nothing in torch {knowledge.tables.torch} matches '{words}'.")
        return 1
    for entry in entries:
        summary = entry.summary
        echo(f"{entry.full_name}  ({entry.kind.label.replace('`', '')})")
        if summary:
            echo(f"    {summary if len(summary) <= WIDEST else summary[: WIDEST - 1] + '…'}")
    echo(footer(entries[0], knowledge.tables).split(" · ")[0].strip("*"))
    return 0
