"""``compile-lens entries``: lists the ways to run a file, in the order in which `check` tries them, without running it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import click
from rich.console import Console
from rich.text import Text

from compile_lens.cli.safe_console import SafeConsole
from compile_lens.cli.terminal import as_given, echo_json, remark
from compile_lens.cli.text_output import display_path
from compile_lens.documents.source_file import FileProblem, read_source
from compile_lens.entries.entry import Entry, EntryChoice
from compile_lens.entries.entry_spec import BadEntry
from compile_lens.pipeline.entry_choice import choose
from compile_lens.pipeline.workspace import workspace_root
from compile_lens.state.call_memory import CallMemory


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--format",
    "output_format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Output format.",
)
def entries(files: tuple[str, ...], output_format: str) -> int:
    """List the ways to run each FILE and where each was found. `check` uses the first one that compiles anything.

    Choose another one with `check --entry ENTRY` or with a comment in the file: `# compile-lens: entry=ENTRY`.
    """
    code = 0
    found: list[tuple[str, EntryChoice]] = []
    for file in files:
        path = Path(os.path.abspath(file))  # noqa: PTH100 - resolve() would follow a link
        try:
            recording = CallMemory.of_user().recall(str(path))
            choice = choose(str(path), read_source(path), workspace_root(path), recording=recording)
            found.append((str(path), choice))
        except (FileProblem, BadEntry) as problem:
            remark(f"{as_given(str(problem))}")
            code = 2
    if output_format == "json":
        echo_json(
            json.dumps(
                [{"file": file, "entries": list(map(_json, choice.entries))} for file, choice in found], indent=2
            )
        )
    else:
        console = SafeConsole()
        for file, choice in found:
            _show(console, file, choice)
    return code


def _json(entry: Entry) -> dict[str, object]:
    return {"entry": entry.spec, "kind": entry.kind.value, "origin": entry.origin, "line": entry.line}


def _show(console: Console, file: str, choice: EntryChoice) -> None:
    chosen = ", chosen by you" if choice.is_explicit else ""
    console.print(Text(f"{display_path(file)}{chosen}:", style="bold"), soft_wrap=True)
    for number, entry in enumerate(choice.entries, 1):
        line = Text(f"  {number}. {entry.spec}", style="bold")
        where = f", line {entry.line}" if entry.line and f"line {entry.line}" not in entry.origin else ""
        line.append(f"  {entry.origin}{where}", style="default")
        console.print(line, soft_wrap=True)
    console.print()
