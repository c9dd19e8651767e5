"""Facts about Python source that tree-sitter gives: compile regions, ranges of expressions, functions and parameters.

Pure: text in, frozen dataclasses out. Nothing here raises on broken code.
"""
