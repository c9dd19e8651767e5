"""What a program looked for and did not find: arguments, weights, data sets, files. One finding, which names it."""

from __future__ import annotations

from dataclasses import dataclass

from compile_lens.analysis.finding import Finding, Kind, Place, Severity

ARGUMENTS = "arguments"
MISSING_ARGUMENTS, MISSING_DATA = "missing-arguments", "missing-data"

WITH_CONFIGURATION = (
    "Random weights stand in for a model whose configuration is known: give it as `config=`, or name a folder that has its"
    " `config.json`."
)


@dataclass(frozen=True, slots=True)
class Lack:
    """``what`` is ``arguments``, or words such as ``a data set``; ``name`` is its name, or what a parser of arguments said."""

    what: str
    name: str

    @property
    def words(self) -> str:
        """``a data set `imdb` ``."""
        return f"{self.what} `{self.name}`" if self.name else self.what


def lack_finding(lack: Lack, place: Place, message: str) -> Finding:
    """The finding for a program that ended because of ``lack``; ``message`` is that of what it raised."""
    if lack.what == ARGUMENTS:
        return Finding(
            code=MISSING_ARGUMENTS,
            kind=Kind.RUN_ERROR,
            severity=Severity.ERROR,
            message=f"The program does not run with these arguments: {lack.name.strip().rstrip('.')}.",
            place=place,
            explanation="What comes after this line was not run, so it was not analysed.",
            hints=(
                "Give them after `--` on the command line, in the setting compileLens.run.arguments, or in a configuration of "
                "`.vscode/launch.json` whose `program` is this file.",
            ),
        )
    of_model = (WITH_CONFIGURATION,) if lack.what == "a pretrained model" else ()
    first = next((line.strip() for line in message.splitlines() if line.strip()), "").rstrip(".")
    why = f": {first}" if first else ""
    return Finding(
        code=MISSING_DATA,
        kind=Kind.RUN_ERROR,
        severity=Severity.ERROR,
        message=f"The program needs {lack.words}, which is not here{why}.",
        place=place,
        explanation="What comes after this line was not run, so it was not analysed. No network is used for a run, unless you allow it.",
        hints=(
            *of_model,
            "What compiles does not depend on its values: `compile-lens check --entry synthesized` calls the modules of the file with "
            "weights and inputs that are made up.",
        ),
    )
