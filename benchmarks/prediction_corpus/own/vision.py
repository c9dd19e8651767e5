"""Blocks and helpers as image models have them."""

from __future__ import annotations

import math
import random
import warnings

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn


class DropPath(nn.Module):
    def __init__(self, drop_prob: float = 0.1, scale_by_keep: bool = True):
        super().__init__()
        self.drop_prob = drop_prob
        self.scale_by_keep = scale_by_keep

    def forward(self, x):
        if self.drop_prob == 0.0 or not self.training:
            return x
        keep = 1 - self.drop_prob
        shape = (x.shape[0],) + (1,) * (x.ndim - 1)
        mask = x.new_empty(shape).bernoulli_(keep)
        if keep > 0.0 and self.scale_by_keep:
            mask.div_(keep)
        return x * mask


class WindowAttention(nn.Module):
    def __init__(self, dim=16, window=2, heads=2):
        super().__init__()
        self.window, self.heads = window, heads
        self.scale = (dim // heads) ** -0.5
        self.qkv = nn.Linear(dim, dim * 3)
        self.proj = nn.Linear(dim, dim)
        self.drop_path = DropPath(0.1)

    def forward(self, x, mask=None):
        b, h, w, c = x.shape
        assert h % self.window == 0 and w % self.window == 0, f"{h}x{w} is no multiple of {self.window}"
        x = x.view(b, h // self.window, self.window, w // self.window, self.window, c)
        x = x.permute(0, 1, 3, 2, 4, 5).reshape(-1, self.window * self.window, c)
        n, t, _ = x.shape
        q, k, v = self.qkv(x).reshape(n, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        attn = (q * self.scale) @ k.transpose(-2, -1)
        if mask is not None:
            attn = attn.masked_fill(mask == 0, float("-inf"))
        x = (attn.softmax(-1) @ v).transpose(1, 2).reshape(n, t, c)
        return self.drop_path(self.proj(x))


class StochasticBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)
        self.survival = 0.9

    def forward(self, x):
        if self.training and torch.rand(1).item() > self.survival:
            return x
        return x + self.fc(x)


class SkipByNorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)
        self.threshold = nn.Parameter(torch.tensor(0.5))

    def forward(self, x):
        y = self.fc(x)
        if y.norm() < self.threshold:
            return x
        return x + y


class PatchDropout(nn.Module):
    def __init__(self, prob=0.5):
        super().__init__()
        self.prob = prob

    def forward(self, x: Tensor) -> Tensor:
        keep = max(1, int(x.shape[1] * (1 - self.prob)))
        index = torch.argsort(torch.randn(x.shape[:2], device=x.device), dim=-1)[:, :keep]
        return x.gather(1, index.unsqueeze(-1).expand(-1, -1, x.shape[-1]))


class MaskedPatches(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(4, 8)

    def forward(self, patches, mask):
        mask = mask.bool()
        x = self.embed(patches)
        visible = x[~mask].reshape(x.shape[0], -1, x.shape[-1])
        return visible.mean(1)


class Rotary(nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        self.register_buffer("inv_freq", 1.0 / (10000 ** (torch.arange(0, dim, 2).float() / dim)))
        self._cached = 0
        self._cos = None

    def forward(self, x):
        n = x.shape[1]
        if n > self._cached or self._cos is None:
            self._cached = n
            self._cos = torch.outer(torch.arange(n).float(), self.inv_freq).cos()
        return x * self._cos[:n].repeat(1, 2)


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(8, 5)

    def decode(self, out):
        boxes, scores = out[..., :4], out[..., 4].sigmoid()
        keep = scores > 0.5
        return boxes[keep], scores[keep]

    def forward(self, x):
        boxes, scores = self.decode(self.head(x))
        if boxes.numel() == 0:
            return x.new_zeros((0, 4))
        return boxes * scores.unsqueeze(-1)


def nms(boxes, scores, threshold: float = 0.5):
    order = scores.argsort(descending=True)
    kept = []
    while order.numel() > 0:
        best = order[0]
        kept.append(best.item())
        if order.numel() == 1:
            break
        top = torch.maximum(boxes[best, :2], boxes[order[1:], :2])
        low = torch.minimum(boxes[best, 2:], boxes[order[1:], 2:])
        inter = (low - top).clamp(min=0).prod(-1)
        area = (boxes[:, 2:] - boxes[:, :2]).prod(-1)
        iou = inter / (area[best] + area[order[1:]] - inter)
        order = order[1:][iou <= threshold]
    return kept


def mixup(x: Tensor, y: Tensor, alpha: float = 0.2):
    lam = float(np.random.beta(alpha, alpha)) if alpha > 0 else 1.0
    index = torch.randperm(x.shape[0])
    return lam * x + (1 - lam) * x[index], y[index]


def random_flip(x: Tensor, p: float = 0.5):
    if random.random() < p:
        x = x.flip(-1)
    return x * 2


def random_crop(x: Tensor, size: int = 2):
    top = random.randint(0, x.shape[-2] - size)
    left = torch.randint(0, x.shape[-1] - size + 1, (1,)).item()
    return x[..., top : top + size, left : left + size]


def normalize(x: Tensor, mean: Tensor, std: Tensor):
    if (std == 0).any():
        raise ValueError(f"std is zero after conversion to {std.dtype}")
    return (x - mean) / std


def resize_to_multiple(x: Tensor, multiple: int = 4):
    h, w = x.shape[-2:]
    new_h, new_w = math.ceil(h / multiple) * multiple, math.ceil(w / multiple) * multiple
    if (h, w) != (new_h, new_w):
        warnings.warn("resizing the input")
        x = F.interpolate(x, (new_h, new_w))
    return x


def mean_iou(pred: Tensor, target: Tensor, classes: int = 3):
    scores = []
    for c in range(classes):
        inter = ((pred == c) & (target == c)).sum()
        union = ((pred == c) | (target == c)).sum()
        if union == 0:
            continue
        scores.append((inter / union).item())
    return sum(scores) / max(len(scores), 1)


def pad_to_longest(images: list[Tensor]):
    height = max(image.shape[-2] for image in images)
    width = max(image.shape[-1] for image in images)
    return torch.stack([F.pad(i, (0, width - i.shape[-1], 0, height - i.shape[-2])) for i in images])


_image = torch.rand(2, 3, 6, 6)
CASES = {
    "DropPath()": lambda: (torch.rand(2, 8),),
    "WindowAttention()": lambda: (torch.rand(1, 4, 4, 16),),
    "StochasticBlock()": lambda: (torch.rand(2, 8),),
    "SkipByNorm()": lambda: (torch.rand(2, 8),),
    "PatchDropout()": lambda: (torch.rand(2, 4, 8),),
    "MaskedPatches()": lambda: (torch.rand(2, 4, 4), torch.tensor([[0, 1, 0, 1], [1, 0, 1, 0]])),
    "Rotary()": lambda: (torch.rand(2, 4, 8),),
    "Detector()": lambda: (torch.rand(6, 8),),
    "nms": lambda: (torch.tensor([[0.0, 0, 1, 1], [0, 0, 0.9, 1], [2, 2, 3, 3]]), torch.tensor([0.9, 0.8, 0.7])),
    "mixup": lambda: (_image, torch.arange(2)),
    "random_flip": lambda: (_image,),
    "random_crop": lambda: (_image,),
    "normalize": lambda: (torch.rand(4), torch.rand(4), torch.ones(4)),
    "resize_to_multiple": lambda: (_image,),
    "mean_iou": lambda: (torch.tensor([0, 1, 2]), torch.tensor([0, 1, 1])),
    "pad_to_longest": lambda: ([torch.rand(3, 2, 4), torch.rand(3, 4, 2)],),
}

# ruff: noqa  (programs as their authors write them)
