"""The input that the first layer applied to a value expects: ``nn.Conv2d(3, …)`` four dimensions, the second of them 3."""

from __future__ import annotations

import inspect
import re
from dataclasses import replace
from fractions import Fraction
from typing import Any

from ....runtime.foreign_code import part_of
from .guesses import InputGuess
from .signatures import read_parameters

MAX_DEPTH = 6
# attributes that hold the size of images, and the largest that is tried
_IMAGE_SIZES = ("img_size", "image_size", "in_size", "input_size", "input_resolution")
MAX_IMAGE = 384


def expected_input(module: Any, depth: int = 0) -> InputGuess | None:
    """The input that a module expects, or None where that is unknown. Numbers among the dimensions are certain."""
    from torch import nn

    if depth > MAX_DEPTH:
        return None
    if isinstance(module, (nn.Sequential, nn.ModuleList)):
        # some layers, such as activations, accept any input: the next one decides
        is_flat, rearranged = False, Fraction(1)
        pooled: InputGuess | None = None
        for child in list(module)[:4]:
            rearranged *= _channels_for_each(child, nn)
            is_flat = is_flat or isinstance(child, nn.Flatten)
            if is_flat and isinstance(child, nn.Linear):
                return InputGuess("float32", ("B", str(child.in_features)))
            found = _with_channels(expected_input(child, depth + 1), rearranged)
            if isinstance(child, _keeping_channels(nn)):
                pooled = found
                continue
            found = found or pooled
            if found is not None or not type(child).__module__.startswith("torch.nn."):
                return found
        return pooled
    for kinds, make in _layer_table(nn):
        if isinstance(module, kinds):
            found = make(module)
            return found if isinstance(found, InputGuess) else None
    return _of_pattern(module) or _of_own_class(module, depth)


def _keeping_channels(nn: Any) -> tuple[type, ...]:
    """Layers after which there are as many channels as before: the next one tells how many."""
    return (nn.MaxPool2d, nn.AvgPool2d, nn.AdaptiveAvgPool2d, nn.AdaptiveMaxPool2d, nn.Upsample)


def _channels_for_each(layer: Any, nn: Any) -> Fraction:
    """How many channels a layer that moves pixels to channels, or back, gets for each that it returns."""
    if isinstance(layer, nn.PixelUnshuffle):
        return Fraction(1, int(layer.downscale_factor) ** 2)
    return Fraction(int(layer.upscale_factor) ** 2) if isinstance(layer, nn.PixelShuffle) else Fraction(1)


def _with_channels(guess: InputGuess | None, times: Fraction) -> InputGuess | None:
    """``guess`` with ``times`` as many channels, where that many are whole."""
    if guess is None or times == 1 or len(guess.dims) < 3 or not guess.dims[1].isdecimal():
        return guess
    count = int(guess.dims[1]) * times
    return replace(guess, dims=(guess.dims[0], str(count), *guess.dims[2:])) if count.denominator == 1 else guess


def _of_pattern(module: Any) -> InputGuess | None:
    """An einops layer has a pattern of its input: ``b c (h p1) (w p2) -> b (h w) (p1 p2 c)``."""
    pattern = getattr(module, "pattern", None)
    if not isinstance(pattern, str) or "->" not in pattern or "..." in pattern:
        return None
    words = re.findall(r"\([^)]*\)|\S+", pattern.partition("->")[0])
    return InputGuess("float32", tuple(re.sub(r"\W", "", word) or "1" for word in words))


def _layer_table(nn: Any) -> Any:
    def floats(*dims: object) -> InputGuess:
        return InputGuess("float32", tuple(str(dim) for dim in dims))

    return (
        ((nn.Conv1d, nn.ConvTranspose1d), lambda m: floats("B", m.in_channels, "L")),
        ((nn.Conv2d, nn.ConvTranspose2d), lambda m: floats("B", m.in_channels, "H", "W")),
        ((nn.Conv3d, nn.ConvTranspose3d), lambda m: floats("B", m.in_channels, "F", "H", "W")),
        ((nn.BatchNorm1d,), lambda m: floats("B", m.num_features)),
        ((nn.BatchNorm2d, nn.InstanceNorm2d), lambda m: floats("B", m.num_features, "H", "W")),
        ((nn.BatchNorm3d,), lambda m: floats("B", m.num_features, "F", "H", "W")),
        ((nn.GroupNorm,), lambda m: floats("B", m.num_channels, "H", "W")),
        ((nn.Linear,), lambda m: floats("B", "T", m.in_features)),
        ((nn.Embedding, nn.EmbeddingBag), lambda m: InputGuess("int64", ("B", "T"), m.num_embeddings)),
        ((nn.LayerNorm,), lambda m: floats("B", "T", *m.normalized_shape)),
        ((nn.RNNBase,), lambda m: floats(*(("B", "T") if m.batch_first else ("T", "B")), m.input_size)),
        ((nn.RNNCellBase,), lambda m: floats("B", m.input_size)),
        ((nn.MultiheadAttention,), lambda m: floats("B", "T", m.embed_dim)),
        ((nn.TransformerEncoderLayer,), lambda m: floats("B", "T", m.linear1.in_features)),
        ((nn.MaxPool2d, nn.AvgPool2d, nn.AdaptiveAvgPool2d, nn.Upsample), lambda m: floats("B", "C", "H", "W")),
    )


def _of_own_class(module: Any, depth: int) -> InputGuess | None:
    forward = getattr(type(module), "forward", None)
    if forward is None or type(module).__module__.startswith("torch.nn.modules.activation"):
        return None
    infos = read_parameters(forward, skip_first=True)
    if not infos:
        return None
    first = infos[0]
    below = expected_by_layers(module, first.layers, depth + 1)
    if first.dims is not None and all(first.dims):
        if below is not None and len(below.dims) == len(first.dims):
            merged = tuple(b if b.isdecimal() else own for own, b in zip(first.dims, below.dims, strict=True))
            return InputGuess(below.dtype, merged, below.below)
        return InputGuess(first.dtype or "float32", first.dims)
    return below


def expected_by_layers(module: Any, layers: tuple[str, ...], depth: int = 0) -> InputGuess | None:
    """The input that the first of ``layers`` (dotted attributes of ``module``) with a known one expects."""
    for path in layers:
        found = part_of(module, path)
        if inspect.ismethod(found) and found.__self__ is module and depth < MAX_DEPTH:
            # `self.features(x)`: the first layer there
            inside = read_parameters(found.__func__, skip_first=True)[:1]
            expected = expected_by_layers(module, inside[0].layers, depth + 1) if inside else None
        else:
            expected = expected_input(found, depth) if found is not None and hasattr(found, "parameters") else None
        if expected is not None:
            return expected
    return None


def image_size(module: Any, most: int = MAX_IMAGE) -> dict[str, int]:
    """The height and width that ``module``, or a part of it, says that it is made for: ``img_size``, or timm's ``default_cfg``.

    At most ``most``: many take smaller images, too.
    """
    for part in (module, *module.children()) if hasattr(module, "children") else ():
        known = getattr(part, "default_cfg", None)
        candidates = [getattr(part, name, None) for name in _IMAGE_SIZES]
        candidates.append(known["input_size"][1:] if isinstance(known, dict) and "input_size" in known else None)
        for value in candidates:
            sizes = (value, value) if type(value) is int else value
            if isinstance(sizes, (tuple, list)) and len(sizes) == 2 and all(type(each) is int for each in sizes):
                return {"H": min(sizes[0], most), "W": min(sizes[1], most)}
    return {}
