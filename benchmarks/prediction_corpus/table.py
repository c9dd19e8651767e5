"""The figures: what ``measured.py`` of the product holds, and the page ``docs/predictions.md``."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from importlib import reload
from pathlib import Path

import torch

from benchmarks.prediction_corpus.judge import Judged
from benchmarks.prediction_corpus.program import Program
from compile_lens.syntax.predictions import measured, registry
from compile_lens.syntax.predictions.prediction import Prediction

ROOT = Path(__file__).parent.parent.parent
MEASURED = Path(measured.__file__)
PAGE = ROOT / "docs" / "predictions.md"


def summary(programs: list[Program], statuses: dict[str, str], judged: Judged, seconds: float) -> str:
    """For the terminal."""
    return (
        f"{sum(status == 'ok' for status in statuses.values())} of {len(programs)} programs ran,"
        f" {len(judged.functions)} functions, {seconds:.0f} s\n"
        f"all rules: {_figures(judged, registry.ALL)}\nthose on:  {_figures(judged, registry.ON)}"
    )


def write(programs: list[Program], statuses: dict[str, str], judged: Judged) -> None:
    """Write the figures, and then the page with the rules that are on because of them."""
    own = {program.module for program in programs if program.family == "own"}
    by_rule = judged.by_rule()
    lines = "".join(f'    "{name}": {figures},\n' for name, figures in by_rule.items() if any(figures))
    MEASURED.write_text(
        '"""Measured by ``python -m benchmarks.prediction_corpus``, which writes this file: per rule, right and wrong."""\n\n'
        "from __future__ import annotations\n\n"
        f'TORCH = "{torch.__version__.split("+")[0]}"\n'
        f"FIGURES: dict[str, tuple[int, int]] = {{\n{lines}}}\n",
        encoding="utf-8",
    )
    subprocess.run([sys.executable, "-m", "ruff", "format", "--quiet", str(MEASURED)], check=True)
    reload(measured)
    reload(registry)
    PAGE.write_text(_page(programs, statuses, judged, own), encoding="utf-8")


def _counts(judged: Judged, rules: frozenset[str]) -> tuple[int, int, int, int]:
    """Right, wrong, found breaks, missed breaks, with these rules alone."""
    right = [(file, prediction) for file, prediction in judged.right if prediction.rule in rules]
    wrong = sum(prediction.rule in rules for _, prediction in judged.wrong)
    found = sum(
        any(
            file == broken.file
            and prediction.place.line <= broken.line <= prediction.place.end_line
            and broken.code in registry.BY_NAME[prediction.rule].codes
            for file, prediction in right
        )
        for broken in judged.found
    )
    return len(right), wrong, found, len(judged.found) - found + len(judged.missed)


def _figures(judged: Judged, rules: frozenset[str]) -> str:
    right, wrong, found, missed = _counts(judged, rules)
    precision, recall = right / max(1, right + wrong), found / max(1, found + missed)
    return f"precision {precision:.3f} ({right} of {right + wrong}), recall {recall:.3f} ({found} of {found + missed})"


def _page(programs: list[Program], statuses: dict[str, str], judged: Judged, own: set[str]) -> str:
    ran = [program for program in programs if statuses.get(program.name) == "ok"]
    families = Counter(program.family for program in ran)
    own_files = {Path(path.replace(".", "/")).name if "/" not in path else Path(path).stem for path in own}
    in_own = sum(Path(file).stem in own_files for file, _ in judged.functions)
    return "\n".join(
        [
            "# Predictions",
            "",
            "A prediction is a graph break that the source foretells, without running anything. It is a hint, is marked as a",
            "prediction, and goes as soon as the file has run. Breaks depend on values and on torch; so each rule is measured, and one",
            f"is on only if at least {registry.LEAST_PRECISION:.0%} of its predictions come true, of at least"
            f" {registry.LEAST_JUDGED}.",
            "",
            "This page is written by `python -m benchmarks.prediction_corpus`, as is `measured.py`, which the product reads.",
            "",
            f"Measured on torch {measured.TORCH}, depth `dynamo`, on {len(ran)} programs: {families['transformers']} runs of models"
            f" of transformers, {families['generation']} of its helpers, {families['torch']} of torch's own library,"
            f" {families['own']} of our own.",
            f"Predictions were made for {len(judged.functions)} functions that ran, {in_own} of them our own.",
            "",
            f"- Rules that are on: {_figures(judged, registry.ON)}.",
            f"- All rules: {_figures(judged, registry.ALL)}.",
            f"- Rules that are on, in installed code alone: {_in_installed_code(judged, own_files)}.",
            "",
            "The rules were refined while these programs were looked at: on code that nobody has looked at, expect less.",
            "Some rules reached the minimum only through programs written to exercise them (`own/leftovers.py`): for those the figure",
            "says that torch breaks there, and little of how often a rule is wrong elsewhere.",
            "A prediction is right if torch reports a break of one of the rule's codes at its line, and wrong if the expression was",
            "evaluated and no such break is reported. Not judged are predictions that were not evaluated"
            f" ({len(judged.not_run)}), and those",
            f"in a function that Dynamo had given up on as a whole for an earlier break ({len(judged.masked)}).",
            "Recall counts every break, of any code, at an executed line of the files that predictions were made for.",
            "",
            "| rule | | code | right | wrong | precision | |",
            "|---|---|---|---|---|---|---|",
            *(_row(rule) for rule in registry.RULES),
            "",
        ]
    )


def _in_installed_code(judged: Judged, own_files: set[str]) -> str:
    def count(verdicts: list[tuple[str, Prediction]]) -> int:
        return sum(found.rule in registry.ON and Path(file).stem not in own_files for file, found in verdicts)

    right, wrong = count(judged.right), count(judged.wrong)
    return f"precision {right / max(1, right + wrong):.3f} ({right} of {right + wrong})"


def _row(rule: registry.Rule) -> str:
    precision = "–" if rule.precision is None else f"{rule.precision:.2f}"
    codes = ", ".join(rule.codes)
    return (
        f"| `{rule.name}` | {rule.about} | {codes} | {rule.right} | {rule.wrong} | {precision} |"
        f" {'on' if rule.is_on else 'off'} |"
    )
