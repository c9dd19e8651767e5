"""The pytest plugin in a test run of its own: one run for what must pass and fail, and one without a trace."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SUITE = """\
import os
import unittest

import pytest
import torch


def compiled(function):
    return torch.compile(function, backend="eager")


def says(x):
    print("seen")
    return x + 1


@pytest.mark.compile_lens(max_breaks=0)
def test_one_break_too_many():
    compiled(says)(torch.ones(3))


@pytest.mark.compile_lens(max_breaks=0, max_recompiles=0, max_graphs=1)
def test_within_its_budget(caplog):
    caplog.set_level(0)
    compiled(lambda x: x + 1)(torch.ones(3))
    assert not [record for record in caplog.records if record.name == "torch.__trace"]


def test_counts(compile_lens):
    twice = compiled(lambda x: x * 2)
    twice(torch.ones(3))
    assert (compile_lens.graphs, compile_lens.recompiles) == (1, 0)
    twice(torch.ones(4))
    assert (compile_lens.graphs, compile_lens.recompiles, compile_lens.breaks) == (2, 1, 0)


@pytest.mark.compile_lens(max_breaks=0)
def test_an_error_of_its_own_is_what_fails_it():
    compiled(says)(torch.ones(3))
    raise KeyError("mine")


class Budgeted(unittest.TestCase):
    compile_lens_budget = {"max_graphs": 0}

    def test_of_a_class(self):
        compiled(lambda x: x - 1)(torch.ones(3))


@pytest.mark.compile_lens(max_brakes=0)
def test_misspelled():
    pass
"""


def run(folder: Path, *options: str) -> str:
    (folder / "test_model.py").write_text(SUITE)
    # the plugin by name: an environment that was made before it was declared does not load it
    plugin = ["-p", "compile_lens.pytest_plugin.plugin", "-p", "no:compile-lens", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--tb=short", *plugin, *options, "test_model.py"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert "INTERNALERROR" not in done.stdout, done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> str:
    return run(tmp_path_factory.mktemp("suite"), "--compile-lens")


def test_a_test_fails_by_its_budget_and_says_by_what(watched: str) -> None:
    assert "4 failed, 2 passed" in watched
    assert "1 graph break; at most 0 allowed:\n  test_model.py:13: GB0059: Graph break: `print`" in watched
    assert "1 graph; at most 0 allowed." in watched
    assert "compile_lens has no limit 'max_brakes'. It has max_breaks," in watched
    assert "KeyError: 'mine'" in watched
    assert "torch.__trace" not in watched


def test_the_run_ends_with_what_the_suite_compiled(watched: str) -> None:
    report = watched.partition(" torch.compile ")[2]
    assert "test_model.py:13: GB0059: Graph break: `print` cannot be traced with these arguments." in report
    assert "graphs, " in report and " s of compile time" in report


def test_a_budget_without_a_trace_fails_rather_than_pass(tmp_path: Path) -> None:
    said = run(tmp_path)
    assert "pass --compile-lens, or set `compile_lens = true`." in said
    assert " torch.compile " not in said
