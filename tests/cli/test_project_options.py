"""A ``pyproject.toml`` that somebody else wrote: no verb ends with a failure of ours, and those that it has no say in are not kept."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from compile_lens.cli.verbs import run_verb
from compile_lens.settings.settings import Settings, read_settings

TABLE = "[tool.compile-lens]\n"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (f"{TABLE}depth = {'[' * 50_000}", 2),
        (f"{TABLE}severity = {'{a=' * 50_000}", 2),
        (f"{TABLE}timeout = {'9' * 5_000}", 2),
        (f"{TABLE}timeout = 1979-05-27\n", 0),
        (f"tool = 1\n# {TABLE}", 0),
        (f"[[tool]]\na = 1\n# {TABLE}", 0),
        (f'{TABLE}baseline = "a\\u0000b"\n', 0),
        (f'{TABLE}"\\u001b[31mx" = 1\n', 2),
    ],
)
def test_a_damaged_project_file_is_told_in_a_sentence(
    text: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "pyproject.toml").write_text(text)
    (tmp_path / "model.py").write_text("import torch\n")
    monkeypatch.chdir(tmp_path)
    assert run_verb(["predict", "model.py"]) == code
    said = capsys.readouterr()
    assert "\x1b" not in said.out + said.err
    assert (len(said.err.splitlines()) == 1) or not code
    # it is about checks; whoever wants to see what is cached, or to take a permission back, does not depend on it
    assert run_verb(["cache", "stat"]) == 0


@pytest.mark.parametrize("number", ["inf", "nan", "1e300", "1e12"])
def test_no_limit_is_longer_than_timers_take(
    number: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "pyproject.toml").write_text(f"{TABLE}timeout = {number}\n")
    monkeypatch.chdir(tmp_path)
    assert run_verb(["check", "model.py"]) == 2
    assert "is more than 1,000,000, or no number." in capsys.readouterr().err
    settings, problems = read_settings({"run": {"timeout": float(number)}, "budget": {"cpu": float(number)}})
    assert (settings, len(problems)) == (Settings(), 2)


def test_a_damaged_report_is_told_in_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = tmp_path / "report.json"
    report.write_text("[" * 200_000)
    assert run_verb(["diff", str(report), str(report)]) == 2
    report.unlink()
    if hasattr(os, "mkfifo"):
        os.mkfifo(report)
        assert run_verb(["diff", str(report), str(report)]) == 2
    assert all("is not a report of compile-lens" in line for line in capsys.readouterr().err.splitlines())
