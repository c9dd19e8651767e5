"""Prints plain text and JSON, so that what a program, a trace or a file name says cannot control the terminal."""

from __future__ import annotations

import os

import click

from compile_lens.shown_text import visible, without_workflow_commands


def safe(text: str) -> str:
    """Plain text as it can be printed."""
    text = visible(text)
    return without_workflow_commands(text) if is_workflow() else text


def echo(text: str = "", *, err: bool = False) -> None:
    """Print plain text."""
    click.echo(safe(text), err=err)


def echo_commands(text: str) -> None:
    """Print workflow commands of ours, one a line."""
    click.echo(visible(text))


def echo_json(text: str) -> None:
    """Print JSON in ASCII, which writes all control characters but one as escapes by itself."""
    # only text has these, where a number sign may be an escape, too: GitHub Actions looks for commands that begin so
    click.echo(text.replace("\x7f", r"\u007f").replace("##[", r"\u0023#["))


def is_workflow() -> bool:
    """Whether what is printed goes to the log of a workflow of GitHub Actions, which obeys commands in it."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


def as_given(sentence: str) -> str:
    """``sentence`` with a path in the current folder as the user would write it."""
    return sentence.removeprefix(f"{os.getcwd()}{os.sep}")  # noqa: PTH109
