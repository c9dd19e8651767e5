"""Every command of the documentation exists, with its options, and runs."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import click
import pytest
from tests.command import Warm
from tests.docs.pages import ROOT, commands, mentions, pages

from compile_lens.cli.main import cli

TYPED = sorted({command for page in pages() for command in commands(page)})
# these do not end by themselves: tests/cli/test_terminal.py and tests/lsp run them
ENDLESS = re.compile(r"--watch|^compile-lens serve|--follow|^compile-lens (run|watch) ")
MODEL = """\
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(8, 8)

    def forward(self, x):
        if x.sum() > 0:
            x = self.inner(x)
        print("mean", x.mean().item())
        return x


def get_inputs():
    return [(torch.ones(4, 8),), (torch.ones(6, 8),)]
"""
SCRIPT = f"""\
{MODEL}

@torch.compile
def step(x):
    print("first", x[0, 0].item())
    return Block()(x) * 2


if __name__ == "__main__":
    for size in (4, 6):
        step(torch.ones(size, 8))
"""


def options_of(words: list[str]) -> tuple[click.Command, list[str]]:
    """The command that ``words`` calls, and the switches among them."""
    context = click.Context(cli, info_name="compile-lens")
    command: click.Command | None = cli
    rest = list(words[1:])
    while isinstance(command, click.Group):
        command = command.get_command(context, rest.pop(0)) if rest else command
        if not rest:
            break
    assert command is not None
    own = rest[: rest.index("--")] if "--" in rest else rest
    return command, [word.partition("=")[0] for word in own if word.startswith("-") and word != "-"]


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_names_only_commands_and_options_that_exist(page: Path) -> None:
    for written in (*commands(page), *mentions(page)):
        words = shlex.split(written.replace("…", ""))
        if words[1].isupper() or words[1].startswith("-"):
            continue  # `compile-lens VERB --help`
        command, switches = options_of(words)
        known = {name for part in command.params for name in (*part.opts, *part.secondary_opts)} | {"-h", "--help"}
        assert set(switches) <= known, f"{page.name}: {written}"


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with everything that the commands name."""
    folder = tmp_path_factory.mktemp("documented")
    for name in ("train.py", "a.py", "repro_source.py"):
        (folder / name).write_text(SCRIPT)
    for name in ("model.py", "net.py", "src/models/model_a.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(MODEL)
    (folder / "src" / "train.py").write_text(SCRIPT)
    trace = next((ROOT / "tests" / "data").rglob("*dedicated_log_torch_trace_*.log*"), None)
    assert trace is not None
    for name in ("TRACE_DIR", "trace-of-today"):
        (folder / name).mkdir()
        shutil.copy(trace, folder / name)
    for name in ("before.log", "after.log"):
        shutil.copy(trace, folder / f"{name}{trace.suffix if trace.suffix != '.log' else ''}")
    for arguments in (
        ["init", "-q", "-b", "main"],
        ["add", "."],
        ["commit", "-qm", "first"],
        ["commit", "-qm", "second", "--allow-empty"],
    ):
        git(folder, *arguments)
    git(folder, "update-ref", "refs/remotes/origin/main", "HEAD")
    return folder


def git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=tests", "-c", "user.email=tests@example.com")
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.mark.nightly
@pytest.mark.usefixtures("warm_command")
@pytest.mark.parametrize("written", [command for command in TYPED if not ENDLESS.search(command)])
def test_a_command_runs(written: str, workspace: Path) -> None:
    words = shlex.split(written)[1:]
    if words[0].isupper():
        words = ["check", *words[1:]]
    done = Warm(words, workspace)
    assert done.code in (0, 1), done.err
