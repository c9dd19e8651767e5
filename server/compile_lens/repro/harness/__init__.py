"""Writes the part of a repro that judges the result: the pieces that a criterion needs, in order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files

from compile_lens.repro.contract import Criterion

WITH_RECORDS = (Criterion.BREAKS, Criterion.RECOMPILES)
WITH_COMPARISON = (Criterion.DIFFERS, Criterion.ANY)
ALWAYS = ("contextlib", "os", "sys")


def imports(criterion: Criterion) -> set[str]:
    """Modules that the harness needs besides torch."""
    found = {*ALWAYS}
    if criterion in WITH_RECORDS:
        found |= {"json", "logging"}
    if criterion in (Criterion.RAISES, Criterion.RECOMPILES):
        found.add("re")
    return found


def harness(
    criterion: Criterion, constants: Mapping[str, str], backward: bool, modes: Iterable[str], changes: bool
) -> str:
    """The text below what is compiled. ``backward``: gradients are computed; ``changes``: there is a ``before_call``.

    ``modes`` are expressions of context managers around each call.
    """
    pieces = ["\n".join(f"{name} = {value}" for name, value in constants.items())] if constants else []
    pieces += [_piece("main"), _piece(criterion.value), _run(criterion, backward, tuple(modes), changes)]
    if backward and criterion not in WITH_RECORDS:
        pieces.append(_piece("parameters"))
    if criterion in WITH_COMPARISON:
        pieces.append(_piece("compare"))
    if criterion in WITH_RECORDS:
        pieces.append(_piece("records"))
    pieces += [_piece("eager"), _piece("cache"), 'if __name__ == "__main__":\n    sys.exit(main())']
    return "\n\n\n".join(piece.strip("\n") for piece in pieces) + "\n"


def test_helpers(criterion: Criterion, backward: bool, modes: tuple[str, ...], changes: bool) -> str:
    """The functions that a unit test calls: ``run`` and what it needs."""
    pieces = [_run(criterion, backward, modes, changes)]
    if backward and criterion not in WITH_RECORDS:
        pieces.append(_piece("parameters"))
    return "\n\n\n".join(piece.strip("\n") for piece in [*pieces, _piece("eager")])


def _run(criterion: Criterion, backward: bool, modes: tuple[str, ...], changes: bool) -> str:
    text = _piece("run")
    if changes:
        text = text.replace(
            "        torch.manual_seed(0)\n", "        before_call(number, target)\n        torch.manual_seed(0)\n"
        )
    call = next(line for line in text.splitlines() if "outputs = " in line)
    if modes:
        text = text.replace("with modes():", f"with {', '.join(modes)}:")
    else:
        text = text.replace("        with modes():\n", "").replace(call, call[4:])
    if backward and criterion not in WITH_RECORDS:
        text = text.replace("    return results\n", f"{_piece('backward')}    return results\n", 1)
    return text


@cache
def _piece(name: str) -> str:
    return files(__name__).joinpath(f"{name}.py.txt").read_text(encoding="utf-8")
