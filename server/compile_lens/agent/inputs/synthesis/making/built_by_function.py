"""A call of the model that a function of the file builds: `create_slowfast()(x=…)`."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any

from ....instrument.unrecorded import unrecorded
from ....torch_internals.attributes import original_function
from ...calling.time_limit import TrialTooLong
from ...importing.module import find
from ..project.factories import call_without_arguments, factory_parameters
from ..project.project_calls import calls_by_name
from ..trying.search import NotFound, SearchBudget, sentence_of
from .construction import MAX_TRIALS, Making, fitting
from .object_calls import CallsOfObject, FoundCall
from .size_of_model import made_by

# the share of the remaining time for one way to call the function
SHARE = 0.5
NO_MODEL = "it does not return a model"


def of_builder(module: ModuleType, path: str, budget: SearchBudget) -> FoundCall:
    """The call: built without arguments, else with those that the project passes. Raises NotFound, and AttributeError when there is no
    such name."""
    function = original_function(find(module, path))
    last = NotFound("no call of it is known")
    for text in _calls(module, path, function):
        part = SearchBudget(MAX_TRIALS, budget.left * SHARE)
        try:
            with unrecorded():
                making = fitting(vars(module), text)
                made = _model(module, making)
            return CallsOfObject(module, making, type(made), "forward", {}).find(part)
        except NotFound as problem:
            last = problem
        except TrialTooLong:  # of the search
            raise
        except (Exception, SystemExit) as error:  # code of the user's may raise anything
            last = NotFound(sentence_of(error))
        if not budget.left:
            break
    raise last


def _calls(module: ModuleType, path: str, function: Any) -> Iterator[str]:
    text = call_without_arguments(path, function)
    if text is not None:
        yield text
    for given in calls_by_name(module, path, factory_parameters(path, function)):
        yield f"{path}({', '.join(f'{name}={value}' for name, value in given.items())})"


def _model(module: ModuleType, making: Making) -> Any:
    """What the function returns, if it is a module that can be called. Raises NotFound, and what the program raises."""
    import torch

    with making.place():
        made = made_by(making.text, vars(module))
    if not isinstance(made, torch.nn.Module) or type(made).forward is torch.nn.Module.forward:
        raise NotFound(NO_MODEL)
    return made
