"""The verbs of the command ``compile-lens``, and its error messages."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import click

from compile_lens import __version__
from compile_lens.cli.examples import epilog
from compile_lens.cli.project_options import VERBS as WITH_DEFAULTS
from compile_lens.cli.project_options import project_defaults
from compile_lens.cli.terminal import as_given, echo, remark

# verb → the module of this package that defines a command of that name, and what it does
VERBS = {
    "check": ("check", "Run files, and print what torch.compile did with them"),
    "fix": ("fix", "Apply fixes that are verified by runs, or print them as a diff"),
    "vary": ("vary", "Call compiled functions again with other inputs"),
    "entries": ("entries", "List the ways to run a file"),
    "predict": ("predict", "Predict graph breaks from the source; nothing runs"),
    "trace": ("trace", "Print the findings of traces that torch wrote"),
    "stages": ("stages", "Print what torch made of a program, from the graph to the kernels"),
    "kernels": ("kernels", "List kernels with the source lines that they compute"),
    "report": ("report", "Save traces or reports as one file"),
    "run": ("run", "Run a command, and print findings while it runs"),
    "watch": ("follow", "Follow a running job by the traces that it writes"),
    "diff": ("diff", "Compare two analyses, or two versions of a file"),
    "explain": ("explain", "Explain a flag, option, operator, code or class of the compiler"),
    "doctor": ("doctor", "Check the interpreter, torch, compiler, GPU and caches"),
    "cache": ("cache", "Show or clear the caches of Compile Lens"),
    "choices": ("choices", "Show or clear which fixes you took"),
    "consent": ("consent", "Give, list or revoke permissions for runs of editors and assistants"),
    "bisect": ("bisect", "Find the part of the compiler that makes a repro fail"),
    "rebisect": ("bisect", "Bisect a repro again after something has changed"),
    "repro": ("repro", "Write a script that reproduces a finding and nothing else"),
    "minify": ("minify", "Make a repro smaller"),
    "logs": ("logs", "Print commands that show more about the findings of a file"),
    "serve": ("serve_verb", "Run the language server"),
    "mcp": ("mcp", "Serve coding assistants (MCP)"),
}


NAME = "compile-lens"
# names that verbs had before
ALIASES = {"verify": "rebisect"}


class Verbs(click.Group):
    """Loads the module of a verb on demand: ``serve`` does without the terminal's libraries, ``check`` without the protocol's."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """What each verb does, without loading it, and never cut off in the middle."""
        with formatter.section("Commands"):
            formatter.write_dl([(verb, summary) for verb, (_, summary) in VERBS.items()])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        verb = ALIASES.get(cmd_name, cmd_name)
        if verb not in VERBS:
            return None
        command = getattr(import_module(f"compile_lens.cli.{VERBS[verb][0]}"), verb)
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


def run_verb(arguments: list[str]) -> int:
    """Run a command line; the exit code. A usage error prints one sentence to stderr, and is 2."""
    own, for_script = _split(arguments)
    try:
        # a project has a say in these verbs alone: it does not keep others from what they do
        defaults = project_defaults(Path.cwd()) if {*own[:1]} & {*WITH_DEFAULTS} else {}
        return int(cli(own, NAME, obj=for_script, standalone_mode=False, default_map=defaults) or 0)
    except click.exceptions.NoArgsIsHelpError as error:
        echo(error.format_message(), err=True)
        return 2
    except click.ClickException as error:
        remark(as_given(error.format_message()))
        return 2
    except (click.Abort, KeyboardInterrupt):
        return 130
