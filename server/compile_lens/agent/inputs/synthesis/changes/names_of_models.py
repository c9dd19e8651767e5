"""Names of pretrained models in place of a made-up value by which a constructor looks one up: `AutoModel.from_pretrained(kind)`.

A model of a known architecture is made of its configuration where its files are not here, and so is a tokenizer. A name that says no
architecture finds nothing.
"""

from __future__ import annotations

import copy
import inspect
import itertools
import re
import traceback
from collections.abc import Iterator
from types import ModuleType

from ....runtime.foreign_code import attempted
from ....runtime.missing_requirement import find_missing_requirement
from ..errors.failing_lines import source_of
from ..terms.arguments import INSIDE, Expression, UnknownInteger
from ..terms.candidate import Candidate

PRETRAINED = "a pretrained model"
MOST_NAMES = 4
# `microsoft/deberta-v3-base`, `roberta-base`: what texts of a file look like that name a model
_WRITTEN = re.compile(r"['\"]((?:[\w.-]{2,40}/)?[a-zA-Z][\w.]{0,30}(?:-[\w.]{1,30}){1,6})['\"]")
_ARCHITECTURES = re.compile(
    r"bert|gpt|t5|bart|electra|xlnet|xlm|longformer|opt-|bloom|llama|mistral|qwen|gemma|phi-|vit-|deit|swin|beit|dinov|clip|wav2vec|hubert"
    r"|whisper|wavlm|resnet-|convnext|segformer|blip|esm",
    re.I,
)
# by the class that is asked; most others take the last
_USUAL = (
    (r"Seq2Seq|T5|ConditionalGeneration", "t5-small"),
    (r"CausalLM|GPT", "gpt2"),
    (r"Image|Vision|ViT|Depth|ObjectDetection", "google/vit-base-patch16-224"),
    (r"Audio|Wav2Vec|CTC|FeatureExtractor|Hubert", "facebook/wav2vec2-base"),
    (r"CLIP|ZeroShot", "openai/clip-vit-base-patch32"),
    (r"", "bert-base-uncased"),
)


def with_name_of_model(candidate: Candidate, error: BaseException, module: ModuleType) -> Iterator[Candidate]:
    """Candidates with a name that the file of ``module`` has, then a usual one, where a pretrained model is looked up by what a
    constructor got."""
    wanted = find_missing_requirement(error)
    if wanted is None or wanted.what != PRETRAINED:
        return
    asking = _asking_line(error)
    for path, argument in candidate.arguments.plain():
        # a number is no name, so that the error tells none
        is_named = not wanted.name and re.search(rf"\b{re.escape(path.rpartition(INSIDE)[2])}\b", asking) is not None
        if is_named or _is(argument, wanted.name, candidate):
            for name in _names(asking, module):
                if name != wanted.name:
                    changed = candidate.arguments.with_argument(path, Expression(repr(name)))
                    yield Candidate(changed, copy.deepcopy(candidate.unknowns))


def _is(argument: object, name: str, candidate: Candidate) -> bool:
    """Whether an argument is a number or a text, and its text is ``name``."""
    if isinstance(argument, UnknownInteger):
        return str(candidate.unknowns.by_name[argument.name].value) == name
    return isinstance(argument, Expression) and argument.text in (name, repr(name))


def _asking_line(error: BaseException) -> str:
    """The line of the program that asks for a pretrained model."""
    frames = traceback.extract_tb(error.__traceback__)
    for before, frame in itertools.pairwise(frames):
        if frame.name == "from_pretrained" or (frame.name == "called" and "from_pretrained" in (before.line or "")):
            return source_of(before)
    return ""


def _names(asking: str, module: ModuleType) -> list[str]:
    text = attempted(lambda: inspect.getsource(module)) or ""
    written = [name for name in _WRITTEN.findall(text) if _ARCHITECTURES.search(name)]
    usual = next(name for pattern, name in _USUAL if re.search(pattern, asking))
    return list(dict.fromkeys((*written[:MOST_NAMES], usual)))
