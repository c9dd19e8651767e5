"""Functions of a sampler, with shapes in comments and docstrings."""

import math

import torch


def timestep_embedding(timesteps, dim, max_period=10000):
    """Sinusoidal embeddings.

    :param timesteps: a 1-D Tensor of N indices, one per batch element.
    :param dim: the dimension of the output.
    """
    half = dim // 2
    freqs = torch.exp(-math.log(max_period) * torch.arange(half) / half)
    args = timesteps[:, None].float() * freqs[None]
    return torch.cat([torch.cos(args), torch.sin(args)], dim=-1)


def q_sample(x_start, noise, alphas_cumprod, t: int):
    """Diffuse the data.

    Args:
        x_start: images of shape (B, C, H, W).
        noise: noise of shape (B, C, H, W).
        alphas_cumprod: products of shape (T,).
    """
    a = alphas_cumprod[t]
    return a.sqrt() * x_start + (1 - a).sqrt() * noise


def clamp_dynamic(
    x,  # (B, C, H, W)
    quantile: float = 0.9,
):
    s = torch.quantile(x.flatten(1).abs(), quantile, dim=1)
    if s.max() < 1:
        return x.clamp(-1, 1)
    s = s.clamp(min=1.0)[:, None, None, None]
    return x.clamp(-s, s) / s
