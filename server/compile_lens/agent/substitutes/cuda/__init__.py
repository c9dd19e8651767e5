"""Emulates a CUDA device on a machine without a GPU: tensors report ``cuda:0`` and hold their values in CPU memory."""
