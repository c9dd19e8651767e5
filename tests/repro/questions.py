"""What a compile of a planted bug asks torch's bisector, recorded, and repros that ask the same without a compile.

``python tests/repro/questions.py`` records the questions anew, into ``tests/data/bisect-questions.json``: for each application of a pass,
a decomposition or a lowering the backend, the subsystem, and what it is about.
"""

from __future__ import annotations

import json
import os
import runpy
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from planted_bugs import BUGS

RECORDED = Path(__file__).parent.parent / "data" / "bisect-questions.json"
# one bug of each kind of verdict: each step of its search compiles
COMPILED = ("log1p-accuracy", "decomposition", "post-grad-pass", "fusion", "crash", "dynamo")
# the search for the others asks what their compile has asked; nightly it compiles, too
ASKED = [name for name in BUGS if name not in COMPILED]
Question = tuple[str, str, str]

REPRO = """\
# A repro for torch.compile: it compiles nothing, and asks torch's bisector what a compile asks
#
# criterion: any
import os
import sys

import torch._dynamo.config
from torch._inductor.compiler_bisector import BACKENDS, CompilerBisector

QUESTIONS = {questions!r}
BACKEND, SUBSYSTEM, CULPRIT = {culprit!r}


def is_bad():
    backend = os.environ.get("TORCH_COMPILE_BACKEND", "inductor")
    order = list(BACKENDS)
    if torch._dynamo.config.disable or order.index(backend) < order.index(BACKEND):
        return False
    if CULPRIT is None:
        is_set = CompilerBisector.get_config_change(BACKEND)
        return not (is_set and CompilerBisector.get_subsystem() == SUBSYSTEM)
    disabled = [
        CompilerBisector.disable_subsystem(backend, subsystem, lambda: about) for backend, subsystem, about in QUESTIONS
    ]
    return not disabled[CULPRIT]


sys.exit(is_bad())
"""


@cache
def recorded() -> dict[str, list[Question]]:
    """The questions of each bug, in order."""
    return {
        name: [tuple(question) for question in questions]
        for name, questions in json.loads(RECORDED.read_text()).items()
    }


def repro_of(name: str) -> str:
    """A repro whose runs are good and bad as those of the planted bug are."""
    backend, subsystem, info = BUGS[name].verdict
    questions = recorded()[name]
    culprit = next(
        (number for number, asked in enumerate(questions) if asked[1] == subsystem and info and info in asked[2]), None
    )
    assert (culprit is None) == (info is None), questions
    return REPRO.format(questions=questions, culprit=(backend, subsystem, culprit))


def record(name: str, folder: Path) -> list[Question]:
    """Compile a bug up to where a C++ compiler would be called: all is asked by then. In a fork, for the bug is planted in the process."""
    repro, answer = folder / "repro.py", folder / "answer.json"
    repro.write_text(BUGS[name].text())
    pid = os.fork()
    if pid:
        os.waitpid(pid, 0)
        return [tuple(question) for question in json.loads(answer.read_text())]
    from torch._inductor import config, cpp_builder, cpu_vec_isa
    from torch._inductor.compiler_bisector import CompilerBisector

    questions: list[Question] = []

    def ask(backend: str, subsystem: str, about: Callable[[], str] | None = None) -> bool:
        questions.append((backend, subsystem, about() if about else ""))
        answer.write_text(json.dumps(questions))
        return False

    def stop(*_: object, **__: object) -> None:
        raise RuntimeError("far enough")

    bisector: Any = CompilerBisector
    bisector.disable_subsystem = ask
    cpu_vec_isa.VecISA.check_build = lambda *_: True
    cpp_builder.run_compile_cmd = stop
    config.cpp_cache_precompile_headers, config.compile_threads = False, 1
    try:
        runpy.run_path(str(repro), run_name="__main__")
    finally:
        os._exit(0)


def main() -> None:

    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(
            TORCHINDUCTOR_FORCE_DISABLE_CACHES="1", TORCHINDUCTOR_CACHE_DIR=folder, TORCH_REPRO_KEEP_CACHE="1"
        )
        found = {name: record(name, Path(folder)) for name in ASKED}
    RECORDED.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
