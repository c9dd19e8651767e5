"""Predictions as findings, and which of them a run has made obsolete."""

from __future__ import annotations

from collections.abc import Iterable

from compile_lens.analysis.finding import Finding, Kind, Place, RegionSummary, Severity
from compile_lens.syntax.predictions import measured, registry
from compile_lens.syntax.predictions.predict import predict
from compile_lens.syntax.predictions.prediction import Prediction
from compile_lens.syntax.tree import SourceTree


def find_predictions(
    file: str,
    source: str | SourceTree,
    torch: str = "",
    rules: frozenset[str] | None = None,
    regions: Iterable[RegionSummary] = (),
) -> tuple[Finding, ...]:
    """The predictions for a text as findings, in its order, without those that a run of the same text has replaced.

    ``torch`` is the version that will run the file, '' if that is not known. ``rules`` are names of rules; None takes all that are on.
    ``regions`` are those of the last outcome of exactly this text; without one, nothing is replaced.
    """
    kept = still_predicted(predict(source, rules), regions)
    return tuple(_finding(file, prediction, torch) for prediction in kept)


def still_predicted(predictions: Iterable[Prediction], regions: Iterable[RegionSummary]) -> tuple[Prediction, ...]:
    """The predictions that a run said nothing of: those that no region which it compiled leads to.

    ``regions`` are the summaries of an outcome of the same text. A region that was compiled has told what breaks in the functions
    that it reaches, by a finding or by none; one that was not reached has told nothing.
    """
    compiled = {(region.place.line, region.place.column) for region in regions if region.frames}
    return tuple(
        prediction
        for prediction in predictions
        if not any((region.line, region.column) in compiled for region in prediction.regions)
    )


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
        detail=f"rule: {prediction.rule}",
    )


def _explanation(prediction: Prediction, torch: str) -> list[str]:
    names = list(dict.fromkeys(region.name for region in prediction.regions))
    reached = ", ".join(f"`{name}`" for name in names)
    said = [
        f"This is a prediction from the source: nothing was run. The line is reached from {reached}. It is replaced by what really"
        " happens as soon as the file has run."
    ]
    if prediction.is_error:
        said.append("With fullgraph=True a graph break is an error.")
    verified = f"The rule `{prediction.rule}` was measured on torch {measured.TORCH}"
    rule = registry.BY_NAME[prediction.rule]
    if rule.right + rule.wrong:
        verified += f": {rule.right} of its {rule.right + rule.wrong} predictions came true"
    is_other = torch and torch.split("+")[0] != measured.TORCH
    said.append(f"{verified}{f'; this file runs on torch {torch}' if is_other else ''}.")
    return said
