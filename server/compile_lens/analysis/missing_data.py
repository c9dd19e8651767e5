"""Reports data sets, arrays and processors that are missing, and what replaced them so that the program could run."""

from __future__ import annotations

from collections.abc import Iterator

from compile_lens.analysis.finding import Finding, Severity
from compile_lens.analysis.run_context import RunContext
from compile_lens.analysis.stand_ins import stand_in_finding

DATA = "made-up-data"
SWITCH = 'To let the program raise instead, set `compileLens.run.missingData` to "off" or pass `--missing-data off`.'
SAME = "Graph breaks and guards do not depend on such values. Lengths, and a last batch of another size, may differ from the real data's."
WORDS = {
    "dataset": "The data set `{0}` is not on this machine; {1} replace it.",
    "array": "The file `{0}` is not on this machine; {1} replace it.",
    "processor": "The processor `{0}` is not on this machine; `{1}` with its defaults replaces it.",
}


def find_missing_data(context: RunContext) -> Iterator[Finding]:
    """One finding for each line that loads something that is missing."""
    for one in context.report.missing_resources:
        if one.what in WORDS:
            message = WORDS[one.what].format(one.name, one.replacement)
            yield stand_in_finding(DATA, Severity.INFORMATION, message, SAME, one, context.sources, (SWITCH,))
