"""What stands around a model in a training script."""

from __future__ import annotations

import copy
import json
import logging
import os
import sys
import time
import warnings
from datetime import datetime

import torch
import torch.nn.functional as F
from torch import nn

log = logging.getLogger("train")
VERBOSE = False


class Meter:
    def __init__(self):
        self.total, self.count = 0.0, 0

    def update(self, value, n=1):
        self.total += value.item() * n
        self.count += n


class Monitored(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.calls = 0
        self.verbose = False

    def forward(self, x):
        self.calls += 1
        y = self.fc(x)
        if self.verbose:
            print("output", y.mean())
        if self.calls % 100 == 0:
            log.info("called %d times", self.calls)
        return y


class Debugged(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(2)])

    def forward(self, x):
        for i, layer in enumerate(self.layers):
            x = layer(x)
        print(f"out: {tuple(x.shape)}")
        return x


class Timed(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.seconds = 0.0

    def forward(self, x):
        start = time.perf_counter()
        y = self.fc(x)
        self.seconds = time.perf_counter() - start
        return y


class Ema(nn.Module):
    def __init__(self, decay=0.9):
        super().__init__()
        self.decay = decay
        self.register_buffer("shadow", torch.zeros(4))
        self.register_buffer("steps", torch.tensor(0))

    def forward(self, x):
        self.steps += 1
        decay = min(self.decay, (1 + self.steps) / (10 + self.steps))
        self.shadow.lerp_(x.detach().mean(0), 1 - decay)
        return self.shadow


class Calibrated(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("low", torch.tensor(0.0))
        self.register_buffer("high", torch.tensor(1.0))
        self.register_buffer("enabled", torch.tensor(True))

    def forward(self, x):
        if self.enabled:
            self.low = torch.minimum(self.low, x.min())
            self.high = torch.maximum(self.high, x.max())
        scale = float(self.high - self.low)
        return x / scale


class Loss(nn.Module):
    def __init__(self, weight=None, reduction="mean"):
        super().__init__()
        self.weight, self.reduction = weight, reduction

    def forward(self, logits, target):
        loss = F.cross_entropy(logits, target, weight=self.weight, reduction="none")
        hard = loss[loss > loss.mean()]
        if self.reduction == "mean":
            return hard.mean()
        if self.reduction == "sum":
            return hard.sum()
        return hard


def train_step(weight, x, y, step: int = 0):
    loss = F.mse_loss(x @ weight, y)
    if not torch.isfinite(loss):
        print(f"loss is {loss.item()}, stopping")
        sys.exit(1)
    if step % 10 == 0:
        log.info("step %d loss %.3f", step, loss.item())
    return loss


def evaluate(logits, target):
    correct = (logits.argmax(-1) == target).sum().item()
    accuracy = correct / target.numel()
    return {"accuracy": accuracy, "loss": float(F.cross_entropy(logits, target))}


def update(meter, loss):
    meter.update(loss)
    return loss * 2


def gradient_penalty(weight, x):
    x = x.detach().requires_grad_(True)
    out = (x @ weight).sum()
    (gradient,) = torch.autograd.grad(out, x, create_graph=True)
    return ((gradient.norm(dim=-1) - 1) ** 2).mean()


def manual_backward(weight, x):
    loss = (x @ weight).pow(2).mean()
    loss.backward()
    return loss.detach()


def clip(gradients: list[torch.Tensor], limit: float = 1.0):
    norm = torch.stack([g.norm() for g in gradients]).norm()
    if norm > limit:
        gradients = [g * (limit / norm) for g in gradients]
    return gradients


def snapshot(state):
    saved = copy.deepcopy(state * 1.0)
    return saved + 1


def record(x):
    entry = {"time": datetime.now().isoformat(), "shape": list(x.shape)}
    line = json.dumps(entry)
    return x * len(line)


def stamp(x):
    started = time.time()
    y = x.sin()
    log.debug("took %s", started)
    return y


def maybe_print(x):
    if VERBOSE:
        print("verbose", x)
    return x + 1


def checkpointed(x, folder: str = "/nowhere"):
    path = os.path.join(folder, "model.pt")
    if os.path.exists(path):
        return x
    return x * 2


def warn_if_large(x):
    if x.abs().max() > 100:
        warnings.warn("large values")
    return x / 2


def schedule(step: int, warmup: int = 10, base: float = 0.1):
    if step < warmup:
        return torch.tensor(base * step / warmup)
    return torch.tensor(base)


def seeded_noise(x, seed: int = 0):
    torch.manual_seed(seed)
    return x + torch.randn_like(x)


def balanced(labels, classes: int = 3):
    counts = torch.bincount(labels, minlength=classes)
    weights = 1.0 / counts.clamp(min=1)
    return weights / weights.sum()


def curriculum(losses, keep: float = 0.5):
    k = max(1, int(keep * losses.numel()))
    return losses.topk(k, largest=False).values.mean()


def guarded(x):
    if not torch.compiler.is_compiling():
        print("eager", x.sum().item())
    return x + 1


@torch.compiler.disable
def to_host(x):
    return x.cpu().numpy().sum()


def with_host(x):
    total = to_host(x * 2)
    return x + total


CASES = {
    "Monitored()": lambda: (torch.rand(2, 4),),
    "Debugged()": lambda: (torch.rand(2, 4),),
    "Timed()": lambda: (torch.rand(2, 4),),
    "Ema()": lambda: (torch.rand(2, 4),),
    "Calibrated()": lambda: (torch.rand(2, 4),),
    "Loss()": lambda: (torch.rand(3, 4), torch.tensor([0, 1, 2])),
    "train_step": lambda: (torch.rand(4, 1), torch.rand(2, 4), torch.rand(2, 1)),
    "evaluate": lambda: (torch.rand(3, 4), torch.tensor([0, 1, 2])),
    "update": lambda: (Meter(), torch.rand(())),
    "gradient_penalty": lambda: (torch.rand(4, 1), torch.rand(2, 4)),
    "manual_backward": lambda: (torch.rand(4, 1, requires_grad=True), torch.rand(2, 4)),
    "clip": lambda: ([torch.ones(3), torch.ones(2)],),
    "snapshot": lambda: (torch.rand(3),),
    "record": lambda: (torch.rand(3),),
    "stamp": lambda: (torch.rand(3),),
    "maybe_print": lambda: (torch.rand(3),),
    "checkpointed": lambda: (torch.rand(3),),
    "warn_if_large": lambda: (torch.rand(3) + 200,),
    "seeded_noise": lambda: (torch.rand(3),),
    "balanced": lambda: (torch.tensor([0, 1, 2, 2]),),
    "curriculum": lambda: (torch.rand(6),),
    "guarded": lambda: (torch.rand(3),),
    "with_host": lambda: (torch.rand(3),),
}

# ruff: noqa  (programs as their authors write them)
