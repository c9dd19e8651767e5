"""Programs whose command line a library reads, and that nobody passed any arguments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import pytest
from tests.entries.agent_package import agent_module
from tests.entries.test_entry_runs import run, write

from warm_host import WarmHost

pytestmark = pytest.mark.xdist_group("entries")
FILE = "/nowhere/train.py"
FUNCTIONS = """\
import library

class Tool:
    def export(self, path):
        return path

    def train(self, data, width: int, *, rate=0.1):
        return data, width, rate

def main(steps, device="cpu"):
    return steps, device

def cleanup(path):
    raise RuntimeError(path)

if __name__ == "__main__":
    library.register(cleanup)
    library.Fire(Tool)
    library.app.run(main)
"""
PROGRAM = """\
import click
import torch


@click.group()
def cli():
    pass


@cli.command()
@click.argument("path")
def export(path):
    print(path)


@cli.command()
@click.argument("data", type=click.Path(exists=True))
@click.option("--width", type=int, required=True)
@click.option("--kind", type=click.Choice(["wide", "deep"]), required=True)
@click.option("--out", default=6)
def train(data, width, kind, out):
    net = torch.nn.Linear(width, out)
    torch.optim.SGD(net.parameters(), 0.1)
    for x in torch.load(data):
        net(x)


if __name__ == "__main__":
    cli()
"""


def names_of(text: str) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "train"}
    exec(compile(text.replace("import library\n", ""), FILE, "exec"), names)
    return names


def test_functions_and_methods_that_a_library_is_given() -> None:
    found = agent_module("inputs.scripts.commands").commands(names_of(FUNCTIONS), FUNCTIONS, FILE)
    assert [(each.name, each.lacking) for each in found] == [
        ("train", ("data", "width")),
        ("main", ("steps",)),
        ("export", ("path",)),
    ]
    data, *rest = found[0].run()
    assert Path(data).is_dir() and rest == [1, 0.1]


def test_commands_get_what_they_require(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    names: dict[str, Any] = {"__name__": "train", "click": click}
    got: dict[str, Any] = {}
    text = PROGRAM.replace("import torch\n", "").replace("    net = ", "    return got.update(locals())\n    net = ")
    exec(compile(text, str(file), "exec"), names := names | {"got": got})
    first = agent_module("inputs.scripts.commands").commands(names, text, str(file))[0]
    assert first.lacking == ("data", "width", "kind")
    first.run()
    assert Path(got["data"]).is_dir()
    assert (got["width"], got["kind"], got["out"]) == (1, "wide", 6)


def test_a_model_that_a_command_makes(tmp_path: Path, warm_host: WarmHost) -> None:
    outcome = run(warm_host, write(tmp_path, PROGRAM))
    assert outcome.entry == "model"
    assert [call.target for call in outcome.calls] == ["Linear"]
    assert any("`train`, `data`, `width`, `kind`" in note for note in outcome.notes)
    assert not any(finding.message.startswith("The program exits") for finding in outcome.findings)
