"""The manual page compile-lens(1), made from the help of the verbs: ``python -m compile_lens.cli.man_page > compile-lens.1``."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click

from compile_lens import __version__
from compile_lens.cli.examples import EXAMPLES, introduced
from compile_lens.cli.terminal import echo
from compile_lens.cli.verbs import ALIASES, VERBS, cli

FILES = (
    ("pyproject.toml", "[tool.compile-lens] holds defaults of options (docs/terminal.md)."),
    (".gitignore", "Files that it excludes are not checked with a folder."),
)
ENVIRONMENT = (
    ("COMPILE_LENS_CACHE_DIR", "The folder of the caches. Default: that of the platform."),
    ("VIRTUAL_ENV, CONDA_PREFIX", "The environment whose Python runs your files."),
)
EXIT = (
    ("0", "Nothing was found."),
    ("1", "There are findings."),
    ("2", "A file could not be analyzed, or the usage was wrong."),
)


def man_page() -> str:
    """The page in the man macros of groff."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield f'.TH COMPILE\\-LENS 1 "" "compile\\-lens {__version__}" "User Commands"'
    yield ".SH NAME"
    yield "compile\\-lens \\- see what torch.compile did with your code"
    yield ".SH SYNOPSIS"
    yield ".B compile\\-lens"
    yield "\\fIVERB\\fR [\\fIOPTIONS\\fR] \\fIFILE\\fR... [\\-\\- \\fIARGUMENTS\\fR]"
    yield ".SH DESCRIPTION"
    yield _text(cli.help or "")
    context = click.Context(cli, info_name="compile-lens")
    for verb in VERBS:
        if verb in ALIASES:
            continue
        command = cli.get_command(context, verb)
        if command is not None:
            yield from _verb(verb, command, context)
    for title, rows in (("FILES", FILES), ("ENVIRONMENT", ENVIRONMENT), ("EXIT STATUS", EXIT)):
        yield f".SH {title}"
        yield from _rows(rows)


def _verb(verb: str, command: click.Command, above: click.Context) -> Iterator[str]:
    context = click.Context(command, info_name=verb, parent=above)
    yield f".SH {verb.upper()}"
    usage = " ".join(command.collect_usage_pieces(context))
    yield f".B compile\\-lens {verb}\n{_text(usage)}"
    yield ".PP"
    yield _text(command.help or "")
    options = [record for part in _options(command) if (record := part.get_help_record(context)) is not None]
    yield from _rows(options)
    if isinstance(command, click.Group):
        inner = [(name, command.commands[name].get_short_help_str(200)) for name in command.commands]
        yield from _rows(inner)
    for what, example in EXAMPLES.get(verb, ()):
        yield f".PP\n{_text(introduced(what))}\n.RS\n.B {_text(example)}\n.RE"


def _options(command: click.Command) -> list[click.Option]:
    return [part for part in command.params if isinstance(part, click.Option)]


def _rows(rows: list[tuple[str, str]] | tuple[tuple[str, str], ...]) -> Iterator[str]:
    for name, text in rows:
        yield f".TP\n.B {_text(name)}\n{_text(text)}"


def _text(text: str) -> str:
    """Text in which nothing is a request or an escape of groff."""
    words = re.sub(r"\s*\n\s*", " ", text.replace("\b", "").replace("``", "").strip())
    words = words.replace("\\", "\\e").replace("-", "\\-").replace("`", "")
    words = "".join(sign if sign.isascii() else f"\\[u{ord(sign):04X}]" for sign in words)
    return f"\\&{words}" if words.startswith((".", "'")) else words


if __name__ == "__main__":
    echo(man_page().removesuffix("\n"))
