"""Substitutes for missing pretrained weights: the same architecture with random weights, and a note for each."""
