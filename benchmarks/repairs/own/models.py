"""Modules in the style of Transformers, timm and diffusers."""

import copy
import math
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


# program: clamp_half
class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, hidden_states):
        hidden_states = self.fc(hidden_states)
        if torch.isinf(hidden_states).any() or torch.isnan(hidden_states).any():
            clamp_value = torch.finfo(hidden_states.dtype).max - 1000
            hidden_states = torch.clamp(hidden_states, min=-clamp_value, max=clamp_value)
        return hidden_states


torch.compile(Layer(), backend="eager")(torch.ones(2, 4))


# program: mask_if_padded
class Attention(nn.Module):
    def forward(self, scores, attention_mask=None):
        if attention_mask is not None and (attention_mask == 0.0).any():
            scores = scores.masked_fill(attention_mask == 0.0, -1e4)
        return scores.softmax(-1)


torch.compile(Attention(), backend="eager")(torch.ones(2, 4), torch.tensor([[1.0, 1.0, 0.0, 1.0]]))


# program: drop_path_rates
class Stages(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(3))

    def forward(self, x):
        rates = [r.item() for r in torch.linspace(0, 0.1, 3)]
        for rate, scale in zip(rates, self.scale):
            x = x * scale * (1 - rate)
        return x


torch.compile(Stages(), backend="eager")(torch.ones(4))


# program: layer_drop
class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(2))

    def forward(self, x):
        for layer in self.layers:
            keep = torch.rand(())
            if keep > 0.1:
                x = layer(x)
        return x


torch.compile(Encoder().train(), backend="eager")(torch.ones(2, 4))


# program: longest_in_batch
class Packed(nn.Module):
    def forward(self, x, lengths):
        longest = int(lengths.max())
        return x[:, :longest].sum(1)


torch.compile(Packed(), backend="eager")(torch.ones(2, 6), torch.tensor([3, 5]))


# program: expert_loop
class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.experts = nn.ModuleList(nn.Linear(4, 4) for _ in range(3))
        self.gate = nn.Linear(4, 3)

    def forward(self, x):
        chosen = self.gate(x).argmax(-1)
        out = torch.zeros_like(x)
        for number, expert in enumerate(self.experts):
            rows = torch.where(chosen == number)[0]
            out[rows] = expert(x[rows])
        return out


torch.compile(Experts(), backend="eager")(torch.randn(5, 4))


# program: keep_positive
class Filter(nn.Module):
    def forward(self, scores, boxes):
        keep = scores > 0.5
        return boxes[keep] * 2


torch.compile(Filter(), backend="eager")(torch.tensor([0.1, 0.9]), torch.ones(2, 4))


# program: image_tokens
class Merge(nn.Module):
    def forward(self, embeddings, image, ids):
        mask = ids == 7
        if mask.any():
            embeddings = torch.where(mask.unsqueeze(-1), image, embeddings)
        return embeddings


torch.compile(Merge(), backend="eager")(torch.zeros(3, 2), torch.ones(3, 2), torch.tensor([1, 7, 2]))


# program: grid_size
class Patches(nn.Module):
    def forward(self, x):
        side = int(math.sqrt(x.shape[1]))
        return x.view(x.shape[0], side, side, -1)


patches = torch.compile(Patches(), backend="eager")
for n in (4, 9, 16):
    patches(torch.ones(1, n, 2))


# program: grid_from_tensor
class Vision(nn.Module):
    def forward(self, x, grid):
        h, w = grid[0].tolist()
        return x[: h * w].view(h, w, -1).sum(0)


torch.compile(Vision(), backend="eager")(torch.ones(8, 2), torch.tensor([[2, 3]]))


# program: position_cache
class Rotary(nn.Module):
    def __init__(self):
        super().__init__()
        self.cached_length = 0

    def forward(self, x):
        if x.shape[0] > self.cached_length:
            self.cached_length = x.shape[0]
            self.cached = torch.arange(self.cached_length, dtype=x.dtype)
        return x * self.cached[: x.shape[0]]


rotary = torch.compile(Rotary(), backend="eager")
for n in (3, 4, 5):
    rotary(torch.ones(n))


# program: growing_cache
class Cache:
    def __init__(self):
        self.keys = torch.zeros(0, 4)


@torch.compile(backend="eager")
def growing_cache(cache, key):
    cache.keys = torch.cat([cache.keys, key])
    return cache.keys.sum(0)


cache = Cache()
for _ in range(4):
    growing_cache(cache, torch.ones(1, 4))


# program: decode_position
@torch.compile(backend="eager")
def decode_position(x, position):
    return x + position * 0.5


for position in range(4):
    decode_position(torch.ones(3), position)


# program: deepcopied_config
@dataclass
class Config:
    width: int = 4


CONFIG = Config()


@torch.compile(backend="eager")
def deepcopied_config(x):
    config = copy.deepcopy(CONFIG)
    return x * config.width


deepcopied_config(torch.ones(3))


# program: numpy_positions
@torch.compile(backend="eager")
def numpy_positions(x):
    angles = np.random.default_rng(0).standard_normal(3)
    return x * torch.from_numpy(angles).float()


numpy_positions(torch.ones(3))


# program: progress_context
@contextmanager
def progress(name):
    print("begin", name)
    yield
    print("end", name)


@torch.compile(backend="eager")
def progress_context(x):
    with progress("layer"):
        x = x * 2
    return x


progress_context(torch.ones(3))


# program: helper_with_numbers
def quantile_of(x):
    return np.percentile(x.detach().numpy(), 90)


@torch.compile(backend="eager")
def helper_with_numbers(x):
    return x / float(quantile_of(x))


helper_with_numbers(torch.arange(1.0, 5.0))


# program: activation_by_name
ACTIVATIONS = {"relu": torch.relu, "tanh": torch.tanh}


@torch.compile(backend="eager")
def activation_by_name(x, name):
    return ACTIVATIONS[name](x)


for name in ("relu", "tanh"):
    activation_by_name(torch.ones(3), name)


# program: attention_bias_or_none
@torch.compile(backend="eager")
def attention_bias_or_none(x, bias):
    return x if bias is None else x + bias


attention_bias_or_none(torch.ones(3), None)
attention_bias_or_none(torch.ones(3), torch.ones(3))


# program: converged
@torch.compile(backend="eager")
def converged(x):
    while (x - x.mean()).abs().max() > 0.1:
        x = (x + x.mean()) / 2
    return x


converged(torch.tensor([0.0, 1.0, 2.0]))


# program: nucleus
@torch.compile(backend="eager")
def nucleus(probabilities):
    ordered, _ = probabilities.sort(descending=True)
    count = (ordered.cumsum(0) < 0.9).sum().item() + 1
    return ordered[:count].sum()


nucleus(torch.tensor([0.5, 0.3, 0.15, 0.05]))


# program: scatter_mean
@torch.compile(backend="eager")
def scatter_mean(x, index):
    groups = index.max().item() + 1
    return torch.zeros(groups).index_add(0, index, x)


scatter_mean(torch.ones(4), torch.tensor([0, 1, 1, 2]))


# program: iou_check
@torch.compile(backend="eager")
def iou_check(boxes):
    if not (boxes[:, 2:] >= boxes[:, :2]).all():
        raise ValueError(f"boxes must be in xyxy format: {boxes}")
    return boxes[:, 2:] - boxes[:, :2]


iou_check(torch.tensor([[0.0, 0.0, 1.0, 1.0]]))


# program: eager_hook
@torch.compiler.disable
def record(x):
    return x + 0


@torch.compile(backend="eager")
def eager_hook(x):
    return record(x * 2) + 1


eager_hook(torch.ones(3))
