"""What ends a search without a call is told as what it is: an error of ours is none of the file's, and a time limit is kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.entries.agent_package import agent_module, imported

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

SOURCE = """\
import torch


class Odd(Exception):
    def __str__(self):
        return self.sentence


class Net(torch.nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.layer = torch.nn.Linear(width, width)

    def forward(self, x):
        raise Odd


class Endless(torch.nn.Module):
    def __init__(self, width=4):
        super().__init__()
        raise LATE
"""


def _failing(*_: object) -> Any:
    return agent_module("inputs.synthesis.terms.candidate").Candidate(None, None).text


@pytest.fixture
def module(tmp_path: Path) -> Any:
    return imported(tmp_path / "failed_searches.py", SOURCE)


def _told(module: Any, name: str, find: Any, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The reasons of both kinds of searches."""
    trials, plans = agent_module("inputs.trials"), agent_module("runtime.entry_plans")
    if find is not None:
        monkeypatch.setattr(trials, "find_call", find)
    plan = plans.SynthesizedCalls((plans.CallTarget(name),), seconds=5.0)
    found: list[Any] = []
    trials.Trials(module, plan, str(module.__file__), SOURCE).run(found.append)
    find_call = agent_module("inputs.synthesis.target").find_call
    searched = agent_module("inputs.timed_search").searched
    of_script = searched(find or (lambda budget: find_call(module, name, budget)), name, 20.0)
    return {of_script.reason, *(each.reason for each in found if hasattr(each, "reason"))}


def test_an_error_of_ours_is_none_of_the_file(module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(AttributeError):
        _failing()
    assert _told(module, "Net", _failing, monkeypatch) == {agent_module("inputs.failed_search").OWN_FAILURE}


def test_what_a_module_lacks_is_told(module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    lacking = "the imported module has no such name (module 'failed_searches' has no attribute 'Lost')"
    assert _told(module, "Lost", None, monkeypatch) == {lacking}


def test_an_error_that_cannot_say_what_it_is_ends_no_search(module: Any) -> None:
    import torch

    changes = agent_module("inputs.synthesis.what_to_change")
    with pytest.raises(module.Odd) as caught:
        module.Net()(torch.ones(2, 4))
    file = str(module.__file__)
    found = changes.not_made(module, "Net", "it failed", "Net()(x=float32[2, 4])", caught.value, file)
    assert (found.reason, found.line) == ("it failed", 15)


def test_an_error_that_says_it_is_false_is_one() -> None:
    class Errors(Exception):
        def __len__(self) -> int:
            return 0

    search, errors = agent_module("inputs.synthesis.trying.search"), Errors()
    assert search.NotFound("", error=ValueError(), shown=errors).shown is errors
    furthest = search._Furthest(None, ValueError())
    assert furthest.not_found(of_object=errors).error is errors


def test_a_constructor_that_is_ended_ends_the_search(module: Any) -> None:
    construction, limits = (
        agent_module(f"inputs.{name}") for name in ("synthesis.making.construction", "calling.time_limit")
    )
    first = agent_module("inputs.synthesis.guessing.first_arguments").first_candidates
    module.LATE = limits.TrialTooLong("it did not return within 8 s")
    with pytest.raises(limits.TrialTooLong):
        list(construction.made_of(module, "Endless", module.Endless, first(module, module.Endless, {})))
