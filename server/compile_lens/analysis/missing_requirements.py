"""Writes the finding for arguments, weights, datasets or files that a program needs and did not find."""

from __future__ import annotations

from compile_lens.analysis.finding import ENDED_HERE, Finding, Kind, Place, Severity
from compile_lens.analysis.run_context import ARGUMENTS, MissingRequirement

MISSING_ARGUMENTS, MISSING_DATA = "missing-arguments", "missing-data"

WITH_CONFIGURATION = (
    "Random weights can replace those of a model with a known configuration: pass `config=`, or a folder with its"
    " `config.json`."
)
NO_NETWORK = "A run has no network access unless you allow it."


def missing_finding(missing: MissingRequirement, place: Place, message: str, without_network: bool) -> Finding:
    """The finding for a program that ended because of ``missing``; ``message`` is that of what it raised."""
    if missing.what == ARGUMENTS:
        return Finding(
            code=MISSING_ARGUMENTS,
            kind=Kind.RUN_ERROR,
            severity=Severity.ERROR,
            message=f"The program needs different arguments: {missing.name.strip().rstrip('.')}.",
            place=place,
            explanation=ENDED_HERE,
            hints=(
                "Pass them after `--` on the command line, in the setting `compileLens.run.arguments`, or in a configuration of "
                "`.vscode/launch.json` whose `program` is this file.",
            ),
        )
    of_model = (WITH_CONFIGURATION,) if missing.what == "a pretrained model" else ()
    first = next((line.strip() for line in message.splitlines() if line.strip()), "").rstrip(".")
    why = f": {first}" if first else ""
    return Finding(
        code=MISSING_DATA,
        kind=Kind.RUN_ERROR,
        severity=Severity.ERROR,
        message=f"The program needs {missing.words}, which is not on this machine{why}.",
        place=place,
        explanation=f"{ENDED_HERE} {NO_NETWORK}" if without_network else ENDED_HERE,
        hints=(
            *of_model,
            "Compilation does not depend on its values: run `compile-lens check --entry synthesized` to call the modules of the file with "
            "random weights and synthesized inputs.",
        ),
    )
