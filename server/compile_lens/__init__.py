"""Compile Lens: what ``torch.compile`` did with your code, at the line that causes it."""

__version__ = "0.1.0"
