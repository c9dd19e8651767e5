"""The words of ``docs/predictions.md``."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.prediction_corpus.judge import Judged
from compile_lens.syntax.predictions import measured, registry


def page(ran: Mapping[str, int], parts: Mapping[str, tuple[Judged, str]], packages: list[str]) -> str:
    """``ran`` counts programs by family; ``parts`` are the verdicts and the figures of each part."""
    own, looked_at, held_out = (parts[name][0] for name in ("own", "looked at", "held out"))
    judged = [own, looked_at, held_out]
    return "\n".join(
        [
            "# Predictions",
            "",
            "A prediction is a graph break that Compile Lens finds in the source alone, without running anything. It is a hint, it says",
            "that it is a prediction, and the results of a run replace it.",
            "",
            "- In an editor, predictions appear as you type, even in workspaces in which nothing may run.",
            "- In the terminal, `compile-lens predict FILE` prints them.",
            "- `compileLens.predictions.enabled` turns all of them off.",
            '- `compileLens.predictions.rules` turns off single rules, as in `{"tensor-item": false}`.',
            "",
            "## How they are measured",
            "",
            "Breaks depend on values and on torch, so each rule is measured on real programs. `python -m benchmarks.prediction_corpus`",
            "writes this page and `measured.py`, which the product reads.",
            "",
            f"Measured on torch {measured.TORCH}, depth `dynamo`, in three parts:",
            "",
            f"- *own*: {ran.get('own', 0)} programs of this repository (examples, fixtures, programs for single rules),"
            f" {len(own.functions)} functions. They show that torch breaks there, and little about false predictions elsewhere.",
            f"- *looked at*: {ran.get('transformers', 0)} runs of models of transformers, {ran.get('generation', 0)} of its helpers,"
            f" {ran.get('torch', 0)} of torch's own library, {len(looked_at.functions)} functions. The rules were tuned on these.",
            f"- *held out*: {ran.get('held-out', 0)} functions and modules and {ran.get('held-out models', 0)} models on which no rule"
            f" was tuned, {len(held_out.functions)} functions: {', '.join(packages)}, and modules of torch that the other part"
            " does not have (`benchmarks/prediction_corpus/held_out`).",
            "",
            "| part | precision and recall |",
            "|---|---|",
            *(f"| {name} | {figures} |" for name, (_, figures) in parts.items()),
            "",
            "A prediction is right if torch reports a break with one of the rule's codes at its line. It is wrong if the expression was",
            f"evaluated and torch reports no such break. {sum(len(part.not_run) for part in judged)} predictions were not evaluated, and",
            f"{sum(len(part.masked) for part in judged)} are in a function that Dynamo stopped tracing at an earlier break; neither is"
            " judged.",
            "",
            "Recall counts every break, of any code, at an executed line of these files. It excludes breaks inside a function of another",
            f"file that the line calls ({sum(len(part.elsewhere) for part in judged)}), because predictions read one file only.",
            "",
            "## Rules",
            "",
            f"At least {registry.LEAST_PRECISION:.0%} of a rule's predictions must be right. In addition, it must be judged at least"
            f" {registry.LEAST_JUDGED} times in real",
            "code (looked at and held out), or be *certain*: the called name alone decides, whatever its arguments, and",
            "`tests/analysis/test_certain_predictions.py` runs every such name with torch.",
            "",
            "If the file runs on another torch than the one measured, the prediction says so. A prediction whose code that release does",
            "not have is left out. Torch 2.6 and 2.7 have no codes; all rules apply there.",
            "",
            "| rule | | code | own | looked at | held out | precision | |",
            "|---|---|---|---|---|---|---|---|",
            *(_row(rule) for rule in registry.RULES),
            "",
            "The following constructs break, too, but are not predicted. A rule for them was wrong too often, or real code had too few",
            "examples to measure it:",
            "",
            "- boolean masks (`x[mask]`: 26 of 32 predictions were right) and `x.requires_grad_()` (3 of 4)",
            "- `assert` of a tensor with an f-string, `not x` as a value, Python's `any` and `all` over tensors, `sorted` of tensors",
            "- `math.sqrt(x)`, `complex(x)`, `str(x)`, `range(n)`, slices, indices and sizes with a tensor `n`",
            "- `repeat_interleave` by a tensor, `x.to_sparse()`, `x.retain_grad()`, `x.is_inference()`, `x.storage_offset()`",
            "- `copy.copy` and `copy.deepcopy` of a tensor",
            "",
        ]
    )


def _row(rule: registry.Rule) -> str:
    precision = "–" if rule.precision is None else f"{rule.precision:.2f}"
    measurement = rule.measurement
    counts = [
        f"{right} of {right + wrong}" if right + wrong else "–"
        for right, wrong in (measurement.own, measurement.looked_at, measurement.held_out)
    ]
    return (
        f"| `{rule.name}` | {rule.about} | {', '.join(rule.codes)} | {' | '.join(counts)} | {precision} |"
        f" {'certain' if rule.is_certain else ''} |"
    )
