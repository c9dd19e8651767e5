"""Records on a machine with a GPU what bisections of planted bugs find there, ours and torch's own:

    python tests/repro/record_gpu_verdicts.py OUTPUT_FOLDER

It needs torch with Triton, a CUDA device, and ``server`` on ``PYTHONPATH`` with what Compile Lens depends on. Each bug is a repro that
plants it in Inductor's Triton code; the record (``bisect_gpu.json``) is read by ``tests/repro/test_gpu_verdicts.py``.
"""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from planted_bugs import BUGS, RELU, Bug

from compile_lens.repro.bisect import bisect
from compile_lens.workers.host import Host

STOCK = Path(__file__).with_name("stock_bisect.py")
STOCK_LIMIT_S = 240
EXCEPTION = re.compile(r"^\S*Error: .*", re.MULTILINE)


def triton_bug(kind: str, raises: bool) -> Bug:
    body = f"""
torch._inductor.config.triton.inject_relu_bug_TESTING_ONLY = "{kind}"


def fn(x):
    {RELU}
"""
    return Bug(f"relu in Triton: {kind}", body, ("inductor", "lowerings", "relu"), raises=raises, line=RELU)


GPU_BUGS = {
    "triton-relu-accuracy": triton_bug("accuracy", False),
    "triton-relu-compile-error": triton_bug("compile_error", True),
    "triton-relu-runtime-error": triton_bug("runtime_error", True),
    **{name: BUGS[name] for name in ("lowering", "decomposition", "post-grad-pass", "random")},
}


def on_gpu(text: str) -> str:
    """The repro with its input, and what it makes itself, on the GPU."""
    return text.replace("torch.rand(64, 64) + 0.5", 'torch.rand(64, 64, device="cuda") + 0.5').replace(
        "x + torch.rand(64, 64)", 'x + torch.rand(64, 64, device="cuda")'
    )


def stock(file: Path) -> dict[str, Any]:
    """torch's own ``do_bisect``, in a new process."""
    try:
        ended = subprocess.run(
            [sys.executable, str(STOCK), str(file)], capture_output=True, text=True, timeout=STOCK_LIMIT_S, check=False
        )
    except subprocess.TimeoutExpired:
        return {"error": f"not done within {STOCK_LIMIT_S} s"}
    last = ended.stdout.strip().rpartition("\n")[2]
    try:
        found: dict[str, Any] = json.loads(last)
    except ValueError:
        raised = EXCEPTION.findall(ended.stderr)
        return {"error": raised[-1] if raised else ended.stderr[-2000:]}
    return found


async def record(output: Path, limit_s: float, names: list[str]) -> None:
    import torch

    started = time.monotonic()
    found: dict[str, Any] = {
        "torch": torch.__version__,
        "python": sys.version.split()[0],
        "device": "",
        "bugs": {},
    }
    # asked in a process of its own: nothing here may touch the GPU
    name = subprocess.run(  # noqa: ASYNC221 - nothing else goes on yet
        [sys.executable, "-c", "import torch; print(torch.cuda.get_device_name())"],
        capture_output=True,
        text=True,
        check=True,
    )
    found["device"] = name.stdout.strip()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["COMPILE_LENS_CACHE_DIR"] = f"{folder}/cache"
        host = Host(sys.executable)
        try:
            for bug_name in names:
                bug = GPU_BUGS[bug_name]
                if time.monotonic() - started > limit_s:
                    print(f"{bug_name}: left out, the time is over", flush=True)
                    continue
                # a name that does not change between machines
                file = Path(folder) / f"{bug_name.replace('-', '_')}.py"
                file.write_text(on_gpu(bug.text()))
                ours = await bisect(host, file)
                theirs = stock(file)
                fields = json.loads(ours.to_json().replace(folder, "/repro"))
                found["bugs"][bug_name] = {"wanted": bug.verdict, "line": bug.line, "ours": fields, "stock": theirs}
                output.mkdir(parents=True, exist_ok=True)
                (output / "bisect_gpu.json").write_text(json.dumps(found, indent=1))
                print(
                    f"{bug_name}: {ours.sentence} {ours.seconds:.1f} s, {len(ours.steps)} runs, forked: {ours.forked}; "
                    f"torch's own: {theirs}",
                    flush=True,
                )
                if ours.verdict is None and ours.steps:
                    print(dataclasses.asdict(ours.steps[-1]), flush=True)
        finally:
            await host.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", type=Path)
    parser.add_argument("--limit", type=float, default=420.0, metavar="SECONDS", help="start no bug after this")
    parser.add_argument("--only", nargs="+", choices=GPU_BUGS, default=list(GPU_BUGS), metavar="BUG")
    chosen = parser.parse_args()
    asyncio.run(record(chosen.output, chosen.limit, chosen.only))
