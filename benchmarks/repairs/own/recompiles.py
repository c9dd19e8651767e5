"""Training and inference code whose calls differ: sizes, schedules, modes, states, options."""

import dataclasses
import functools

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


# program: decoder_cache
@torch.compile(backend="eager")
def attend(query, key, value, past):
    if past is not None:
        key = torch.cat([past[0], key], dim=1)
        value = torch.cat([past[1], value], dim=1)
    scores = (query @ key.transpose(1, 2)).softmax(-1)
    return scores @ value, (key, value)


past = None
for token in torch.randn(4, 1, 1, 8):
    out, past = attend(token, token, token, past)


# program: evaluation_batches
class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(8)
        self.out = nn.Linear(8, 4)

    def forward(self, features):
        return self.out(self.norm(features))


head = Head().eval()
fast_head = torch.compile(head, backend="eager")
data = torch.randn(11, 8)
predictions = [fast_head(batch).argmax(-1) for batch in data.split(4)]


# program: multi_scale
class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, padding=1)

    def forward(self, images):
        return F.adaptive_avg_pool2d(self.conv(images).relu(), 1).flatten(1)


detector = torch.compile(Detector(), backend="eager")
for side in (32, 48, 64):
    detector(torch.randn(2, 3, side, side))


# program: both_directions
@torch.compile(backend="eager")
def normalized(matrix):
    return matrix / matrix.norm(dim=-1, keepdim=True)


similarity = torch.randn(6, 6)
rows = normalized(similarity)
columns = normalized(similarity.t())


# program: memory_format
stem = torch.compile(nn.Conv2d(3, 8, 3), backend="eager")
pictures = torch.randn(2, 3, 16, 16)
stem(pictures)
stem(pictures.to(memory_format=torch.channels_last))


# program: numpy_batch
@torch.compile(backend="eager")
def standardized(batch):
    return (batch - batch.mean(0)) / (batch.std(0) + 1e-6)


standardized(torch.randn(6, 3))
standardized(torch.from_numpy(np.arange(18.0).reshape(6, 3)))


# program: with_attention
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(4, 12)

    def forward(self, x, need_weights=False):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        weights = (q @ k.transpose(-1, -2)).softmax(-1)
        out = weights @ v
        if need_weights:
            return out, weights
        return out


attention = torch.compile(Attention(), backend="eager")
sequence = torch.randn(2, 3, 4)
attention(sequence)
attention(sequence, need_weights=True)


# program: pooled_by_config
@torch.compile(backend="eager")
def pooled(hidden, mask, strategy):
    if strategy == "cls":
        return hidden[:, 0]
    if strategy == "mean":
        return (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
    return hidden.masked_fill(~mask.bool()[..., None], -1e9).amax(1)


hidden, mask = torch.randn(2, 5, 3), torch.ones(2, 5)
for strategy in ["cls", "mean", "max"]:
    pooled(hidden, mask, strategy)


# program: recall_at_k
@torch.compile(backend="eager")
def recall(scores, relevant, k):
    top = scores.topk(k, dim=-1).indices
    return relevant.gather(-1, top).float().sum(-1).mean()


scores, relevant = torch.randn(4, 20), torch.randint(2, (4, 20))
for k in (1, 5, 10):
    recall(scores, relevant, k)


# program: blocks_one_by_one
class Block(nn.Module):
    def __init__(self, index):
        super().__init__()
        self.index = index
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        return x + self.linear(x) / (self.index + 1)


blocks = [torch.compile(Block(index), backend="eager") for index in range(4)]
x = torch.randn(2, 4)
for block in blocks:
    x = block(x)


# program: ensemble
@torch.compile(backend="eager")
def predict(member, x):
    return member(x).softmax(-1)


members = [nn.Linear(4, 3), nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))]
average = sum(predict(member, torch.ones(2, 4)) for member in members) / len(members)


# program: settings_object
@dataclasses.dataclass
class Settings:
    smoothing: float = 0.0
    classes: int = 3


@torch.compile(backend="eager")
def smoothed(targets, settings):
    one_hot = F.one_hot(targets, settings.classes).float()
    return one_hot * (1 - settings.smoothing) + settings.smoothing / settings.classes


labels = torch.tensor([0, 2, 1])
for smoothing in (0.0, 0.1, 0.2):
    smoothed(labels, Settings(smoothing=smoothing))


# program: image_lists
@torch.compile(backend="eager")
def brightness(images):
    return torch.stack(images).mean((1, 2, 3))


for count in (2, 3, 4):
    brightness([torch.rand(3, 8, 8) for _ in range(count)])


# program: some_masks
@torch.compile(backend="eager")
def masked_mean(values, mask=None):
    if mask is None:
        mask = torch.ones_like(values)
    return (values * mask).sum() / mask.sum()


batches = [(torch.randn(5), None), (torch.randn(5), torch.tensor([1.0, 1.0, 0.0, 1.0, 0.0])), (torch.randn(5), None)]
means = [masked_mean(values, mask) for values, mask in batches]


# program: sampler
class Sampler(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("alphas", torch.linspace(0.9, 0.1, 10))
        self.net = nn.Linear(4, 4)

    def forward(self, x, timestep):
        alpha = self.alphas[timestep]
        return alpha.sqrt() * x + (1 - alpha) * self.net(x)


sampler = torch.compile(Sampler(), backend="eager")
sample = torch.randn(2, 4)
with torch.no_grad():
    for timestep in reversed(range(10)):
        sample = sampler(sample, timestep)


# program: sliding_windows
@torch.compile(backend="eager")
def window_energy(signal, start, width=4):
    return signal[start : start + width].square().sum()


signal = torch.randn(20)
energies = [window_energy(signal, start) for start in range(0, 12, 4)]


# program: matmul_precision
@torch.compile(backend="eager")
def projected(x, matrix):
    return x @ matrix


projected(torch.randn(3, 3), torch.eye(3))
torch.set_float32_matmul_precision("high")
projected(torch.randn(3, 3), torch.eye(3))


# program: lazy_positions
class Positions(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = None

    def forward(self, x):
        if self.table is None:
            self.table = torch.arange(32, dtype=torch.float32)[:, None] / 32
        return x + self.table[: x.shape[0]]


positions = torch.compile(Positions(), backend="eager")
for _ in range(3):
    positions(torch.zeros(6, 2))


# program: partials
def activation(x, slope):
    return torch.where(x > 0, x, slope * x)


@torch.compile(backend="eager")
def activated(x, function):
    return function(x).sum()


for slope in (0.01, 0.1, 0.2):
    activated(torch.randn(4), functools.partial(activation, slope=slope))
