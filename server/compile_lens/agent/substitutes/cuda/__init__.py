"""Runs GPU code on a machine without a GPU: tensors that say ``cuda:0`` and hold their values in the CPU's memory."""
