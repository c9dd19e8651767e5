"""Each kind of entry, run by real torch: what is compiled, what is shown, and what is said when it cannot be."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.entries.sources import BREAK_LINE, KERNELS, MODEL, REGION

from compile_lens.analysis.finding import Finding, Kind, Place, Severity
from compile_lens.analysis.outcome import EntryCall, Outcome, Status
from compile_lens.entries.entry import EntryChoice
from compile_lens.pipeline.analyze import analyze
from compile_lens.pipeline.entry_choice import analyze_by_entries, as_if_compiled, choose
from compile_lens.workers.job import Job
from warm_host import WarmHost

pytestmark = pytest.mark.xdist_group("entries")


def write(folder: Path, text: str, name: str = "model.py") -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def run(host: WarmHost, file: Path, said: str = "", root: Path | None = None) -> Outcome:
    return host.run_choice(str(file), choose(str(file), file.read_text(), root, said))


def codes(outcome: Outcome) -> list[tuple[str, int]]:
    """What the calls themselves have caused, without calls in other ways (tests/entries/test_usual_calls.py)."""
    own = [finding for finding in outcome.findings if finding.kind is not Kind.VARIATION]
    return [(finding.code, finding.place.line) for finding in own]


def test_a_module_that_nothing_runs_is_called_with_inputs_made_up_for_it(tmp_path: Path, warm_host: WarmHost) -> None:
    outcome = run(warm_host, write(tmp_path, MODEL))
    assert outcome.entry == "synthesized"
    assert codes(outcome) == [("GB0170", BREAK_LINE)]
    (call,) = outcome.calls
    assert call.target == "Block"
    assert call.making == "Block(dim=64, heads=4)"
    assert call.inputs == "x: float32[2, 16, 64]"
    # what is shown is what is run: the same text again gives the same findings
    again = run(warm_host, tmp_path / "model.py", call.text)
    assert (again.entry, codes(again)) == (call.text, codes(outcome))


def test_inputs_of_the_file_go_first(tmp_path: Path, warm_host: WarmHost) -> None:
    outcome = run(warm_host, write(tmp_path, KERNELS))
    assert (outcome.entry, outcome.entry_title) == ("get_inputs", "`get_inputs()`")
    assert codes(outcome) == [("GB0059", 10)]
    assert outcome.status is Status.OK


def test_the_doctest_of_a_region(tmp_path: Path, warm_host: WarmHost) -> None:
    outcome = run(warm_host, write(tmp_path, REGION))
    assert outcome.entry == "doctest:scale"
    assert codes(outcome) == [("GB0170", 11)]
    assert outcome.regions[0].graphs == 2


WITH_EXAMPLE = '''\
import torch
from torch import nn


class Doubled(nn.Module):
    """Twice the layer that `build` makes: https://example.com/doubled.

    >>> import torch
    >>> from doubled import Doubled
    >>> model = Doubled(lambda width: torch.nn.Linear(width, width), [8])
    >>> _ = model(torch.ones(2, 8))
    """

    def __init__(self, build, widths):
        super().__init__()
        if not isinstance(widths, list) or widths[0] != len(widths) * 8:
            raise ValueError(build)
        self.layer = build(widths[0])
        if self.layer.weight.shape != (8, 8):
            raise ValueError(widths)

    def forward(self, x):
        return self.layer(x) * 2
'''


def test_an_example_may_import_what_it_is_about_and_its_text_may_have_links(
    tmp_path: Path, warm_host: WarmHost
) -> None:
    outcome = run(warm_host, write(tmp_path, WITH_EXAMPLE, "doubled.py"), "doctest:Doubled")
    assert outcome.entry == "doctest:Doubled"
    assert outcome.graphs


def test_a_script_that_reaches_nothing_is_passed_over_and_said(tmp_path: Path, warm_host: WarmHost) -> None:
    source = MODEL + "if __name__ == '__main__':\n    raise FileNotFoundError('data/train.bin')\n"
    outcome = run(warm_host, write(tmp_path, source))
    assert outcome.entry == "synthesized"
    assert [(way.entry, way.reason) for way in outcome.passed_over] == [
        ("model", "The program raised `FileNotFoundError`: data/train.bin."),
        ("script", "The program raised `FileNotFoundError`: data/train.bin."),
    ]
    first = outcome.findings[0]
    assert (first.code, first.severity.value) == ("run-error", "error")
    assert first.message == "As a script: The program raised `FileNotFoundError`: data/train.bin."
    assert first.explanation == "The script ended here. Other findings are from what was analyzed instead."


def test_a_module_of_a_package_is_imported_as_a_part_of_it(tmp_path: Path, warm_host: WarmHost) -> None:
    write(tmp_path, "", "pkg/__init__.py")
    write(tmp_path, "WIDTH = 8\n", "pkg/sizes.py")
    file = write(
        tmp_path,
        "import torch\nfrom .sizes import WIDTH\n\n\nclass Net(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.linear = torch.nn.Linear(WIDTH, 2)\n\n    def forward(self, x):\n        return self.linear(x)\n",
        "pkg/net.py",
    )
    outcome = run(warm_host, file)
    assert outcome.entry == "synthesized"
    assert outcome.calls[0].text.startswith("Net()(")
    assert outcome.functions[0].name == "Net.forward"


def test_a_test_and_a_script_of_the_workspace(tmp_path: Path, warm_host: WarmHost) -> None:
    file = write(tmp_path, REGION.replace(">>>", "..."), "pkg/model.py")
    write(tmp_path, "", "pkg/__init__.py")
    # the inputs that only the test knows take the other way
    write(
        tmp_path,
        "import sys, pathlib\nsys.path.insert(0, str(pathlib.Path(__file__).parent.parent))\n"
        "import torch\nfrom pkg.model import scale\n\ndef test_scale(tmp_path):\n    assert scale(-torch.ones(3), 2)[0] == -1\n",
        "tests/test_model.py",
    )
    outcome = run(warm_host, file, root=tmp_path)
    assert outcome.entry == "tests/test_model.py::test_scale"
    assert outcome.regions[0].graphs == 1
    assert codes(outcome) == [("GB0170", 11)]
    write(tmp_path, "import torch\nfrom pkg.model import scale\nscale(torch.ones(2), 3)\n", "run.py")
    as_file = run(warm_host, file, "run.py", tmp_path)
    assert (as_file.entry, codes(as_file)) == ("run.py", [("GB0170", 11)])


def test_a_test_runs_though_its_project_writes_a_log_elsewhere(tmp_path: Path, warm_host: WarmHost) -> None:
    """pytest ends at once where it cannot write the file, as in the sandbox."""
    write(tmp_path, "[pytest]\nlog_file = /usr/of-the-tests.log\naddopts = -n 2\n", "pytest.ini")
    write(tmp_path, "import torch\nfrom model import f\n\n\ndef test_it():\n    f(torch.ones(2))\n", "test_model.py")
    file = write(tmp_path, "import torch\n\n\n@torch.compile\ndef f(x):\n    return x + 1\n")
    outcome = run(warm_host, file, "test_model.py::test_it", tmp_path)
    assert (outcome.status, outcome.failure, outcome.graphs) == (Status.OK, "", 1)


def test_unsaved_text_counts(tmp_path: Path, warm_host: WarmHost) -> None:
    file = write(tmp_path, "raise SystemExit('the text on disk was run')\n")
    outcome = warm_host.run_choice(str(file), choose(str(file), MODEL, None), text=MODEL)
    assert codes(outcome) == [("GB0170", BREAK_LINE)]


def test_as_if_compiled(tmp_path: Path, warm_host: WarmHost) -> None:
    source = (
        MODEL + "\n\ndef loss(x: torch.Tensor, y: torch.Tensor):\n    print('a')\n    return ((x - y) ** 2).mean()\n"
    )
    file = write(tmp_path, source)
    function = warm_host.run_choice(str(file), as_if_compiled(str(file), source, "loss"))
    assert codes(function) == [("GB0059", 34)]
    method = warm_host.run_choice(str(file), as_if_compiled(str(file), source, "Attention.forward"))
    assert [region.name for region in method.functions] == ["Attention.forward"]
    assert codes(method) == []


UNUSABLE = {
    "Block(dim=64)(float32[2, 16, 64])": ("raised", "missing 1 required positional argument: 'heads'"),
    "Block(64, 4)(float32[2, 16, 65])": ("raised", "expected input with shape [64]"),
    "doctest:Block": ("failed", "the docstring of `Block` has no examples"),
    "synthesized:Block.nothing": ("choice", "defines no class or function 'Block.nothing'"),
}


@pytest.mark.parametrize("spec", sorted(UNUSABLE))
def test_what_cannot_be_used_is_said_in_a_sentence(tmp_path: Path, warm_host: WarmHost, spec: str) -> None:
    status, sentence = UNUSABLE[spec]
    file = write(tmp_path, MODEL)
    if status == "choice":
        with pytest.raises(Exception, match=sentence):
            choose(str(file), MODEL, None, spec)
        return
    outcome = run(warm_host, file, spec)
    assert outcome.status.value == status
    assert sentence in (outcome.failure or outcome.findings[0].message)


IMPOSSIBLE = """\
import torch


class Never(torch.nn.Module):
    def forward(self, x):
        raise ValueError("only ever on Mars")
"""


def test_where_no_inputs_are_found_the_reason_is_the_programs_own(tmp_path: Path, warm_host: WarmHost) -> None:
    outcome = run(warm_host, write(tmp_path, IMPOSSIBLE))
    assert outcome.status is Status.FAILED
    assert "Could not make up inputs for `Never`: ValueError: only ever on Mars" in outcome.failure


def test_the_choice_that_a_user_made_is_the_only_one(tmp_path: Path) -> None:
    file = str(tmp_path / "model.py")
    text = "# compile-lens: entry=synthesized:Attention\n" + MODEL
    assert choose(file, text, None).is_explicit
    assert choose(file, text, None).entries[0].spec == "synthesized:Attention"
    assert choose(file, text, None, requested="script").entries[0].spec == "script"
    assert choose(file, text, None, remembered="script").entries[0].spec == "synthesized:Attention"
    assert choose(file, MODEL, None, remembered="script").entries[0].spec == "script"
    assert isinstance(choose(file, text, None, requested="auto"), EntryChoice)


BROKEN = {
    "an error further down": "\nnet = torch.compile(Block(64, 4))\nprint(net, open('names/none.txt').read())\n",
    "an end further down": "\nnet = torch.compile(Block(64, 4))\nraise SystemExit(3)\n",
    "text that is being written": "\nnet = torch.compile(Block(64, 4))\ndef unfinished(:\n    pass\n",
}


@pytest.mark.parametrize("name", sorted(BROKEN))
def test_a_file_is_analyzed_up_to_what_is_broken(tmp_path: Path, warm_host: WarmHost, name: str) -> None:
    outcome = run(warm_host, write(tmp_path, MODEL + BROKEN[name]))
    # what is made before the error can be called; what cannot be parsed cannot be run
    assert outcome.entry == ("synthesized" if name == "text that is being written" else "model")
    lack = "missing-data" if name == "an error further down" else "run-error"
    assert [code for code, _ in codes(outcome)] == [lack, "GB0170"]
    assert [f.place.line for f in outcome.findings if f.code == "GB0170"] == [BREAK_LINE]
    told = outcome.findings[0]
    if name == "an error further down":
        assert told.severity.value == "information"
        assert "No such file or directory: 'names/none.txt'" in told.message
    elif name == "an end further down":
        assert told.message == "As a script: The program exits here with status 3."
    else:
        assert (told.severity.value, told.message) == ("error", "The file cannot be run: SyntaxError: invalid syntax.")


def test_modules_that_the_file_does_not_call_together_make_no_recompile_of_each_other(
    tmp_path: Path, warm_host: WarmHost
) -> None:
    source = (
        "import torch\n\n\nclass Base(torch.nn.Module):\n    def forward(self, x):\n        return self.layer(x).relu()\n\n\n"
        "class Narrow(Base):\n    def __init__(self):\n        super().__init__()\n        self.layer = torch.nn.Linear(8, 4)\n\n\n"
        "class Wide(Base):\n    def __init__(self):\n        super().__init__()\n        self.layer = torch.nn.Linear(16, 32)\n"
    )
    outcome = run(warm_host, write(tmp_path, source))
    assert {call.target for call in outcome.calls} == {"Narrow", "Wide"}
    assert outcome.graphs == 2
    assert {f.kind for f in outcome.findings} <= {Kind.VARIATION}


def test_why_a_module_of_a_package_is_not_analyzed_is_not_that_it_is_no_script(
    tmp_path: Path, warm_host: WarmHost
) -> None:
    write(tmp_path, "", "pkg/__init__.py")
    write(tmp_path, "WIDTH = 8\n", "pkg/sizes.py")
    source = (
        "import torch\nfrom .sizes import WIDTH\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n"
        "        raise ValueError('never')\n\n\nfor width in range(WIDTH):\n    print(width)\n"
    )
    outcome = run(warm_host, write(tmp_path, source, "pkg/net.py"))
    # it runs like `python -m pkg.net`, and compiles nothing
    assert (outcome.entry, outcome.findings) == ("script", ())
    assert [way.entry for way in outcome.passed_over] == ["model", "synthesized"]
    reason = "Could not make up inputs for `Net`: ValueError: never. Add `get_inputs()`."
    assert outcome.passed_over[1].reason == reason


CALLED_BY_THE_FILE_ITSELF = {
    "map": "list(map(f, [torch.ones(3), torch.ones(3)]))",
    "timeit": "import timeit\ntimeit.timeit(lambda: f(torch.ones(2, 2)), number=2)",
    "partial": "import functools\nfunctools.partial(f, torch.ones(4))()",
    "comprehension": "results = [g(torch.ones(2)) for g in (f, f)]",
}


@pytest.mark.parametrize("name", CALLED_BY_THE_FILE_ITSELF)
def test_what_the_file_calls_itself_is_not_called_again(tmp_path: Path, warm_host: WarmHost, name: str) -> None:
    source = "import torch\n\n\n@torch.compile\ndef f(x):\n    return x.sin() + 1\n\n\n"
    outcome = run(warm_host, write(tmp_path, source + CALLED_BY_THE_FILE_ITSELF[name] + "\n"))
    assert (outcome.entry, outcome.graphs, outcome.calls) == ("script", 1, ())
    assert [finding.code for finding in outcome.findings] == []


def test_a_syntax_error_is_told_before_inputs_are_searched_for(tmp_path: Path, warm_host: WarmHost) -> None:
    file = write(tmp_path, MODEL + "raise ValueError(\n")
    told: list[tuple[str | None, list[str]]] = []

    def on_partial(partial: Outcome) -> None:
        told.append((partial.entry, [finding.code for finding in partial.findings]))

    choice = choose(str(file), file.read_text(), None, "")
    work = analyze_by_entries(analyze, warm_host.shared(), Job(str(file)), choice, on_partial)
    outcome = warm_host.wait_for(work)
    assert outcome.entry == "synthesized"
    assert "run-error" in [finding.code for finding in outcome.findings]
    assert ("script", ["run-error"]) in told
    assert all("run-error" in codes for entry, codes in told if entry == "synthesized")


def test_a_limit_that_ends_made_up_calls_is_no_error_of_the_file(tmp_path: Path) -> None:
    file = write(tmp_path, MODEL)
    stop = Finding(
        "run-error",
        Kind.RUN_ERROR,
        Severity.WARNING,
        "Stopped here after 9 s (`run.timeout`).",
        Place(str(file), 1, 1, 1, 2),
    )

    async def stopped(host: Any, job: Job, on_partial: Any, filters: Any) -> Outcome:
        calls = (EntryCall("Block(64)(x)", target="Block"),)
        return Outcome(job.file, "", "", "", job.entry, Status.TIMEOUT, 9.0, findings=(stop,), calls=calls, graphs=1)

    choice = choose(str(file), MODEL, None, "synthesized")
    outcome = asyncio.run(analyze_by_entries(stopped, None, Job(str(file)), choice))
    note = "Stopped the calls with synthesized inputs after 9 s (`run.timeout`). Findings so far are shown."
    assert (outcome.findings, outcome.notes) == ((), (note,))


def test_a_script_that_builds_no_model_does_not_take_all_the_time(tmp_path: Path) -> None:
    text = "import time\n\nfor _ in range(9):\n    time.sleep(100)\n"
    file = write(tmp_path, text)
    limits: dict[str, float] = {}

    async def analyzed(host: Any, job: Job, on_partial: Any, filters: Any) -> Outcome:
        limits[job.entry] = job.timeout_s
        return Outcome(job.file, "", "", "", job.entry, Status.TIMEOUT, 9.0)

    asyncio.run(analyze_by_entries(analyzed, None, Job(str(file), timeout_s=90), choose(str(file), text, None)))
    assert limits == {"model": 72, "script": 20}
