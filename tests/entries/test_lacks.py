"""Programs that lack something: arguments, which the workspace may know, weights, datasets; and programs that start processes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from compile_lens.analysis.outcome import Outcome
from compile_lens.pipeline.launch import find_launch
from compile_lens.workers.access import Access
from compile_lens.workers.job import Job, Substitution
from growth import grows_with_length
from warm_host import WarmHost

pytestmark = pytest.mark.xdist_group("entries")

TRAIN = """\
import argparse
import torch
from widths import WIDTH

parser = argparse.ArgumentParser()
parser.add_argument("--data", required=True)
parser.add_argument("--rate", type=float, required=True)
options = parser.parse_args()
text = open(options.data).read()


@torch.compile
def step(x):
    print(x)
    return x + WIDTH


step(torch.ones(WIDTH))
"""
LAUNCH = """\
{
  // how this is started: "program" may hold // and /* too
  "version": "0.2.0",
  "configurations": [
    {"name": "Any", "type": "debugpy", "request": "launch", "program": "${file}", "args": ["--wrong"]},
    {"name": "Other", "type": "node", "request": "launch", "program": "train.py"},
    {
      "name": "Train // it", "type": "debugpy", "request": "launch", /* as ever */
      "program": "${workspaceFolder}/scripts/train.py",
      "args": ["--data", "words.txt", "--rate", "0.1",],
      "env": {"PYTHONPATH": "${workspaceFolder}/src"},
      "cwd": "${workspaceFolder}/data",
    },
  ],
}
"""


def project(root: Path) -> Path:
    for name, text in (
        ("scripts/train.py", TRAIN),
        ("src/widths.py", "WIDTH = 3\n"),
        ("data/words.txt", "words"),
        (".vscode/launch.json", LAUNCH),
    ):
        file = root / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    return root / "scripts" / "train.py"


def told(outcome: Outcome) -> list[tuple[str, int]]:
    return [(finding.code, finding.place.line) for finding in outcome.findings]


@pytest.mark.slow
def test_a_script_that_needs_arguments_says_which_and_takes_those_of_the_workspace(
    tmp_path: Path, warm_host: WarmHost
) -> None:
    file = project(tmp_path)
    path = {"PYTHONPATH": str(tmp_path / "src")}
    bare = warm_host.run(Job(str(file), cwd=str(tmp_path), timeout_s=60, env=path))
    assert told(bare)[0] == ("missing-arguments", 8)
    assert bare.findings[0].message == (
        "The program needs different arguments: the following arguments are required: --data, --rate."
    )
    launch = find_launch(file, tmp_path)
    assert launch is not None
    assert launch.name == "Train // it"
    outcome = warm_host.run(launch.of(Job(str(file), cwd=str(tmp_path), timeout_s=60)))
    assert told(outcome) == [("GB0059", 14)]
    assert any("Train // it" in note for note in outcome.notes)
    # what was given stays
    assert launch.of(Job(str(file), argv=("--help",))).argv == ("--help",)


def test_a_launch_file_passes_on_no_secret_of_the_editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "train.py"
    configuration = {
        "type": "debugpy", "request": "launch", "name": "x", "program": "train.py", "cwd": "${env:MY_API_KEY}",
        "args": ["${env:MY_API_KEY}"], "env": {"SHOWN": "${env:MY_API_KEY}", "KEPT": "${env:MY_SETTING}", "AGENT": "${env:SSH_AUTH_SOCK}"},
    }  # fmt: skip
    (tmp_path / ".vscode").mkdir()
    (tmp_path / ".vscode" / "launch.json").write_text(json.dumps({"configurations": [configuration]}))
    monkeypatch.setenv("MY_API_KEY", "planted-key")
    monkeypatch.setenv("MY_SETTING", "mine")
    monkeypatch.setenv("SSH_AUTH_SOCK", "/planted/agent")
    launch = find_launch(file, tmp_path)
    assert launch is not None
    assert "planted" not in repr(launch)
    assert launch.environment["KEPT"] == "mine"
    # as the user's shell would
    whole = find_launch(file, tmp_path, Access.FULL)
    assert whole is not None
    assert whole.environment["SHOWN"] == "planted-key"


def test_a_launch_file_that_does_not_say_it_is_none(tmp_path: Path) -> None:
    file = project(tmp_path)
    assert find_launch(tmp_path / "other.py", tmp_path) is None
    assert find_launch(file, None) is None
    for text in ("", "[]", '{"configurations": 3}', '{"configurations": [7]}', "{"):
        (tmp_path / ".vscode" / "launch.json").write_text(text)
        assert find_launch(file, tmp_path) is None


MISSING = {
    "saved weights": ("torch.load('weights/best.pt')", "a saved file `weights/best.pt`"),
    "a hub": (
        "torch.hub.load('nobody/nothing', 'model', trust_repo=True)",
        "a `torch.hub` repository `nobody/nothing`",
    ),
    "a pretrained model": (
        "__import__('transformers').BertModel.from_pretrained('nobody/nothing-at-all')",
        "a pretrained model `nobody/nothing-at-all`",
    ),
    "a file": ("open('data/train.bin')", "a file `data/train.bin`"),
}


@pytest.mark.parametrize("name", sorted(MISSING))
def test_what_is_not_here_is_named(tmp_path: Path, warm_host: WarmHost, name: str) -> None:
    code, words = MISSING[name]
    file = tmp_path / "model.py"
    file.write_text(f"import torch\n\n{code}\n")
    outcome = warm_host.run(Job(str(file), timeout_s=120, missing_weights=Substitution.OFF))
    # the sandbox says of what is fetched that it may not be
    (finding,) = [finding for finding in outcome.findings if finding.severity.value == "error"]
    assert (finding.code, finding.place.line) == ("denied-network" if name == "a hub" else "missing-data", 3)
    assert f"The program needs {words}, which is not on this machine" in finding.message


SPAWNING = """\
import multiprocessing
import torch


def square(number):
    return number * number


@torch.compile
def f(x, squares):
    print(squares)
    return x + len(squares)


if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        f(torch.ones(2), pool.map(square, [1, 2, 3]))
"""


@pytest.mark.slow
def test_processes_that_are_spawned_find_the_main_module(tmp_path: Path, warm_host: WarmHost) -> None:
    file = tmp_path / "pool.py"
    file.write_text(SPAWNING)
    outcome = warm_host.run(Job(str(file), timeout_s=120))
    assert outcome.status.value == "ok", outcome.output
    assert told(outcome) == [("GB0059", 11)]


LONG_LAUNCH_FILES: dict[str, Callable[[int], str]] = {
    "numbers": lambda length: '{"configurations": [' + "1, " * (length // 3) + "],}",
    "a comment": lambda length: "//" + "x" * length + "\n{,}",
    "comments that nothing closes": lambda length: "/*" * (length // 2),
    "quotes": lambda length: '"' + '\\"' * (length // 2),
    "arguments": lambda length: (
        '{"configurations": [{"type": "python", "request": "launch", "program": "train.py", "args": "'
        + "a " * (length // 2)
        + '"}]}'
    ),
}


@pytest.mark.parametrize("text", LONG_LAUNCH_FILES.values(), ids=LONG_LAUNCH_FILES)
def test_a_launch_file_of_any_size_is_read_at_once(text: Callable[[int], str], tmp_path: Path) -> None:

    def prepared(length: int) -> Callable[[], object]:
        folder = tmp_path / str(length)
        (folder / ".vscode").mkdir(parents=True)
        (folder / ".vscode" / "launch.json").write_text(text(length))

        def find() -> None:
            assert find_launch(folder / "train.py", folder) is None

        return find

    assert grows_with_length(prepared, 1_000_000)


def test_variables_in_a_launch_file_do_not_become_without_end(tmp_path: Path) -> None:
    """Each may be a thousand times as long as its name: a file of 8 MB would take gigabytes."""
    file = tmp_path / ("d" * 200) / ("e" * 200) / "train.py"
    (tmp_path / ".vscode").mkdir()
    started = {"type": "python", "request": "launch", "program": str(file), "name": "n" * 100_000}
    for more in ({"env": {"A": "${file}" * 1_000}}, {"args": ["${file}" * 100] * 1_000}, {"cwd": "${file}" * 1_000}):
        (tmp_path / ".vscode" / "launch.json").write_text(json.dumps({"configurations": [{**started, **more}]}))
        assert find_launch(file, tmp_path) is None
    (tmp_path / ".vscode" / "launch.json").write_text(
        json.dumps({"configurations": [{**started, "args": ["${fileBasename}"]}]})
    )
    launch = find_launch(file, tmp_path)
    assert launch is not None
    assert (launch.arguments, len(launch.name)) == (("train.py",), 200)
