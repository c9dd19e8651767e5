"""Prints plain text and JSON, so that what a program, a trace or a file name says cannot control the terminal."""

from __future__ import annotations

import os

import click

from compile_lens.shown_text import COMMAND_IN_HASHES, visible, visible_name, without_workflow_commands

# variables that GitHub Actions, Azure Pipelines and TeamCity set
OBEYING = ("GITHUB_ACTIONS", "TF_BUILD", "TEAMCITY_VERSION")


def safe(text: str) -> str:
    """Plain text as it can be printed."""
    text = visible(text)
    return without_workflow_commands(text) if is_workflow() else text


def echo(text: str = "", *, err: bool = False) -> None:
    """Print plain text."""
    click.echo(safe(text), err=err)


def remark(sentence: str) -> None:
    """Print one sentence of ours to standard error. A newline in it can only be that of a name."""
    echo(f"compile-lens: {visible_name(sentence)}", err=True)


def echo_commands(text: str) -> None:
    """Print workflow commands of ours, one a line."""
    click.echo(visible(text))


def echo_json(text: str) -> None:
    """Print JSON in ASCII, which writes all control characters but one as escapes by itself."""
    # only text has these, where a number sign may be an escape, too: CI services look for commands that begin so
    click.echo(COMMAND_IN_HASHES.sub(r"\\u0023#", text.replace("\x7f", r"\u007f")))


def is_workflow() -> bool:
    """Whether what is printed goes to the log of a CI service that obeys commands in it."""
    return any(map(os.environ.get, OBEYING))


def as_given(sentence: str) -> str:
    """``sentence`` with a path in the current folder as the user would write it."""
    return sentence.removeprefix(f"{os.getcwd()}{os.sep}")  # noqa: PTH109
