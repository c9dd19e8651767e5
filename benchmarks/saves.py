"""From a save in the editor to the last finding and to the first one, beside a plain run with the backend ``eager``."""

from __future__ import annotations

import shutil
import statistics
import tempfile
from pathlib import Path

from benchmarks.editing import analyzed, seconds_of_save, seconds_to_first_finding, server
from benchmarks.plain_runs import plain_run
from benchmarks.table.figure import Figure

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.py"))
WITH_FINDINGS = ("training_step.py", "transformer_block.py")
REPEATS = 3
PLAIN = "plain, eager"


async def measure() -> list[Figure]:
    """Each example in a standby that has run it before."""
    figures = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, "examples")
        folder.mkdir()
        async with server(folder, {"fixes": {"verify": False}}) as editor:
            for example in EXAMPLES:
                file = Path(shutil.copy(example, folder))
                plain = statistics.median(plain_run(file, Path(scratch)).clock for _ in range(REPEATS))
                since = editor.mark()
                uri = await editor.open(file)
                await analyzed(editor, since)
                taken = [await seconds_of_save(editor, uri) for _ in range(REPEATS)]
                figures.append(Figure(f"`{file.name}`", statistics.median(taken), "s", plain, PLAIN, 0.1))
                if file.name in WITH_FINDINGS:
                    early = [await seconds_to_first_finding(editor, uri, file) for _ in range(REPEATS)]
                    case = f"`{file.name}`, first finding"
                    figures.append(Figure(case, statistics.median(early), "s", plain, PLAIN, 0.05))
                await editor.close(uri)
    return figures
