"""Programs of our own: functions in common styles, and the scripts of ``examples`` and ``tests/fixtures``."""

from __future__ import annotations

from pathlib import Path

from benchmarks.prediction_corpus.own import language, leftovers, numerics, training, vision
from benchmarks.prediction_corpus.program import Program

ROOT = Path(__file__).parent.parent.parent

OWN = [
    Program(
        name=f"own {module.__name__.rpartition('.')[2]} {case}",
        module=module.__name__,
        region=case,
        subject=f"module.{case}",
        call=f"f(*module.CASES[{case!r}]())",
        family="own",
    )
    for module in (vision, language, training, numerics, leftovers)
    for case in module.CASES
]

# a fixture of errors ends in one on purpose
_SCRIPTS = [*sorted((ROOT / "examples").glob("*.py")), *sorted((ROOT / "tests" / "fixtures").glob("[!_e]*.py"))]
EXAMPLES = [
    Program(name=f"script {path.name}", module=str(path), region="", subject="", call="", is_script=True, family="own")
    for path in _SCRIPTS
]
