"""Turns predictions into findings, and drops those that a run has answered."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from compile_lens.analysis.finding import Finding, Kind, Place, RegionSummary, Related, Severity
from compile_lens.knowledge.entry import KnowledgeKind
from compile_lens.knowledge.versions import history, order
from compile_lens.syntax.predictions import measured, registry
from compile_lens.syntax.predictions.predict import predict
from compile_lens.syntax.predictions.prediction import Prediction
from compile_lens.syntax.tree import SourceTree

LEADS_HERE = "This compile region reaches the line"


def find_predictions(
    file: str,
    source: str | SourceTree,
    torch: str = "",
    rules: frozenset[str] | None = None,
) -> tuple[Finding, ...]:
    """The predictions for a text as findings, in its order.

    ``torch`` is the version that will run the file, '' if that is not known: what that version does not know as a break is left out.
    ``rules`` are names of rules; None takes all that are on.
    """
    return tuple(_finding(file, each, torch) for each in predict(source, rules) if _is_known(each, torch))


def still_predicted(predictions: Iterable[Finding], regions: Iterable[RegionSummary]) -> tuple[Finding, ...]:
    """The predictions that a run has told nothing of: those that no region which it compiled leads to.

    ``regions`` are the summaries of an outcome of the same text. A region that was compiled has told what breaks in the functions
    that it reaches, by a finding or by none; one that was not reached has told nothing.
    """
    compiled = {(region.place.line, region.place.column) for region in regions if region.frames}
    return tuple(
        prediction
        for prediction in predictions
        if not any((entry.place.line, entry.place.column) in compiled for entry in prediction.related)
    )


def _is_known(prediction: Prediction, torch: str) -> bool:
    """Whether ``torch`` may break there: it has the code, or it is a release from before there were codes (2.6 and 2.7)."""
    past = history()
    release = ".".join(map(str, order(torch)))
    releases = past.seen(KnowledgeKind.CODE, prediction.code)
    return (
        not torch
        or not releases
        or release in releases
        or order(torch) < _first_with_codes()
        or release not in past.releases
    )


@cache
def _first_with_codes() -> tuple[int, int]:
    past = history()
    return min(order(past.seen(KnowledgeKind.CODE, code)[0]) for code in past.known_elsewhere(KnowledgeKind.CODE))


def _finding(file: str, prediction: Prediction, torch: str) -> Finding:
    place = prediction.place
    return Finding(
        code=prediction.code,
        kind=Kind.PREDICTION,
        severity=Severity.HINT,
        message=f"Predicted graph break: {prediction.sentence}.",
        place=Place(file, place.line, place.column, place.end_line, place.end_column),
        explanation="\n\n".join(_explanation(prediction, torch)),
        hints=registry.BY_NAME[prediction.rule].hints,
        related=tuple(
            Related(Place(file, region.line, region.column, region.end_line, region.end_column), LEADS_HERE)
            for region in prediction.regions
        ),
        detail=f"rule: {prediction.rule}",
    )


def _explanation(prediction: Prediction, torch: str) -> list[str]:
    names = list(dict.fromkeys(region.name for region in prediction.regions))
    reached = ", ".join(f"`{name}`" for name in names)
    rule = registry.BY_NAME[prediction.rule]
    parts = [
        f"Predicted from the source, without a run: the line is reached from {reached}. A run replaces the prediction with what happens.",
        f"Rule `{rule.name}`: {rule.about}. {_verified(rule, torch)}",
    ]
    if prediction.is_error:
        parts.insert(1, "Under `fullgraph=True` a graph break is an error.")
    return parts


def _verified(rule: registry.Rule, torch: str) -> str:
    measured_on = f"Measured on torch {measured.TORCH}"
    judged = rule.right + rule.wrong
    if judged:
        measured_on += f": {rule.right} of its {judged} predictions were right ({rule.right / judged:.0%})"
    measured_on += "."
    if not torch or torch.split("+")[0] == measured.TORCH:
        return measured_on
    release = ".".join(map(str, order(torch)))
    known = [code for code in rule.codes if release in history().seen(KnowledgeKind.CODE, code)]
    if order(torch) < _first_with_codes():
        return f"{measured_on} This file runs on torch {torch}, which has no codes for graph breaks yet."
    return f"{measured_on} This file runs on torch {torch}{', which has ' + ' and '.join(known) if known else ''}."
