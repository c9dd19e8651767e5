"""The inputs of losses, by what a loss does with them: two of one shape, or scores of classes and the numbers of classes."""

from __future__ import annotations

import copy
import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from ....runtime.foreign_code import attempted
from ..source.guesses import LABELS_BELOW
from ..terms.arguments import Arguments, Tensor
from ..terms.candidate import Candidate

TARGET_NAME = re.compile(
    r"(?:.*_)?(?:targets?|targ|tgt|labels?|lbl|lb|y|ys|y_?true|true|gts?|ground_?truths?|gt_\w+|masks_true|real|reference|ref|teacher\w*|targets?_\w+"
    r"|true_\w+|labels?_\w+)"
)
_MASK, _NUMBER = re.compile(r"(?:.*_)?masks?|valid(?:_\w+)?"), re.compile(r"(?:.*_)?(?:ind\w*|idx|ids|lengths?|lens?)")
_NAMED_LOSS = re.compile(
    r"loss|criteri|objective|dice|focal|tversky|ssim|psnr|divergence|(?:^|_)(?:bce|mse|mae|rmse|ce|iou|kl)(?:_|$)", re.I
)
_OF_CLASSES = re.compile(
    r"\b(?:cross_entropy|nll_loss|CrossEntropyLoss|NLLLoss\w*|one_hot|gather|scatter_?|multi_margin_loss|MultiMarginLoss)\b"
)
_OF_ONE_SHAPE = re.compile(
    r"\b(?:binary_cross_entropy\w*|BCE\w*Loss|mse_loss|MSELoss|(?:smooth_)?l1_loss|(?:Smooth)?L1Loss|huber_loss|HuberLoss|kl_div|KLDivLoss"
    r"|poisson_nll_loss|PoissonNLLLoss|gaussian_nll_loss|multilabel_\w+|MultiLabel\w+|view_as|expand_as)\b"
)
_OF_SIGNS = re.compile(
    r"\b(?:margin_ranking_loss|MarginRankingLoss|cosine_embedding_loss|CosineEmbeddingLoss|hinge_embedding_loss|HingeEmbeddingLoss"
    r"|(?<!multilabel_)soft_margin_loss|SoftMarginLoss)\b"
)
_OF_SEQUENCES = re.compile(r"\b(?:ctc_loss|CTCLoss)\b")
# compared with shares or flags
_OF_SHARES = re.compile(r"binary|bce|kl|dice|tversky|sigmoid|softmax", re.I)
_OF_FRACTIONS = re.compile(r"\bbinary_cross_entropy\(|\bBCELoss\b|\blog\(")
# first sizes: items of a batch, classes, sides of an image, steps of a sequence and those of its target
SIZES = {"items": 2, "classes": 4, "rows": 16, "columns": 16, "steps": 16, "labels": 4}
SHAPES = (("items", "classes"), ("items", "classes", "rows", "columns"), ("items", "steps", "classes"))


def loss_inputs(start: Candidate, function: Callable[..., Any], name: str, made: Any = None) -> Iterator[Candidate]:
    """``start`` with other tensors, if the function, or the class of ``made``, is a loss: the likeliest first. ``name`` is its name."""
    tensors = {name: each for name, each in start.arguments.named if isinstance(each, Tensor)}
    targets = [name for name in tensors if TARGET_NAME.fullmatch(name.lower())]
    if len(tensors) < 2:
        return
    if not targets or len(targets) == len(tensors):
        targets = list(tensors)[1:2]  # what is compared has no name of its own
    source = _source(function, made)
    if not _is_loss(name, source, made):
        return
    if _OF_SEQUENCES.search(source) is not None and len(tensors) == 4:
        yield _of_sequences(start, tensors)
        return
    kinds: dict[Callable[[Tensor], Tensor], re.Pattern[str]] = {
        _of_signs: _OF_SIGNS,
        _of_classes: _OF_CLASSES,
        _of_one_shape: _OF_ONE_SHAPE,
    }
    is_shown = {kind: pattern.search(source) is not None for kind, pattern in kinds.items()}
    of_fractions, of_shares = (pattern.search(source) is not None for pattern in (_OF_FRACTIONS, _OF_SHARES))
    for kind in sorted(kinds, key=lambda kind: not is_shown[kind]):
        if kind is not _of_signs or is_shown[kind]:
            for shape in _shapes(start, tensors, targets):
                below = 1 if of_fractions and kind is _of_one_shape else None
                scores = replace(shape, below=below)
                target = replace(scores, below=1) if kind is _of_one_shape and of_shares else kind(scores)
                yield _with(start, tensors, targets, scores, target)


def _is_loss(name: str, source: str, made: Any) -> bool:
    """Whether it is called like a loss, or computes one and has no layers of its own."""
    if _NAMED_LOSS.search(name) is not None:
        return True
    parts = list(made.children()) if hasattr(made, "children") else []
    shows = any(pattern.search(source) for pattern in (_OF_CLASSES, _OF_ONE_SHAPE, _OF_SIGNS, _OF_SEQUENCES))
    return shows and all(type(part).__module__ == "torch.nn.modules.loss" for part in parts)


def _source(function: Callable[..., Any], made: Any) -> str:
    """The source of a loss, and the names of the losses that are its parts."""
    text = attempted(lambda: inspect.getsource(inspect.unwrap(function if made is None else type(made)))) or ""
    parts = made.modules() if hasattr(made, "modules") else ()
    return " ".join([text, *(type(part).__name__ for part in parts)])


def _shapes(start: Candidate, tensors: dict[str, Tensor], targets: list[str]) -> Iterator[Tensor]:
    """What is compared with a target: as the source or its name has it, else rows, images, sequences of numbers."""
    scores = next(tensor for name, tensor in tensors.items() if name not in targets)
    if scores.has_known_rank or len(scores.dims) > 3:
        yield scores
    for dims in SHAPES:
        yield Tensor("float32", dims)


def _with(
    start: Candidate,
    tensors: dict[str, Tensor],
    targets: list[str],
    scores: Tensor,
    target: Tensor,
) -> Candidate:
    arguments = start.arguments
    for name, tensor in tensors.items():
        changed = scores
        if name in targets:
            changed = target
        elif _MASK.fullmatch(name):
            changed = Tensor("bool", target.dims)
        elif tensor.dtype == "int64" or _NUMBER.fullmatch(name):
            changed = Tensor("int64", scores.dims[:1], tensor.below)
        arguments = arguments.with_argument(name, changed)
    return _made(start, arguments)


def _of_one_shape(scores: Tensor) -> Tensor:
    return scores


def _of_classes(scores: Tensor) -> Tensor:
    """The number of a class for each item, each pixel or each step."""
    dims = scores.dims[:-1] if scores.dims[-1] == "classes" else (scores.dims[0], *scores.dims[2:])
    return Tensor("int64", dims or scores.dims[:1], LABELS_BELOW)


def _of_signs(scores: Tensor) -> Tensor:
    """1 for what is alike; -1 would be for what is not."""
    return Tensor("float32", scores.dims[:1], equal=1)


def _of_sequences(start: Candidate, tensors: dict[str, Tensor]) -> Candidate:
    """Scores of each step, the numbers of the letters that are said, and how long both are."""
    made = (
        Tensor("float32", ("steps", "items", "classes")),
        Tensor("int64", ("items", "labels"), SIZES["classes"]),
        Tensor("int64", ("items",), equal=SIZES["steps"]),
        Tensor("int64", ("items",), equal=SIZES["labels"]),
    )
    arguments = start.arguments
    for name, tensor in zip(tensors, made, strict=True):
        arguments = arguments.with_argument(name, tensor)
    return _made(start, arguments)


def _made(start: Candidate, arguments: Arguments) -> Candidate:
    unknowns = copy.deepcopy(start.unknowns)
    for name, size in SIZES.items():
        unknowns.get(name, size)
    return Candidate(arguments, unknowns)
