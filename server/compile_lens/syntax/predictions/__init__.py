"""Graph breaks that can be told from the source alone: constructs that Dynamo is known to break on.

``predict`` follows each compile region into the functions and methods of the same file and keeps a small account of which
expressions are tensors. What it meets (a call, a condition, an index) goes to the rules, one module per family of construct; the
registry says which rules are on, by their precision on a corpus of real programs (docs/predictions.md).
"""
