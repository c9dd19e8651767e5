"""What the pytest plugin costs: a published suite that compiles (einops'), without it, with torch's trace alone, and with it."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

from tests.own_environment import python_with

from benchmarks.table.figure import Absent, Figure

ROUNDS = 3
FILES = ("test_ops.py", "test_layers.py", "test_einsum.py")
PLUGIN = ("-p", "compile_lens.pytest_plugin.plugin", "-p", "no:compile-lens", "-p", "no:cacheprovider")


def measure() -> list[Figure]:
    """Processor time: the least of some rounds, one after the other."""
    try:
        python = python_with("einops")
    except subprocess.CalledProcessError:
        raise Absent("pip cannot install einops, whose suite is measured") from None
    tests = next(Path(python).parents[1].glob("lib/python*/site-packages/einops/tests"))
    least: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as trace:
        ways: dict[str, tuple[dict[str, str], tuple[str, ...]]] = {
            "without the plugin": ({}, ()),
            "with TORCH_TRACE alone": ({"TORCH_TRACE": trace}, ()),
            "with --compile-lens": ({}, ("--compile-lens",)),
        }
        for _ in range(ROUNDS):
            for name, (variables, options) in ways.items():
                least[name] = min(least.get(name, float("inf")), _cpu_seconds(python, tests, variables, options))
    base = least.pop("without the plugin")
    goals = {"with --compile-lens": 1.05}
    return [Figure(name, seconds, "s", base, "without the plugin", goals.get(name)) for name, seconds in least.items()]


def _cpu_seconds(python: str, tests: Path, variables: dict[str, str], options: tuple[str, ...]) -> float:
    before = os.times()
    subprocess.run(
        [python, "-m", "pytest", "-q", *PLUGIN, *options, *FILES],
        cwd=tests,
        env={**os.environ, "EINOPS_TEST_BACKENDS": "numpy,torch", **variables},
        check=True,
        capture_output=True,
    )
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system
