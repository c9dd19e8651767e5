"""Training scripts as people write them: logging, metrics, schedules, checks."""

import logging
import math
import os
import random
import time
import warnings

import torch
import torch.nn as nn
import torch.nn.functional as F

logger = logging.getLogger("train")
torch.manual_seed(0)


# program: loss_is_nan
@torch.compile(backend="eager")
def loss_is_nan(logits, target):
    loss = F.cross_entropy(logits, target)
    if torch.isnan(loss):
        loss = torch.zeros_like(loss)
    return loss


loss_is_nan(torch.randn(4, 3), torch.tensor([0, 1, 2, 0]))


# program: clip_by_norm
@torch.compile(backend="eager")
def clip_by_norm(g, limit=1.0):
    norm = g.norm()
    if norm > limit:
        g = g * (limit / norm)
    return g


clip_by_norm(torch.ones(10))


# program: running_metric
class Meter(nn.Module):
    def __init__(self):
        super().__init__()
        self.total = 0.0
        self.linear = nn.Linear(4, 1)

    def forward(self, x):
        y = self.linear(x).mean()
        self.total += y.item()
        return y


meter = torch.compile(Meter(), backend="eager")
for _ in range(3):
    meter(torch.ones(2, 4))


# program: log_every_n
class Logged(nn.Module):
    def __init__(self):
        super().__init__()
        self.step = 0
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        self.step += 1
        y = self.linear(x)
        if self.step % 2 == 0:
            print("step", self.step, y.mean())
        return y


logged = torch.compile(Logged(), backend="eager")
for _ in range(4):
    logged(torch.ones(2, 4))


# program: warmup_rate
class Schedule:
    rate = 0.1


schedule = Schedule()


@torch.compile(backend="eager")
def warmup_rate(w, g):
    return w - schedule.rate * g


for number in range(4):
    schedule.rate = 0.1 * (number + 1)
    warmup_rate(torch.ones(3), torch.ones(3))


# program: temperature
@torch.compile(backend="eager")
def temperature(logits, t):
    return torch.softmax(logits / t, -1)


for t in (1.0, 0.9, 0.8, 0.7):
    temperature(torch.randn(2, 5), t)


# program: beta_schedule
BETA = 0.1


@torch.compile(backend="eager")
def beta_schedule(kl, reconstruction):
    return reconstruction + BETA * kl


for BETA in (0.1, 0.2, 0.3):
    beta_schedule(torch.ones(()), torch.ones(()))


# program: timed_forward
@torch.compile(backend="eager")
def timed_forward(x):
    start = time.perf_counter()
    y = x @ x
    print("took", time.perf_counter() - start)
    return y


timed_forward(torch.ones(3, 3))


# program: environment_flag
@torch.compile(backend="eager")
def environment_flag(x):
    if os.getenv("DEBUG_SHAPES", "0") == "1":
        x = x + 1
    return x * 2


environment_flag(torch.ones(3))


# program: augment
@torch.compile(backend="eager")
def augment(x):
    if torch.rand(()) > 0.5:
        x = x.flip(-1)
    return x + 1


augment(torch.ones(2, 3))


# program: mixup
@torch.compile(backend="eager")
def mixup(x, y):
    lam = float(torch.rand(()))
    return lam * x + (1 - lam) * y


mixup(torch.ones(3), torch.zeros(3))


# program: early_stop
@torch.compile(backend="eager")
def early_stop(x, best):
    loss = (x * x).mean()
    improved = loss < best
    if improved:
        best = loss
    return loss, best


early_stop(torch.ones(3), torch.tensor(2.0))


# program: ragged_batches
@torch.compile(backend="eager")
def ragged_batches(tokens, mask):
    return (tokens * mask).sum(1)


for length in (5, 7, 9, 11):
    tokens = torch.ones(2, length)
    ragged_batches(tokens, torch.ones(2, length))


# program: last_batch
class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))

    def forward(self, x):
        return self.net(x)


classifier = torch.compile(Classifier(), backend="eager")
for batch in torch.randn(10, 4).split(4):
    classifier(batch)


# program: label_check
@torch.compile(backend="eager")
def label_check(logits, labels):
    if labels.max() >= logits.shape[-1]:
        raise ValueError("labels are out of range")
    return F.cross_entropy(logits, labels)


label_check(torch.randn(3, 4), torch.tensor([0, 1, 3]))


# program: assertion_on_device
@torch.compile(backend="eager")
def warn_on_overflow(x):
    if x.abs().max() > 1e4:
        warnings.warn("large activations")
    return x.half().float()


warn_on_overflow(torch.ones(3))


# program: train_step
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


@torch.compile(backend="eager")
def train_step(x, y):
    loss = F.mse_loss(model(x), y)
    loss.backward()
    return loss.detach()


for _ in range(2):
    train_step(torch.ones(2, 3), torch.ones(2, 1))
    optimizer.step()
    optimizer.zero_grad()


# program: log_debug
@torch.compile(backend="eager")
def log_debug(x):
    logger.debug("shape %s", x.shape)
    return x * 2


log_debug(torch.ones(3))


# program: dropout_rate
@torch.compile(backend="eager")
def dropout_rate(x, p):
    return F.dropout(x, p) + 1


for p in (0.1, 0.2, 0.3):
    dropout_rate(torch.ones(3), p)


# program: shuffled
@torch.compile(backend="eager")
def shuffled(x):
    order = list(range(3))
    random.shuffle(order)
    return x[order]


shuffled(torch.arange(3.0))
