"""What a program looked for and did not find: arguments, weights, data sets, files. One finding, which names it."""

from __future__ import annotations

from compile_lens.analysis.finding import Finding, Kind, Place, Severity
from compile_lens.analysis.run_context import ARGUMENTS, MissingRequirement

MISSING_ARGUMENTS, MISSING_DATA = "missing-arguments", "missing-data"

WITH_CONFIGURATION = (
    "Random weights stand in for a model whose configuration is known: give it as `config=`, or name a folder that has its"
    " `config.json`."
)


def missing_finding(missing: MissingRequirement, place: Place, message: str) -> Finding:
    """The finding for a program that ended because of ``missing``; ``message`` is that of what it raised."""
    if missing.what == ARGUMENTS:
        return Finding(
            code=MISSING_ARGUMENTS,
            kind=Kind.RUN_ERROR,
            severity=Severity.ERROR,
            message=f"The program does not run with these arguments: {missing.name.strip().rstrip('.')}.",
            place=place,
            explanation="What comes after this line was not run, so it was not analysed.",
            hints=(
                "Give them after `--` on the command line, in the setting compileLens.run.arguments, or in a configuration of "
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
        message=f"The program needs {missing.words}, which is not here{why}.",
        place=place,
        explanation="What comes after this line was not run, so it was not analysed. No network is used for a run, unless you allow it.",
        hints=(
            *of_model,
            "What compiles does not depend on its values: `compile-lens check --entry synthesised` calls the modules of the file with "
            "weights and inputs that are made up.",
        ),
    )
