"""For what could not be called, one line is offered that can: a call with what is known, and what of it to change."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.entries.test_entry_runs import run, write

from compile_lens.agent.inputs.calling.expressions import evaluate
from compile_lens.agent.inputs.synthesis.errors.blame import involved_arguments, line_of_failure
from compile_lens.analysis.coverage import NotCalled, measure
from compile_lens.analysis.outcome import Outcome
from compile_lens.analysis.outcome_parts import Unit
from compile_lens.shown_text import shell_argument
from compile_lens.syntax.tree import parse
from warm_host import WarmHost

pytestmark = pytest.mark.xdist_group("entries")
HEAD = "import zlib\nimport torch\nfrom torch import nn\n\n\n"
# no search finds the text with this checksum
LOCKED = (
    HEAD
    + """\
class Locked(nn.Module):
    def __init__(self, code: str, width: int):
        super().__init__()
        self._code = code
        self.linear = nn.Linear(width, width)

    def forward(self, x):
        x = self.linear(x)
        opened = zlib.crc32(self._code.encode()) == 7
        return x if opened else x.of_another_code
"""
)
ENDS = (
    HEAD
    + """\
class Ends(nn.Module):
    def __init__(self, code: str):
        super().__init__()
        raise SystemExit(3)

    def forward(self, x: torch.Tensor):
        return x
"""
)
HEIR = (
    HEAD
    + """\
class Base(nn.Module):
    def forward(self, x):
        raise NotImplementedError


class Heir(Base):
    def __init__(self, code: str):
        super().__init__()
        assert zlib.crc32(code.encode()) == 7, "another code"

    def forward(self, x):
        return x + 1
"""
)
KEEPS_MODEL = """\
import torch


class Embedder:
    def __init__(self, width: int = 4):
        self.model = torch.nn.Linear(width, width)

    def __call__(self, x: torch.Tensor):
        return self.model(x)


if __name__ == "__main__":
    print(Embedder)
"""


def only_missing(outcome: Outcome) -> Unit:
    assert outcome.coverage is not None
    (missing,) = outcome.coverage.missing
    return missing


def test_the_line_where_it_fails_and_the_argument_to_change_are_named(tmp_path: Path, warm_host: WarmHost) -> None:
    missing = only_missing(run(warm_host, write(tmp_path, LOCKED)))
    assert missing.draft.startswith("Locked(code=")
    assert (missing.failed_line, missing.failed_text) == (15, "return x if opened else x.of_another_code")
    assert "x" in missing.involved
    assert missing.what_failed.startswith(
        "It fails at line 15 (`return x if opened else x.of_another_code`): change `x`"
    )


def test_a_constructor_that_ends_the_program_is_offered_as_its_signature_says(
    tmp_path: Path, warm_host: WarmHost
) -> None:
    missing = only_missing(run(warm_host, write(tmp_path, ENDS)))
    assert missing.draft.startswith("Ends(code=")
    assert missing.draft.endswith("(x=float32[2, 16, 16])")


def test_of_a_base_class_the_call_of_an_heir_is_offered(tmp_path: Path, warm_host: WarmHost) -> None:
    outcome = run(warm_host, write(tmp_path, HEIR))
    assert outcome.coverage is not None
    drafts = {unit.name: unit for unit in outcome.coverage.missing}
    assert drafts["Heir"].failed_text == 'assert zlib.crc32(code.encode()) == 7, "another code"'
    assert drafts["Heir"].involved[0] == "code"


def test_a_base_class_in_a_package_offers_the_call_of_its_heir(tmp_path: Path, warm_host: WarmHost) -> None:
    package = tmp_path / "steps"
    package.mkdir()
    (package / "__init__.py").write_text("")
    base = package / "base.py"
    abstract = "from abc import ABC, abstractmethod\n"
    body = "class Step(nn.Module, ABC):\n    @abstractmethod\n    def forward(self, x):\n        ...\n"
    base.write_text(f"{abstract}{HEAD}{body}")
    heir = HEIR.replace(
        "class Base(nn.Module):\n    def forward(self, x):\n        raise NotImplementedError\n\n\n", ""
    )
    (package / "heir.py").write_text(f"from .base import Step\n{heir}".replace("Heir(Base)", "Heir(Step)"))
    outcome = run(warm_host, base)
    assert "it leaves its work to subclasses" in outcome.failure
    assert "--entry 'steps.heir.Heir(code=" in outcome.failure or '--entry "steps.heir.Heir(code=' in outcome.failure
    assert "another code" in outcome.failure


def test_a_file_without_modules_offers_the_class_that_keeps_one(tmp_path: Path, warm_host: WarmHost) -> None:
    file = write(tmp_path, KEEPS_MODEL)
    outcome = run(warm_host, file)
    reasons = [entry.reason for entry in outcome.passed_over]
    assert any(reason.endswith("Complete this call: --entry 'Embedder()(x=float32[2, 16, 16])'") for reason in reasons)


def test_what_the_file_is_about_is_listed_first() -> None:
    part = "class Part(nn.Module):\n    def forward(self, x):\n        return x\n\n\n"
    whole = "class Whole(nn.Module):\n    def forward(self, x):\n        return Part()(x)\n"
    tree = parse(HEAD + part + whole)
    coverage = measure(tree, (), (), (8, 16), (NotCalled("Part", "no", "Part()"), NotCalled("Whole", "no")))
    assert coverage is not None
    assert [unit.name for unit in coverage.missing] == ["Whole", "Part"]
    assert [unit.name for unit in coverage.units] == ["Part", "Whole"]


def test_blame_is_on_what_the_failing_lines_name() -> None:
    def outer(width: int) -> None:
        inner(width)

    def inner(size: int) -> None:
        raise ValueError(size)

    with pytest.raises(ValueError, match="3") as failed:
        outer(3)
    assert involved_arguments("Net(width=3, depth=2)(x=float32[2])", failed.value) == ("width",)
    # a line that names none of few arguments computes with what was made of them
    assert involved_arguments("Net(depth=2)(x=float32[2])", failed.value) == ("x", "depth")
    assert involved_arguments("Net(a=1, b=2, c=3, d=4)(x=1)", failed.value) == ()
    assert involved_arguments("no call", failed.value) == ()
    assert involved_arguments("Net(depth=2)(width=1)", failed.value, in_constructor=True) == ("depth",)
    assert line_of_failure(failed.value, "elsewhere.py") == 0
    assert line_of_failure(failed.value, __file__) > 0


def test_a_call_is_one_word_of_a_shell() -> None:
    assert shell_argument("Net(dim=4)") == "'Net(dim=4)'"
    assert shell_argument("Net(kind='a')") == "\"Net(kind='a')\""
    assert shell_argument("Net(kind='$a')") == "'Net(kind='\"'\"'$a'\"'\"')'"


def test_two_modules_of_one_package_need_no_import() -> None:
    call = evaluate("xml.dom.minidom.parseString(xml.sax.saxutils.quoteattr('a'))", {})
    assert call.positional == ('"a"',)


def test_a_call_that_the_program_forged_is_not_offered(tmp_path: Path, warm_host: WarmHost) -> None:
    text = f"""import gc
import sys

wire = next(o for o in gc.get_objects() if type(o).__name__ == "Wire")
protocol = next(module for name, module in sys.modules.items() if name.endswith("entry_protocol"))
forged = protocol.CallNotMade("Locked", "it failed", "Locked(code=__import__('os').system('x'))")
original = type(wire).tell


def tell(self, event):
    if isinstance(event, protocol.EntryCalled) and event.failed:
        event = protocol.EntryCalled(event.calls, (forged,))
    original(self, event)


type(wire).tell = tell
{LOCKED}"""
    outcome = run(warm_host, write(tmp_path, text))
    assert outcome.not_called
    assert {one.draft for one in outcome.not_called} == {""}
    assert "__import__" not in outcome.failure
