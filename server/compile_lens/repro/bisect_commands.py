"""Shell commands that repeat the steps of a bisection with torch only, in private caches."""

from __future__ import annotations

from pathlib import Path

from compile_lens.agent.runtime.search_protocol import BisectionBegan, OptionChange
from compile_lens.repro.verdict import Verdict
from compile_lens.shown_text import shell_line

PRIVATE = "TORCHINDUCTOR_CACHE_DIR=$(mktemp -d)"


def commands(
    verdict: Verdict | None, python: str, repro: Path, arguments: tuple[str, ...], search: BisectionBegan
) -> tuple[tuple[str, str], ...]:
    """Titles and shell lines. ``search`` describes the bisector: the options among its subsystems, and whether it has ``run``."""
    program = shell_line([python, str(repro), *arguments])
    if verdict is None:
        return ()
    backend = f"TORCH_COMPILE_BACKEND={shell_line([verdict.backend])}"
    found = [(f"With {verdict.backend}", f"{backend} {program}; echo $?")]
    change = search.changes.get(verdict.subsystem or "")
    if change is not None:
        found.append((f"With {change.field} = {change.value}", _with_option(change, backend, python, repro, arguments)))
    elif verdict.subsystem is not None and verdict.number is not None:
        for title, number in (("bad", verdict.number), ("good", verdict.number - 1)):
            setting = (
                f"TORCH_BISECT_BACKEND={shell_line([verdict.backend])} "
                f"TORCH_BISECT_SUBSYSTEM={shell_line([verdict.subsystem])} TORCH_BISECT_MAX={number}"
            )
            found.append(
                (
                    f"{verdict.subsystem} up to number {number} ({title})",
                    f"{PRIVATE} {backend} {setting} {program}; echo $?",
                )
            )
    if search.has_run:
        found.append(
            (
                "The whole bisection with torch only (takes minutes and deletes the cache directory that it is given)",
                f"{PRIVATE} {shell_line([python])} -m torch._inductor.compiler_bisector run {program}",
            )
        )
    return tuple(found)


def _with_option(change: OptionChange, backend: str, python: str, repro: Path, arguments: tuple[str, ...]) -> str:
    code = (
        f"import runpy, sys, {change.module} as config; config.{change.field} = {change.value}; "
        "sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')"
    )
    line = shell_line([python, "-c", code, str(repro), *arguments])
    return f"{backend} {line}; echo $?"
