"""Predicts graph breaks from the source alone: constructs on which Dynamo is known to break.

``predict`` follows each compile region into the functions and methods of the same file and keeps track of which expressions are
tensors. It passes each use of a value (a call, a branch, an index) to the rules, one module per family of construct. Only rules with a
high precision on a corpus of real programs are in the registry (docs/predictions.md).
"""
