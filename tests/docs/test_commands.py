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

from compile_lens.cli.verbs import cli

TYPED = sorted({command for page in pages() for command in commands(page)})
# these do not end by themselves, or need a cluster: other tests run them
ELSEWHERE = re.compile(r"--watch|^compile-lens (serve|mcp|run|watch|consent allow)\b|--executor")
# folders of traces, as pages name them
TRACES = {
    "/tmp/trace": "TRACE_DIR",
    "/path/to/TORCH_TRACE": "TRACE_DIR",
    "/path/to/trace": "TRACE_DIR",
    "trace/": "TRACE_DIR",
}
MODEL = """\
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(8, 8)

    def forward(self, x):
        x = self.inner(x)
        print("mean", x.mean().item())
        return x


def get_inputs():
    return [(torch.ones(4, 8),), (torch.ones(6, 8),)]
"""
SCRIPT = f"""\
{MODEL}

if __name__ == "__main__":
    block = torch.compile(Block())
    for size in (4, 6):
        block(torch.ones(size, 8))
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
def documented(tmp_path_factory: pytest.TempPathFactory, warm_command: None) -> Path:
    """A folder with everything that the commands name."""
    folder = tmp_path_factory.mktemp("documented")
    for name in ("train.py", "src/train.py", "model.py", "net.py", "src/models/model_a.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(SCRIPT if name.endswith("train.py") else MODEL)
    (trace,) = (ROOT / "tests" / "data" / "h200-single").rglob("*dedicated_log_torch_trace_*.log*")
    for name in ("TRACE_DIR", "trace-of-today"):
        (folder / name).mkdir()
        shutil.copy(trace, folder / name)
    for arguments in (
        ["repro", "train.py", "-o", "repro.py", "--no-run"],
        ["check", "--update-baseline", "train.py", "model.py"],
        *(["check", "--save", name, "train.py"] for name in ("run.clens", "before.clens", "after.clens")),
    ):
        done = Warm(arguments, folder)
        assert done.code in (0, 1), done.err
    (folder / "last-week.json").write_text(Warm(["check", "--format", "json", "train.py"], folder).out)
    (folder / "bisect.json").write_text(Warm(["bisect", "repro.py", "--json"], folder).out)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    git(folder, "commit", "-qm", "second", "--allow-empty")
    git(folder, "update-ref", "refs/remotes/origin/main", "HEAD")
    return folder


def git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=tests", "-c", "user.email=tests@example.com")
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.mark.nightly
@pytest.mark.usefixtures("warm_command")
@pytest.mark.parametrize("written", [command for command in TYPED if not ELSEWHERE.search(command)])
def test_a_command_runs(written: str, documented: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(documented, tmp_path / "workspace")
    words = [TRACES.get(word, word) for word in shlex.split(written)[1:]]
    if "-o" in words:
        (folder / words[words.index("-o") + 1]).unlink()
    if words[0] == "rebisect":
        assert Warm(["bisect", words[1]], folder).code == 1  # it compares with the last bisection of the same file
    done = Warm(["check", *words[1:]] if words[0].isupper() else words, folder)
    assert done.code in (0, 1), done.err
