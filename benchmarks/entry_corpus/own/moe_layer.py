"""A mixture of experts whose routing depends on the data."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Expert(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.w1, self.w2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)))


class MoE(nn.Module):
    def __init__(self, d_model: int, d_ff: int, num_experts: int, top_k: int):
        super().__init__()
        self.gate = nn.Linear(d_model, num_experts, bias=False)
        self.experts = nn.ModuleList(Expert(d_model, d_ff) for _ in range(num_experts))
        self.top_k = top_k

    def forward(self, x):
        batch, seq, dim = x.shape
        x = x.view(-1, dim)
        weights, chosen = torch.topk(F.softmax(self.gate(x), dim=-1), self.top_k)
        out = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            rows, nth = torch.where(chosen == i)
            if rows.numel() > 0:
                out[rows] += weights[rows, nth, None] * expert(x[rows])
        return out.view(batch, seq, dim)
