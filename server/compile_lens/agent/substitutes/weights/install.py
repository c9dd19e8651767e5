"""Changes libraries so that a program can run without its pretrained weights, each library at its import."""

from __future__ import annotations

from ...instrument.import_hook import change_at_import
from ...runtime.dynamo_skips import skip_modules
from ..notes import StandInNotes
from . import checkpoints, hub_files, lookups, timm_models, tokenizers, transformers_models


def install(notes: StandInNotes) -> None:
    """Substitute weights, configurations, tokenizers and checkpoints that are not on this machine; those that are get loaded as usual."""
    calls = lookups.Lookups(notes)
    kinds = (
        transformers_models.TransformersModels(calls),
        tokenizers.Tokenizers(calls),
        checkpoints.Checkpoints(calls),
        timm_models.TimmModels(calls),
    )
    change_at_import({name: change for kind in kinds for name, change in kind.changes().items()})
    skip_modules(transformers_models, tokenizers, checkpoints, timm_models, hub_files, lookups)
