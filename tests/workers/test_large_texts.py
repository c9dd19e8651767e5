"""What a program's text makes others do outside of its budget is bounded: its tree takes a thousand times its length."""

from __future__ import annotations

import ast
import sys

import pytest

from compile_lens.agent.runtime.parsed_source import LONGEST_OUTSIDE
from compile_lens.agent.substitutes.cuda.usage import uses_gpu
from compile_lens.workers import syntax_question
from compile_lens.workers.syntax_question import ask_for_syntax_error


def test_the_standby_takes_no_large_text_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not uses_gpu("# cuda\n" + "a\n" * 1000)
    assert uses_gpu("Trainer(accelerator='gpu', devices=1)") and not uses_gpu("Trainer(accelerator='cpu')")
    monkeypatch.delattr(ast, "parse")
    assert uses_gpu("# cuda\n" + "a\n" * LONGEST_OUTSIDE)


@pytest.mark.skipif(sys.platform != "linux", reason="a limit of Linux")
async def test_the_question_for_syntax_errors_has_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "a\n" * 200_000 + "("
    assert await ask_for_syntax_error(sys.executable, "program.py", text) is not None
    monkeypatch.setattr(syntax_question, "MOST_BYTES", 64 << 20)
    assert await ask_for_syntax_error(sys.executable, "program.py", text) is None
