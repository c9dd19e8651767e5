"""The held-out part of the corpus: real functions that no rule was tuned on.

Chosen by what runs eagerly on tiny inputs, before any prediction was made for them. A rule that is changed because of what is seen
here must be told in docs/predictions.md, or these programs moved to the others.
"""
