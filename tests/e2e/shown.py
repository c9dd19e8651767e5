"""What a real VS Code must show of findings: squiggles, rows of the Problems panel and of the tree, for the files of its tests."""

from __future__ import annotations

import shutil
from typing import Any

NOT_COPIED = shutil.ignore_patterns("__pycache__")
EXAMPLES = ("transformer_block.py", "training_step.py", "clean_model.py")
SEVERITIES = {"error": "error", "warning": "warning", "information": "info", "hint": "hint"}

SMALL = """\
import sys
from pathlib import Path

import torch

Path(sys.argv[0]).with_suffix(".ran").touch()


@torch.compile
def f(x):
    print("here")
    return x + 1


f(torch.ones(3))
"""


def without_print(text: str) -> tuple[str, str]:
    """The transformer example with its `print` taken out, and the line that is gone."""
    line = next(line for line in text.splitlines() if line.strip().startswith("print(f"))
    return text.replace(f"{line}\n", ""), line.strip()


def underlined(findings: list[dict[str, Any]], text: str, moved: int = 0) -> list[dict[str, Any]]:
    """The squiggles that the editor must show: one for each line of each range, those of a kind that overlap drawn as one.

    Of a hint VS Code marks only the first two characters.
    """
    lines = text.splitlines()
    marks = set()
    for each in findings:
        if each["severity"] == "hint":
            marks.add((each["line"], "hint", each["column"] - 1, each["column"] + 1))
            continue
        for number in range(each["line"], each["end_line"] + 1):
            line = lines[number - 1]
            start = each["column"] - 1 if number == each["line"] else len(line) - len(line.lstrip())
            end = each["end_column"] - 1 if number == each["end_line"] else len(line)
            marks.add((number, SEVERITIES[each["severity"]], start, end))
    drawn: list[tuple[int, str, int, int]] = []
    for number, severity, start, end in sorted(marks):
        if drawn and drawn[-1][:2] == (number, severity) and start <= drawn[-1][3]:
            number, severity, start, end = *drawn[-1][:3], max(end, drawn.pop()[3])
        drawn.append((number, severity, start, end))
    return [
        {"line": number + moved, "text": lines[number - 1][start:end], "severity": severity}
        for number, severity, start, end in drawn
    ]


def problem(finding: dict[str, Any]) -> dict[str, Any]:
    """The row of the Problems panel for a finding."""
    times = f" ({finding['count']} times)" if finding["count"] > 1 else ""
    return {
        "severity": SEVERITIES[finding["severity"]],
        "message": finding["message"] + times,
        "source": "compile-lens",
        "code": finding["code"],
        "line": finding["line"],
        "column": finding["column"],
    }


def row(finding: dict[str, Any]) -> str:
    """The row of the tree for a finding: its label and its description."""
    shown = problem(finding)
    code = "" if shown["code"] == finding["kind"] else f"{shown['code']} · "
    return f"{shown['message']} {code}line {shown['line']}"
