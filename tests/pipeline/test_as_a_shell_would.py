"""With full access, a run does what the user's shell would do with the file, or what the user names, and nothing else."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from compile_lens.analysis.outcome import Outcome, Status
from compile_lens.pipeline.entry_choice import analyze_by_entries, choose
from compile_lens.pipeline.workspace import workspace_root
from compile_lens.workers.access import Access
from compile_lens.workers.command import command_of
from compile_lens.workers.job import Job, Substitution
from warm_host import WarmHost

MODEL = """import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)

    def forward(self, x):
        return self.linear(x)
"""
COMMANDS = (
    MODEL.replace("import torch\n", "import argparse\n\nimport torch\n", 1)
    + """

def main():
    parser = argparse.ArgumentParser()
    purge = parser.add_subparsers(dest="command", required=True).add_parser("purge")
    purge.add_argument("--config", required=True, help="configuration file to be overwritten")
    args = parser.parse_args()
    open(args.config, "w").write("overwritten")
    open("mark", "w").close()
    print(Net()(torch.ones(2, 3)))


if __name__ == "__main__":
    main()
"""
)
IMPORTED = """import argparse

parser = argparse.ArgumentParser()
parser.add_argument("config")
parser.parse_args()
open("mark", "w").close()
"""
HELPER = """import torch


def _finish(x):
    open("mark", "w").close()


def normalize(x: torch.Tensor) -> torch.Tensor:
    y = x - x.mean()
    _finish(y)
    return y
"""
FAILS = MODEL + "\nmodel = Net()\nmodel(torch.ones(2, 3))\n{}['lacking']\nopen('mark', 'w').close()\n"
USES = "import torch\nfrom m import Net\n\nopen('mark', 'w').close()\ntorch.compile(Net(), backend='eager')(torch.ones(2, 3))\n"
README = f"# m\n\n```python\n{USES}```\n"
TEST = "import torch\nfrom m import Net\n\n\ndef test_net():\n    open('mark', 'w').close()\n    torch.compile(Net())(torch.ones(2, 3))\n"
CALL = "Net()(x=float32[2, 3])"


def run(host: WarmHost, file: Path, requested: str = "", requested_by: str = "") -> Outcome:
    """The outcome of ``file`` without the sandbox, in its folder."""
    root = workspace_root(file)
    choice = choose(str(file), file.read_text(), root, requested, requested_by=requested_by)
    return host.run_choice(str(file), choice, access=Access.FULL, cwd=str(file.parent))


@pytest.mark.parametrize(
    ("text", "beside"),
    [
        (COMMANDS, {"train.yaml": "width: 3\n"}),
        (HELPER, {}),
        (HELPER + "\nnormalize.limit = 3\n", {}),
        (FAILS, {}),
        (MODEL, {"README.md": README}),
        (MODEL, {"test_m.py": TEST}),
        (MODEL, {"use_m.py": USES}),
        (MODEL + "\n\ndef get_inputs():\n    open('mark', 'w').close()\n    return [torch.ones(2, 3)]\n", {}),
        (
            MODEL.replace(
                "Module):\n",
                'Module):\n    """\n    >>> _ = open("mark", "w").close(), torch.compile(Net())\n    """\n',
            ),
            {},
        ),
    ],
    ids=["commands", "helper", "script", "failure", "readme", "test", "script elsewhere", "inputs", "doctest"],
)
def test_nothing_is_done_that_the_script_does_not_do(
    text: str, beside: dict[str, str], tmp_path: Path, warm_host: WarmHost
) -> None:
    (tmp_path / "pyproject.toml").write_text("")
    for name, content in beside.items():
        (tmp_path / name).write_text(content)
    file = tmp_path / "m.py"
    file.write_text(text)
    there = {path: path.read_bytes() for path in tmp_path.iterdir()}
    outcome = run(warm_host, file)
    assert {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == there
    assert (outcome.entry, outcome.passed_over) == ("script", ())
    assert [
        note for note in outcome.notes if "Without the sandbox, the file ran as a script, and nothing else did" in note
    ]


def test_an_entry_that_a_file_names_is_not_run_and_one_that_the_user_names_is(
    tmp_path: Path, warm_host: WarmHost
) -> None:
    file = tmp_path / "m.py"
    file.write_text(f"# compile-lens: entry={CALL}\n{MODEL}")
    by_comment = run(warm_host, file)
    assert (by_comment.entry, by_comment.graphs) == ("script", 0)
    assert [note for note in by_comment.notes if f"the entry `{CALL}`, which line 1 of m.py names, did not" in note]
    by_project = run(warm_host, file, CALL, "pyproject.toml")
    assert (by_project.entry, by_project.graphs) == ("script", 0)
    by_user = run(warm_host, file, CALL)
    assert (by_user.entry, by_user.graphs) == (CALL, 1)
    assert not [note for note in by_user.notes if "Without the sandbox" in note]


def test_a_named_entry_makes_up_no_arguments_and_stops_at_a_failure(tmp_path: Path, warm_host: WarmHost) -> None:
    file, mark, config = tmp_path / "m.py", tmp_path / "mark", tmp_path / "train.yaml"
    config.write_text("width: 3\n")
    for text, entry in (
        (COMMANDS, "model"),
        (FAILS, "model"),
        (FAILS, CALL),
        (IMPORTED + MODEL, CALL),
    ):
        file.write_text(text)
        run(warm_host, file, entry)
        assert (mark.exists(), config.read_text()) == (False, "width: 3\n"), (text, entry)


@pytest.mark.parametrize("access", [Access.FULL, Access.SANDBOXED])
def test_calls_that_the_program_does_not_make_are_not_added(access: Access, tmp_path: Path) -> None:
    file = tmp_path / "m.py"
    file.write_text(MODEL)
    jobs: list[Job] = []

    async def analyze(host: Any, job: Job, on_partial: object, filters: object) -> Outcome:
        jobs.append(job)
        return Outcome(job.file, "", "", job.depth.value, job.entry, Status.OK, 0.0)

    choice = choose(str(file), MODEL, None, "synthesized:Net")
    asyncio.run(analyze_by_entries(analyze, None, Job(str(file), access=access), choice))
    assert [job.vary is None for job in jobs] == [access is Access.FULL]


def test_stubs_of_modules_are_for_the_sandbox(tmp_path: Path) -> None:
    file = str(tmp_path / "m.py")
    assert command_of(Job(file)).missing_modules is Substitution.AUTO
    assert command_of(Job(file, access=Access.FULL)).missing_modules is Substitution.OFF
