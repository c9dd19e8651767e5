"""A page for each command, from its help."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import click

from compile_lens.cli.examples import EXAMPLES
from compile_lens.cli.verbs import ALIASES, VERBS, cli
from reference_pages.index_page import index_page

INTRODUCTION = (
    "`compile-lens COMMAND --help` prints the same. Arguments after `--` belong to the script that runs. "
    "[In the terminal](../../terminal.md) says how to check folders, set defaults for a project, and complete commands."
)


def pages() -> dict[str, str]:
    """Path → Markdown."""
    context = click.Context(cli, info_name="compile-lens")
    verbs = [verb for verb in VERBS if verb not in ALIASES]
    found = {f"commands/{verb}.md": _page(verb, context) for verb in verbs}
    found["commands/index.md"] = index_page("Commands", INTRODUCTION, verbs)
    return found


def _page(verb: str, above: click.Context) -> str:
    command = cli.get_command(above, verb)
    assert command is not None
    context = click.Context(command, info_name=verb, parent=above)
    return "\n".join((f"# {verb}\n", *_command(command, context, 2), *_examples(verb)))


def _command(command: click.Command, context: click.Context, level: int) -> Iterator[str]:
    yield f"{_prose(command.help or '')}\n"
    yield f"```text\n{context.command_path} {' '.join(command.collect_usage_pieces(context))}\n```\n"
    options = [part for part in command.params if isinstance(part, click.Option)]
    rows = [record for part in options if (record := part.get_help_record(context)) is not None]
    if rows:
        yield "| option | |\n|---|---|"
        yield from (f"| `{_cell(name)}` | {_cell(text)} |" for name, text in rows)
        yield ""
    if isinstance(command, click.Group):
        for name, inner in command.commands.items():
            yield f"{'#' * level} {context.info_name} {name}\n"
            yield from _command(inner, click.Context(inner, info_name=name, parent=context), level + 1)


def _examples(verb: str) -> Iterator[str]:
    if verb in EXAMPLES:
        yield "## Examples\n"
    for what, command in EXAMPLES.get(verb, ()):
        yield f"{what.removesuffix('?')}{'?' if what.endswith('?') else ':'}\n\n```\n{command}\n```\n"


def _prose(text: str) -> str:
    return inspect.cleandoc(text.replace("\b", "").replace("``", "`"))


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("``", "`").replace("|", "\\|")
