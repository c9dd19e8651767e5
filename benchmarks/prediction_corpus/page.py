"""The words of ``docs/predictions.md``."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.prediction_corpus.judge import Judged
from compile_lens.syntax.predictions import measured, registry


def page(ran: Mapping[str, int], parts: Mapping[str, tuple[Judged, str, str]], packages: list[str]) -> str:
    """``ran`` counts programs by family; ``parts`` are the verdicts of each part, with figures of the rules on and of all."""
    own, looked_at, held_out = (parts[name][0] for name in ("own", "looked at", "held out"))
    judged = [own, looked_at, held_out]
    return "\n".join(
        [
            "# Predictions",
            "",
            "A prediction is a graph break that the source foretells, without running anything. It is a hint, is marked as a",
            "prediction, and goes as soon as the file has run. In an editor it comes as you type, in workspaces where nothing may run,",
            "too; in the terminal, `compile-lens predict FILE` prints it. `compileLens.predictions.enabled` turns all of them off and",
            '`compileLens.predictions.rules`, as in `{"tensor-item": false, "copy": true}`, single rules off and on.',
            "",
            "Breaks depend on values and on torch, so each rule is measured. This page is written by",
            "`python -m benchmarks.prediction_corpus`, as is `measured.py`, which the product reads.",
            "",
            f"Measured on torch {measured.TORCH}, depth `dynamo`, in three parts:",
            "",
            f"- *own*: {ran.get('own', 0)} programs of our own, the examples and the fixtures, {len(own.functions)} functions. Some"
            " were written to exercise a rule: they say that torch breaks there, and little of how often a rule is wrong elsewhere.",
            f"- *looked at*: {ran.get('transformers', 0)} runs of models of transformers, {ran.get('generation', 0)} of its helpers,"
            f" {ran.get('torch', 0)} of torch's own library, {len(looked_at.functions)} functions. The rules were refined while these"
            " were looked at.",
            f"- *held out*: {ran.get('held-out', 0)} functions and modules and {ran.get('held-out models', 0)} models that no rule was"
            f" tuned on, {len(held_out.functions)} functions of theirs ran: {', '.join(packages)}, and modules of torch that the other"
            " part does not have (`benchmarks/prediction_corpus/held_out`).",
            "",
            "| part | rules that are on | all rules |",
            "|---|---|---|",
            *(f"| {name} | {on} | {every} |" for name, (_, on, every) in parts.items()),
            "",
            "Which rules are on was decided with the held-out part, too; what the rules say was not changed for it.",
            "A prediction is right if torch reports a break of one of the rule's codes at its line, and wrong if the expression was",
            "evaluated and no such break is reported. Not judged are predictions that were not evaluated"
            f" ({sum(len(part.not_run) for part in judged)}), and those",
            "in a function that Dynamo had given up on as a whole for an earlier break"
            f" ({sum(len(part.masked) for part in judged)}). Recall counts every break, of any code, at an executed line of the files",
            "that predictions were made for, but those inside of another file's function that the line calls"
            f" ({sum(len(part.elsewhere) for part in judged)}): predictions look at one file.",
            "",
            f"A rule is on if at least {registry.LEAST_PRECISION:.0%} of its predictions in all parts came true, and it either was"
            f" judged at least {registry.LEAST_JUDGED} times",
            "in real code (looked at and held out) or is *certain*: what is called decides alone, whatever it is given, and",
            "`tests/analysis/test_certain_predictions.py` runs every such name with torch.",
            "",
            "On another torch than the one it was measured on, a prediction says so; one whose code that release does not have is left",
            "out. Releases 2.6 and 2.7 have no codes; there all rules are used.",
            "",
            "| rule | | code | own | looked at | held out | precision | |",
            "|---|---|---|---|---|---|---|---|",
            *(_row(rule) for rule in registry.RULES),
            "",
        ]
    )


def _row(rule: registry.Rule) -> str:
    precision = "–" if rule.precision is None else f"{rule.precision:.2f}"
    figures = rule.figures
    counts = [
        f"{right} of {right + wrong}" if right + wrong else "–"
        for right, wrong in (figures.own, figures.looked_at, figures.held_out)
    ]
    return (
        f"| `{rule.name}` | {rule.about} | {', '.join(rule.codes)} | {' | '.join(counts)} | {precision} |"
        f" {'on' if rule.is_on else 'off'}{', certain' if rule.is_certain else ''} |"
    )
