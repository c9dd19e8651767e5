"""The operators of torchvision in Python, for an environment whose torch is for the CPU.

The wheels of torchvision on PyPI are built for CUDA: their compiled part cannot be loaded beside a torch for the CPU, where users have one
that can. This file is copied into the environment's torchvision. `nms` and `roi_align` work; the others can be traced, and not run.
"""

from __future__ import annotations

import inspect
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import torch

_ROIS = "Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width"
_GRADIENT = "Tensor grad, Tensor rois, {more}float spatial_scale, SymInt pooled_height, SymInt pooled_width, {last}"
_SIZES = "SymInt batch_size, SymInt channels, SymInt height, SymInt width"
_CONVOLUTION = (
    "Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, SymInt stride_h, SymInt stride_w, SymInt pad_h, "
    "SymInt pad_w, SymInt dilation_h, SymInt dilation_w, SymInt groups, SymInt offset_groups, bool use_mask"
)
_MAPPING = "Tensor channel_mapping, "
OPERATORS = (
    "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    f"roi_align({_ROIS}, int sampling_ratio, bool aligned) -> Tensor",
    f"_roi_align_backward({_GRADIENT.format(more='', last=_SIZES + ', int sampling_ratio, bool aligned')}) -> Tensor",
    f"roi_pool({_ROIS}) -> (Tensor, Tensor)",
    f"_roi_pool_backward({_GRADIENT.format(more='Tensor argmax, ', last=_SIZES)}) -> Tensor",
    f"ps_roi_align({_ROIS}, int sampling_ratio) -> (Tensor, Tensor)",
    f"_ps_roi_align_backward({_GRADIENT.format(more=_MAPPING, last='int sampling_ratio, ' + _SIZES)}) -> Tensor",
    f"ps_roi_pool({_ROIS}) -> (Tensor, Tensor)",
    f"_ps_roi_pool_backward({_GRADIENT.format(more=_MAPPING, last=_SIZES)}) -> Tensor",
    f"deform_conv2d({_CONVOLUTION}) -> Tensor",
    f"_deform_conv2d_backward(Tensor grad, {_CONVOLUTION}) -> (Tensor, Tensor, Tensor, Tensor, Tensor)",
    "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    f"qroi_align({_ROIS}, int sampling_ratio, bool aligned) -> Tensor",
    "box_iou_rotated(Tensor boxes1, Tensor boxes2) -> Tensor",
    "_cuda_version() -> int",
)
_kept: list[torch.library.Library] = []


def define() -> bool:
    """Define the operators, once. What torchvision itself asks is whether they are there."""
    if _kept:
        return True
    library = torch.library.Library("torchvision", "DEF")
    _kept.append(library)
    for schema in OPERATORS:
        library.define(schema)
    library.impl("nms", _nms, "CPU")
    library.impl("roi_align", _roi_align, "CPU")
    library.impl("_roi_align_backward", _roi_align_backward, "CPU")
    library.impl("_cuda_version", lambda: -1, "CompositeExplicitAutograd")
    return True


def _nms(boxes: torch.Tensor, scores: torch.Tensor, iou_threshold: float) -> torch.Tensor:
    order = scores.argsort(descending=True, stable=True)
    x1, y1, x2, y2 = boxes.unbind(1)
    areas = (x2 - x1) * (y2 - y1)
    found = []
    while order.numel():
        best, order = order[0], order[1:]
        found.append(best)
        width = (torch.minimum(x2[best], x2[order]) - torch.maximum(x1[best], x1[order])).clamp(min=0)
        height = (torch.minimum(y2[best], y2[order]) - torch.maximum(y1[best], y1[order])).clamp(min=0)
        both = width * height
        order = order[both <= iou_threshold * (areas[best] + areas[order] - both)]
    return torch.stack(found) if found else order


def _roi_align(
    inputs: torch.Tensor, rois: torch.Tensor, scale: float, height: int, width: int, ratio: int, aligned: bool
) -> torch.Tensor:
    from torchvision.ops.roi_align import _roi_align as in_python

    # without the torch.compile that it brings, which would be taken for one of the program's
    result: torch.Tensor = inspect.unwrap(in_python)(inputs, rois, scale, height, width, ratio, aligned)
    return result


def _roi_align_backward(
    grad: torch.Tensor, rois: torch.Tensor, scale: float, height: int, width: int, *others: Any
) -> torch.Tensor:
    *sizes, ratio, aligned = others

    def gradient() -> torch.Tensor:
        inputs = grad.new_zeros(sizes).requires_grad_()
        return torch.autograd.grad(_roi_align(inputs, rois, scale, height, width, ratio, aligned), inputs, grad)[0]

    # a kernel runs below autograd, which this one asks for the gradient: another thread starts above it
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(gradient).result()
