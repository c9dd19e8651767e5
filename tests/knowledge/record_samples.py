"""Records what each name of ``TORCH_LOGS`` prints: ``python tests/knowledge/record_samples.py OUTPUT.md [NAME...]``.

There are two small programs: the second, with side effects, compiled autograd and autotuning, is for names of which the first
prints nothing. ``tabulate`` must be there for the log ``graph``.

Not a test: run it once per torch version, with the caches of that run in a folder of its own, and keep what it wrote as
``server/compile_lens/knowledge/texts/log_samples.md``.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import torch
import torch._dynamo
import torch._logging
from torch._inductor.utils import fresh_cache
from torch._logging._internal import log_registry

# the time, process and place in front of each message, and this machine's folders
_PREFIX = re.compile(r"^[VIWE]\d{4} [\d:.]+ \d+ (\S+?)\] ", re.MULTILINE)
MOST_LINES = 9
WIDEST = 118


def step(x: torch.Tensor, scale: int) -> torch.Tensor:
    y = torch.relu(x) * scale
    print("half way")
    return (y @ y.t()).softmax(-1).sum()


def run_program() -> None:
    compiled = torch.compile(step)
    for size, scale in ((8, 2), (8, 3), (16, 3)):
        compiled(torch.ones(size, 8, requires_grad=True), scale).backward()


seen: list[int] = []


def rare(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    seen.append(x.size(0))
    return (x @ weight).cos().sum()


def run_rare_program() -> None:
    with torch._dynamo.config.patch(compiled_autograd=True):
        compiled = torch.compile(rare, mode="max-autotune")
        weight = torch.ones(64, 64, requires_grad=True)
        compiled(torch.ones(64, 64, requires_grad=True), weight).backward()


@contextlib.contextmanager
def captured() -> Iterator[io.StringIO]:
    """What logging prints, whose handlers take ``sys.stderr`` when they are made."""
    kept, sys.stderr = sys.stderr, io.StringIO()
    try:
        yield sys.stderr
    finally:
        sys.stderr = kept


def sample(name: str, run_program: Callable[[], None]) -> str:
    torch._dynamo.reset()
    with captured() as output, contextlib.redirect_stdout(io.StringIO()), fresh_cache():
        os.environ["TORCH_LOGS"] = name
        torch._logging._init_logs()
        try:
            run_program()
        finally:
            del os.environ["TORCH_LOGS"]
            torch._logging._init_logs()
    return shortened(output.getvalue())


def shortened(text: str) -> str:
    site = str(Path(torch.__file__).resolve().parents[1])
    text = (
        _PREFIX.sub("", text)
        .replace(str(Path(__file__).resolve()), "program.py")
        .replace(site + "/", "")
        .replace(site, "…")
    )
    text = re.sub(r"/tmp/[^\s'\":,]*?(?=/|\s|'|\"|:|,|$)(?:/[^\s'\":,]*)?", "/tmp/…", text)
    lines = [
        line.rstrip() for line in text.splitlines() if line.strip() and not re.match(r"\[?\S*\]? ?\[__\w+\] *$", line)
    ]
    cut = [line if len(line) <= WIDEST else line[: WIDEST - 1] + "…" for line in lines]
    return "\n".join(cut[:MOST_LINES] + (["…"] if len(cut) > MOST_LINES else []))


def main(output: str, chosen: list[str]) -> None:
    names = chosen or sorted({*log_registry.log_alias_to_log_qnames, *log_registry.artifact_names})
    parts = [
        f"<!-- recorded with torch {torch.__version__}; the time and place in front of each message are left out -->\n"
    ]
    for name in names:
        began = time.monotonic()
        text = sample(name, run_program) or sample(name, run_rare_program)
        print(f"{name}: {len(text)} characters, {time.monotonic() - began:.1f} s", flush=True)
        if text:
            parts.append(f"## {name}\n\n```text\n{text}\n```\n")
    Path(output).write_text("\n".join(parts))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
