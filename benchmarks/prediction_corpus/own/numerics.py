"""Solvers, samplers and graphs."""

from __future__ import annotations

import math
import random

import torch
from torch import nn


def conjugate_gradient(a, b, steps: int = 5, tolerance: float = 1e-6):
    x = torch.zeros_like(b)
    r = b - a @ x
    p, rs = r, r @ r
    for _ in range(steps):
        ap = a @ p
        alpha = rs / (p @ ap)
        x = x + alpha * p
        r = r - alpha * ap
        new = r @ r
        if new.sqrt() < tolerance:
            break
        p, rs = r + new / rs * p, new
    return x


def power_iteration(a, tolerance: float = 1e-3):
    v = torch.ones(a.shape[0])
    change = torch.tensor(1.0)
    while change > tolerance:
        w = a @ v
        w = w / w.norm()
        change = (w - v).abs().max()
        v = w
    return v


def sinkhorn(cost, steps: int = 3, epsilon: float = 0.1):
    u = torch.zeros(cost.shape[0])
    v = torch.zeros(cost.shape[1])
    for _ in range(steps):
        before = u
        u = -epsilon * torch.logsumexp((v[None, :] - cost) / epsilon, dim=1)
        v = -epsilon * torch.logsumexp((u[:, None] - cost) / epsilon, dim=0)
        error = (u - before).abs().sum()
        if error.item() < 1e-4:
            break
    return torch.exp((u[:, None] + v[None, :] - cost) / epsilon)


def kmeans(points, k: int = 2, steps: int = 2):
    centres = points[:k].clone()
    for _ in range(steps):
        nearest = torch.cdist(points, centres).argmin(-1)
        for c in range(k):
            members = points[nearest == c]
            if len(members) > 0:
                centres[c] = members.mean(0)
    return centres


def metropolis(x, scale: float = 0.1):
    proposal = x + scale * torch.randn_like(x)
    ratio = torch.exp((x.square() - proposal.square()).sum() / 2)
    if torch.rand(()) < ratio:
        return proposal
    return x


def advantages(rewards, values, done, gamma: float = 0.99, lam: float = 0.95):
    out = torch.zeros_like(rewards)
    last = 0.0
    for t in reversed(range(rewards.shape[0])):
        following = values[t + 1] if t + 1 < values.shape[0] else torch.tensor(0.0)
        delta = rewards[t] + gamma * following * (1 - done[t]) - values[t]
        last = delta + gamma * lam * (1 - done[t]) * last
        out[t] = last
    return out


def epsilon_greedy(q, epsilon: float = 0.1):
    if random.random() < epsilon:
        return torch.randint(0, q.shape[-1], (q.shape[0],))
    return q.argmax(-1)


def adaptive_step(f_scale, y, dt: float = 0.1):
    full = y + dt * f_scale * y
    half = y + dt / 2 * f_scale * y
    half = half + dt / 2 * f_scale * half
    error = (full - half).abs().max()
    if error > 1e-2:
        dt = dt * 0.5
    elif error < 1e-4:
        dt = dt * 2
    return half, dt


def degree(edges, nodes: int = 4):
    out = torch.zeros(nodes)
    return out.scatter_add_(0, edges[0], torch.ones(edges.shape[1]))


def subgraph(edges, keep):
    mask = keep[edges[0]] & keep[edges[1]]
    used, inverse = torch.unique(edges[:, mask], return_inverse=True)
    return used, inverse


def batched_graph(x, batch):
    graphs = int(batch.max()) + 1
    out = x.new_zeros(graphs, x.shape[-1])
    return out.index_add_(0, batch, x)


def coalesce(index, values):
    unique, inverse = index.unique(return_inverse=True)
    out = torch.zeros(unique.shape[0])
    return unique, out.scatter_add(0, inverse, values)


def repeat_rows(x, counts):
    return x.repeat_interleave(counts, dim=0)


def bisect(target, low: float = 0.0, high: float = 2.0, steps: int = 4):
    for _ in range(steps):
        middle = (low + high) / 2
        if middle * middle > target:
            high = middle
        else:
            low = middle
    return target + low


def is_symmetric(a):
    if torch.allclose(a, a.T):
        return a
    return (a + a.T) / 2


def stable_log(x, epsilon=1e-6):
    if isinstance(x, torch.Tensor):
        return torch.log(x + epsilon)
    return math.log(x + epsilon)


def first_above(x, level: float = 0.5):
    where = (x > level).nonzero()
    return where[0] if len(where) else torch.tensor([-1])


class Pinn(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1))

    def forward(self, t):
        return self.net(t) + torch.exp(-t)


class Halting(nn.Module):
    def __init__(self, limit: int = 3):
        super().__init__()
        self.cell = nn.GRUCell(4, 4)
        self.halt = nn.Linear(4, 1)
        self.limit = limit

    def forward(self, x):
        h = torch.zeros_like(x)
        total = torch.zeros(x.shape[0], 1)
        steps = 0
        while (total < 1).any() and steps < self.limit:
            h = self.cell(x, h)
            total = total + torch.sigmoid(self.halt(h))
            steps += 1
        return h, steps


class TreeNode(nn.Module):
    def __init__(self):
        super().__init__()
        self.left, self.right = nn.Linear(4, 4), nn.Linear(4, 4)
        self.gate = nn.Linear(4, 1)

    def forward(self, x):
        decision = torch.sigmoid(self.gate(x)).mean()
        return self.left(x) if decision > 0.5 else self.right(x)


CASES = {
    "conjugate_gradient": lambda: (torch.eye(3) * 2, torch.ones(3)),
    "power_iteration": lambda: (torch.eye(3) + 0.1,),
    "sinkhorn": lambda: (torch.rand(3, 3),),
    "kmeans": lambda: (torch.rand(6, 2),),
    "metropolis": lambda: (torch.rand(3),),
    "advantages": lambda: (torch.rand(3), torch.rand(3), torch.zeros(3)),
    "epsilon_greedy": lambda: (torch.rand(2, 3),),
    "adaptive_step": lambda: (torch.tensor(1.0), torch.rand(3)),
    "degree": lambda: (torch.tensor([[0, 1, 2], [1, 2, 3]]),),
    "subgraph": lambda: (torch.tensor([[0, 1, 2], [1, 2, 3]]), torch.tensor([True, True, True, False])),
    "batched_graph": lambda: (torch.rand(4, 2), torch.tensor([0, 0, 1, 1])),
    "coalesce": lambda: (torch.tensor([1, 1, 2]), torch.rand(3)),
    "repeat_rows": lambda: (torch.rand(2, 2), torch.tensor([1, 3])),
    "bisect": lambda: (torch.tensor(2.0),),
    "is_symmetric": lambda: (torch.eye(3),),
    "stable_log": lambda: (torch.rand(3),),
    "first_above": lambda: (torch.rand(5),),
    "Pinn()": lambda: (torch.rand(3, 1),),
    "Halting()": lambda: (torch.rand(2, 4),),
    "TreeNode()": lambda: (torch.rand(2, 4),),
}

# ruff: noqa  (programs as their authors write them)
