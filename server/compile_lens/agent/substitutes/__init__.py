"""Substitutes for what this machine lacks: a CUDA device, other ranks, pretrained weights."""
