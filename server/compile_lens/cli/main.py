"""The command ``compile-lens``: its verbs and its error messages."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import click

from compile_lens import __version__
from compile_lens.cli.examples import epilog
from compile_lens.cli.project_options import project_defaults
from compile_lens.cli.terminal import as_given, echo

# verb → the module of this package that defines a command of that name
VERBS = {
    "check": "check",
    "vary": "vary",
    "entries": "entries",
    "predict": "predict",
    "trace": "trace",
    "report": "report",
    "run": "run",
    "watch": "follow",
    "diff": "diff",
    "explain": "explain",
    "doctor": "doctor",
    "cache": "cache",
    "consent": "consent",
    "bisect": "bisect",
    "rebisect": "bisect",
    "repro": "repro",
    "minify": "minify",
    "logs": "logs",
    "serve": "serve",
}


NAME = "compile-lens"
# names that verbs had before
ALIASES = {"verify": "rebisect"}


class Verbs(click.Group):
    """Loads the module of a verb on demand: ``serve`` does without the terminal's libraries, ``check`` without the protocol's."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        verb = ALIASES.get(cmd_name, cmd_name)
        if verb not in VERBS:
            return None
        command = getattr(import_module(f"compile_lens.cli.{VERBS[verb]}"), verb)
        assert isinstance(command, click.Command)
        command.epilog = epilog(verb)
        return command


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, "-V", "--version", message="compile-lens %(version)s")
def cli() -> None:
    """See what torch.compile did with your code: graph breaks, recompiles and compile errors, at the line that causes them."""


def _split(arguments: list[str]) -> tuple[list[str], tuple[str, ...]]:
    """Split off the arguments after ``--``, which belong to the script that is run."""
    if "--" not in arguments:
        return arguments, ()
    at = arguments.index("--")
    return arguments[:at], tuple(arguments[at + 1 :])


def main() -> None:
    """Entry point. A usage error prints one sentence to stderr and exits with 2."""
    own, for_script = _split(sys.argv[1:])
    try:
        defaults = project_defaults(Path.cwd())
        code = cli(own, NAME, obj=for_script, standalone_mode=False, default_map=defaults)
    except click.exceptions.NoArgsIsHelpError as error:
        echo(error.format_message(), err=True)
        code = 2
    except click.ClickException as error:
        echo(f"compile-lens: {as_given(error.format_message())}", err=True)
        code = 2
    except (click.Abort, KeyboardInterrupt):
        code = 130
    sys.exit(code)
