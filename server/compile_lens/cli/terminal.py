"""Prints plain text and JSON, so that what a program, a trace or a file name says cannot control the terminal."""

from __future__ import annotations

import os

import click

from compile_lens.shown_text import visible


def echo(text: str = "", *, err: bool = False) -> None:
    """Print plain text."""
    click.echo(visible(text), err=err)


def echo_json(text: str) -> None:
    """Print JSON in ASCII, which writes all control characters but one as escapes by itself."""
    click.echo(text.replace("\x7f", r"\u007f"))


def as_given(sentence: str) -> str:
    """``sentence`` with a path in the current folder as the user would write it."""
    return sentence.removeprefix(f"{os.getcwd()}{os.sep}")  # noqa: PTH109
