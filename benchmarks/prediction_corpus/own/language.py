"""Blocks and helpers as language models have them."""

from __future__ import annotations

import logging
from typing import Optional

import torch
import torch.nn.functional as F
from torch import nn

logger = logging.getLogger(__name__)


class Router(nn.Module):
    def __init__(self, dim=8, experts=4, top_k=2):
        super().__init__()
        self.top_k = top_k
        self.gate = nn.Linear(dim, experts, bias=False)
        self.experts = nn.ModuleList([nn.Linear(dim, dim) for _ in range(experts)])

    def forward(self, hidden):
        b, n, d = hidden.shape
        x = hidden.view(-1, d)
        weights, chosen = torch.topk(F.softmax(self.gate(x), dim=1), self.top_k, dim=-1)
        weights = weights / weights.sum(dim=-1, keepdim=True)
        out = torch.zeros_like(x)
        for index, expert in enumerate(self.experts):
            rows, which = torch.where(chosen == index)
            if rows.shape[0] == 0:
                continue
            out.index_add_(0, rows, expert(x[rows]) * weights[rows, which, None])
        return out.view(b, n, d)


class CapacityRouter(nn.Module):
    def __init__(self, dim=8, experts=4):
        super().__init__()
        self.experts = experts
        self.gate = nn.Linear(dim, experts)

    def forward(self, x):
        probabilities = self.gate(x).softmax(-1)
        best = probabilities.argmax(-1)
        mask = F.one_hot(best, self.experts)
        load = mask.float().mean(0)
        loss = (load * probabilities.mean(0)).sum() * self.experts
        counts = torch.bincount(best.flatten(), minlength=self.experts)
        logger.debug("load per expert: %s", counts)
        return probabilities, loss


class Cache(nn.Module):
    def __init__(self, dim=8, length=16):
        super().__init__()
        self.register_buffer("keys", torch.zeros(1, length, dim))
        self.position = 0

    def forward(self, k):
        n = k.shape[1]
        self.keys[:, self.position : self.position + n] = k
        self.position += n
        return self.keys[:, : self.position]


class Attention(nn.Module):
    def __init__(self, dim=8, heads=2, causal=True):
        super().__init__()
        self.heads, self.causal = heads, causal
        self.q, self.k, self.v = nn.Linear(dim, dim), nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.dropout = 0.0

    def _split(self, x):
        b, n, d = x.shape
        return x.view(b, n, self.heads, d // self.heads).transpose(1, 2)

    def forward(self, x, mask: Optional[torch.Tensor] = None, need_weights: bool = False):
        q, k, v = self._split(self.q(x)), self._split(self.k(x)), self._split(self.v(x))
        scores = q @ k.transpose(-1, -2)
        if self.causal:
            scores = scores + torch.full_like(scores, float("-inf")).triu(1)
        if mask is not None and not mask.all():
            scores = scores.masked_fill(~mask[:, None, None, :], float("-inf"))
        weights = scores.softmax(-1)
        if self.dropout > 0:
            weights = F.dropout(weights, self.dropout, self.training)
        out = (weights @ v).transpose(1, 2).flatten(2)
        return (out, weights) if need_weights else out


class Block(nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.attention = Attention(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 16), nn.GELU(), nn.Linear(16, dim))

    def forward(self, x, mask=None):
        x = x + self.attention(self.norm(x), mask)
        x = x + self.mlp(self.norm(x))
        if torch.isnan(x).any():
            logger.warning("not a number in a block")
        return x


class Model(nn.Module):
    def __init__(self, vocabulary=16, dim=8, layers=2):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, dim)
        self.blocks = nn.ModuleList(Block(dim) for _ in range(layers))
        self.head = nn.Linear(dim, vocabulary)

    def forward(self, tokens, mask=None, targets=None):
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x, mask)
        logits = self.head(x)
        if targets is None:
            return logits
        loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
        return logits, loss


def sample(logits, temperature: float = 1.0, top_k: int = 4, top_p: float = 0.9):
    if temperature == 0.0:
        return logits.argmax(-1)
    logits = logits / temperature
    if top_k > 0:
        kth = torch.topk(logits, min(top_k, logits.size(-1)))[0][..., -1, None]
        logits = logits.masked_fill(logits < kth, float("-inf"))
    if top_p < 1.0:
        ordered, index = torch.sort(logits, descending=True)
        remove = ordered.softmax(-1).cumsum(-1) > top_p
        remove[..., 1:] = remove[..., :-1].clone()
        remove[..., 0] = False
        logits = logits.masked_fill(remove.scatter(1, index, remove), float("-inf"))
    return torch.multinomial(logits.softmax(-1), 1)


def greedy(embedding, steps: int = 3, eos: int = 0):
    tokens = torch.ones(1, 1, dtype=torch.long)
    for _ in range(steps):
        logits = embedding[tokens[:, -1]] @ embedding.T
        following = logits.argmax(-1, keepdim=True)
        tokens = torch.cat([tokens, following], dim=1)
        if (following == eos).all():
            break
    return tokens


def accept(draft, target, draft_tokens):
    p = target.gather(-1, draft_tokens[:, None]).squeeze(-1)
    q = draft.gather(-1, draft_tokens[:, None]).squeeze(-1)
    accepted = torch.rand_like(p) < (p / q).clamp(max=1)
    count = int(accepted.cumprod(0).sum())
    return draft_tokens[:count], count


def pack(tokens, lengths):
    rows = [row[:n] for row, n in zip(tokens, lengths.tolist())]
    return torch.cat(rows)


def unpad(hidden, mask):
    indices = torch.nonzero(mask.flatten(), as_tuple=False).flatten()
    longest = mask.sum(-1).max().item()
    return hidden.flatten(0, 1)[indices], indices, longest


def perplexity(logits, targets):
    loss = F.cross_entropy(logits, targets)
    return torch.exp(loss).item()


def causal_mask(length: int, window: int = 0):
    mask = torch.ones(length, length, dtype=torch.bool).tril()
    if window:
        mask = mask & torch.ones(length, length, dtype=torch.bool).triu(-window)
    return mask


def contrastive(a, b, temperature=0.07):
    a, b = F.normalize(a, dim=-1), F.normalize(b, dim=-1)
    logits = a @ b.T / temperature
    labels = torch.arange(len(a), device=a.device)
    return (F.cross_entropy(logits, labels) + F.cross_entropy(logits.T, labels)) / 2


def check_tokens(tokens, vocabulary: int = 16):
    assert tokens.max() < vocabulary, f"token {tokens.max()} is outside of the vocabulary"
    assert tokens.min() >= 0
    assert tokens.dim() == 2, "a batch of sequences, please"
    return tokens.float().mean()


def merge_repeated(tokens, blank: int = 0):
    merged = torch.unique_consecutive(tokens)
    return merged[merged != blank]


_tokens = torch.randint(1, 16, (1, 4))
CASES = {
    "Router()": lambda: (torch.rand(1, 4, 8),),
    "CapacityRouter()": lambda: (torch.rand(1, 4, 8),),
    "Cache()": lambda: (torch.rand(1, 2, 8),),
    "Attention()": lambda: (torch.rand(1, 4, 8), torch.tensor([[True, True, True, False]])),
    "Model()": lambda: (_tokens, None, _tokens),
    "sample": lambda: (torch.rand(1, 16),),
    "greedy": lambda: (torch.rand(8, 8),),
    "accept": lambda: (torch.rand(3, 8).softmax(-1), torch.rand(3, 8).softmax(-1), torch.tensor([1, 2, 3])),
    "pack": lambda: (_tokens, torch.tensor([3])),
    "unpad": lambda: (torch.rand(1, 4, 8), torch.tensor([[1, 1, 1, 0]])),
    "perplexity": lambda: (torch.rand(3, 8), torch.tensor([1, 2, 3])),
    "contrastive": lambda: (torch.rand(3, 8), torch.rand(3, 8)),
    "check_tokens": lambda: (_tokens,),
    "merge_repeated": lambda: (torch.tensor([1, 1, 0, 2, 2]),),
}

# ruff: noqa  (programs as their authors write them)
