"""A program in the sandbox may send what it likes of a refused call: no code is made of it, for fixes write codes into files."""

from __future__ import annotations

import pytest

from compile_lens.agent.runtime.protocol import CallRefused
from compile_lens.analysis.finding import Finding, Kind, Place, Severity
from compile_lens.fixes.rewrites.ignore import ignore
from compile_lens.pipeline.run_facts import RunFacts
from compile_lens.syntax.tree import parse


def finding(code: str) -> Finding:
    place = Place("/p/train.py", 1, 1, 1, 9)
    return Finding(code, Kind.REFUSED, Severity.INFORMATION, "Sandbox: blocked writing x.", place)


@pytest.mark.parametrize("what", ["write]\nimport os  #", "everything", ""])
def test_what_no_sandbox_blocks_is_no_refusal(what: str) -> None:
    facts = RunFacts()
    facts.take(CallRefused(what, "writes", "/x", ()))
    facts.take(CallRefused("write", "writes", "/x", ()))
    assert [call.what for call in facts.refused] == ["write"]


def test_a_code_that_ends_a_comment_is_not_written() -> None:
    tree = parse("import os\n")
    assert len(list(ignore(finding("denied-write"), tree))) == 1
    assert not list(ignore(finding("denied-write]\nimport os  #"), tree))
