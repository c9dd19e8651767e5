"""Writes the finding for arguments, weights, datasets or files that a program needs and did not find."""

from __future__ import annotations

from collections.abc import Sequence

from compile_lens.analysis.finding import ENDED_HERE, Finding, Kind, Place, Severity
from compile_lens.analysis.how_to_start import argument_with_default, arguments_for
from compile_lens.analysis.run_context import ARGUMENTS, MissingRequirement

MISSING_ARGUMENTS, MISSING_DATA = "missing-arguments", "missing-data"

WITH_CONFIGURATION = (
    "Random weights can replace those of a model with a known configuration: pass `config=`, or a folder with its"
    " `config.json`."
)
NO_NETWORK = "A run has no network access unless you allow it."


def missing_finding(
    missing: MissingRequirement, place: Place, message: str, without_network: bool, texts: Sequence[str], command: str
) -> Finding:
    """The finding for a program that ended because of ``missing``; ``message`` is that of what it raised.

    ``texts`` are the sources that may declare its arguments, and ``command`` is what analyzes it.
    """
    if missing.what == ARGUMENTS:
        needed = arguments_for(missing.name, texts)
        return Finding(
            code=MISSING_ARGUMENTS,
            kind=Kind.RUN_ERROR,
            severity=Severity.ERROR,
            message=f"The program needs different arguments: {missing.name.strip().rstrip('.')}.",
            place=place,
            explanation=ENDED_HERE,
            hints=(
                *((f"Run `{command} -- {needed}`, with your own values.",) if needed else ()),
                "Pass them after `--` on the command line, in the setting `compileLens.run.arguments`, or in a configuration of "
                "`.vscode/launch.json` whose `program` is this file.",
            ),
        )
    option = argument_with_default(missing.name, texts) if missing.name else ""
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
            *((f"Run `{command} -- {option} FILE`, with one of yours.",) if option else ()),
            "Compilation does not depend on its values: run `compile-lens check --entry synthesized` to call the modules of the file with "
            "random weights and synthesized inputs.",
        ),
    )
