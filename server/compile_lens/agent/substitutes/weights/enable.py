"""Decides for one run whether something stands in for weights that are not there."""

from __future__ import annotations

from ...instrument.import_hook import change_at_import
from ..dynamo_skips import hide
from ..notes import Told
from . import checkpoints, hub_files, timm_models, tokenizers, transformers_models
from . import lookups as calls_told


def prepare(own_folder: str, library_roots: list[str]) -> None:
    """Let libraries go on without weights. What is there is read as ever."""
    calls = calls_told.Calls(Told(own_folder, library_roots))
    kinds = (
        transformers_models.Models(calls),
        tokenizers.Tokenizers(calls),
        checkpoints.Checkpoints(calls),
        timm_models.TimmModels(calls),
    )
    change_at_import({name: change for kind in kinds for name, change in kind.changes().items()})
    hide(transformers_models, tokenizers, checkpoints, timm_models, hub_files, calls_told)
