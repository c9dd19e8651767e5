"""What the plugin prints of a test run is text, and what lies beside the trace does not keep it waiting."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from compile_lens.analysis.finding import Finding, Kind, Place, Severity
from compile_lens.analysis.outcome import Outcome, Status
from compile_lens.pytest_plugin.recorder import Recorder
from compile_lens.pytest_plugin.suite import Suite

SAID = "Graph break: \x1b]0;owned\x07\u202e\n::error::owned"


@pytest.fixture
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Suite:
    monkeypatch.setenv("TORCH_TRACE", str(tmp_path))
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    suite = Suite(True)
    found = Finding("GB0059", Kind.GRAPH_BREAK, Severity.WARNING, SAID, Place("/::warning::x.py", 3, 1, 3, 5))
    outcome = Outcome("/t.py", "", "", "", "", Status.OK, 1.0, findings=(found,))
    monkeypatch.setattr(suite, "of_test", lambda: outcome)
    return suite


def is_harmless(text: str) -> bool:
    return not any(character in text for character in "\x1b\x07\u202e") and "\n::" not in f"\n{text}"


def test_what_a_program_says_is_text_in_the_summary_and_in_a_failure(suite: Suite) -> None:
    marker = SimpleNamespace(kwargs={"max_breaks": 0})
    item: Any = SimpleNamespace(
        nodeid="t", get_closest_marker=lambda _: marker, config=SimpleNamespace(getini=lambda _: [])
    )
    call = suite.pytest_runtest_call(item)
    next(call)
    with pytest.raises(pytest.fail.Exception) as failure:
        call.send(None)
    assert "Graph break: " in str(failure.value) and is_harmless(str(failure.value))
    lines: list[str] = []
    suite.pytest_terminal_summary(SimpleNamespace(section=lines.append, line=lines.append))  # type: ignore[arg-type]
    assert any("Graph break: " in line for line in lines) and all(map(is_harmless, lines))


@pytest.mark.parametrize(
    "stated", [{"\x1b]0;owned\x07": 1}, {"max_breaks": "\u202e\x1b[2J"}, ["\x1b]0;owned\x07=\n::error::x"]]
)
def test_a_budget_that_is_none_is_told_as_text(suite: Suite, stated: Any) -> None:
    marker = SimpleNamespace(kwargs=stated) if isinstance(stated, dict) else None
    config = SimpleNamespace(getini=lambda _: stated)
    with pytest.raises(pytest.fail.Exception) as failure:
        next(suite.pytest_runtest_call(SimpleNamespace(nodeid="t", get_closest_marker=lambda _: marker, config=config)))  # type: ignore[arg-type]
    assert is_harmless(str(failure.value))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a named pipe")
def test_pipes_and_endless_files_beside_the_trace_are_passed_over(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.log")
    (tmp_path / "b.log").symlink_to("/dev/zero")
    (tmp_path / "c.log").mkdir()
    (tmp_path / "d.log").write_text(f"V1122 10:00:00.1 {os.getpid()} torch/x.py:1] {{}}\n")
    recorder = Recorder(tmp_path)
    looking = threading.Thread(target=recorder.take, daemon=True)
    looking.start()
    looking.join(30)
    assert not looking.is_alive()
    assert recorder._file == tmp_path / "d.log"
    (tmp_path / "d.log").unlink()
    assert recorder.take() is None
