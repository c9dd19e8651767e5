"""A problem with its inputs beside it."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, in_features, out_features, scaling_factor):
        super().__init__()
        self.matmul = nn.Linear(in_features, out_features)
        self.scaling_factor = scaling_factor

    def forward(self, x):
        x = self.matmul(x)
        original = x.clone().detach()
        return x * self.scaling_factor + original


def get_inputs():
    return [torch.randn(16, 64)]


def get_init_inputs():
    return [64, 128, 0.5]
