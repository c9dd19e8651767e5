"""Stands in for what the machine lacks: a CUDA device, other ranks, pretrained weights."""
