"""What happens inside an installed library: at the user's line that calls it, or where it happens."""

from __future__ import annotations

import pytest

from compile_lens.analysis.break_hints import INSIDE_WRAPPER, LIBRARY_HINT, STEP_HINT, hints_of
from compile_lens.analysis.filters import Filters
from compile_lens.analysis.finding import Place
from compile_lens.analysis.sources import Sources
from compile_lens.trace.break_text import parse_reason
from compile_lens.trace.report import StackFrame
from replay import JOB, replay

SITE = "/home/me/.venv/lib/python3.11/site-packages"
REQUESTED = """Call to `torch._dynamo.graph_break()`
  Explanation: User-inserted graph break. Message: None
  Hint: Remove the `torch._dynamo.graph_break()` call.
"""
# torch 2.13; the frame of `contextlib` is traced on its own, so that nothing of the wrapper is on the stack
INSIDE = """Attempted to call function marked as skipped
  Explanation: Developers have marked that the function `DistributedDataParallel._inside_ddp_forward` should not be traced.
  Hint: Avoid calling the function `DistributedDataParallel._inside_ddp_forward`.
  Hint: Please file an issue to PyTorch.
"""


def test_a_break_inside_a_library_stands_at_the_users_line_or_at_the_librarys() -> None:
    mine = replay("fixtures", "break_in_package").findings
    everything = replay("fixtures", "break_in_package", filters=Filters(just_my_code=False)).findings
    assert {finding.place.file for finding in mine} == {f"{JOB}/break_in_package.py"}
    assert {finding.place.file for finding in everything}.isdisjoint(finding.place.file for finding in mine)
    assert any("/jinja2/" in finding.place.file for finding in everything)
    # the way there is told in both
    for finding in (*mine, *everything):
        assert [site.place.file for site in finding.call_path][:2] == [f"{JOB}/break_in_package.py"] * 2


def test_what_carries_calls_is_nobodys_code() -> None:
    mine = Sources("/home/me/train.py", lambda _: None, ("/opt/torch-checkout/torch/",), "/agent/")
    everything = Sources("/home/me/train.py", lambda _: None, ("/opt/torch-checkout/torch/",), "/agent/", False)
    library = "/home/me/.venv/lib/python3.11/site-packages/jinja2/utils.py"
    layer = "/opt/torch-checkout/torch/nn/modules/linear.py"
    assert not mine.is_own(library) and not mine.is_own(layer)
    assert everything.is_own(library) and everything.is_own(layer)
    for sources in (mine, everything):
        assert sources.is_own("/home/me/model.py")
        for nobodys in (
            "/agent/boot.py",
            "<string>",
            "/x/torch/_dynamo/eval_frame.py",
            "/x/torch/nn/modules/module.py",
        ):
            assert sources.is_own(nobodys) == (sources is mine and nobodys.startswith("/x/"))


@pytest.mark.parametrize(
    ("text", "file", "name", "hint"),
    [
        (REQUESTED, f"{SITE}/torch/optim/optimizer.py", "_use_grad", STEP_HINT),
        (REQUESTED, f"{SITE}/trainer/loop.py", "advance", LIBRARY_HINT.format(name="advance")),
        (REQUESTED, "/home/me/train.py", "f", "Remove the `torch._dynamo.graph_break()` call."),
        (INSIDE, "/usr/lib/python3.11/contextlib.py", "__init__", INSIDE_WRAPPER),
    ],
)
def test_nobody_is_told_to_change_a_library(text: str, file: str, name: str, hint: str) -> None:
    sources = Sources("/home/me/train.py", lambda _: None)
    stack = (StackFrame("/home/me/train.py", 3, "f"), StackFrame(file, 80, name))
    assert hints_of(parse_reason(text), Place("/home/me/train.py", 3, 1, 3, 9), sources, stack) == (hint,)
