"""One entry of the corpus: something real to compile, with tiny inputs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Program:
    """``module`` holds the source that predictions are made of, and ``region`` is what ``torch.compile(…)`` gets, in its words.

    ``setup`` is code that may use the module's names through ``module``; ``subject`` is an expression for what to compile, ``call``
    one that calls it as ``f``. ``is_copied``: the module's source is loaded from a file of its own, as if it were the user's, since
    Dynamo skips some of torch's own files by their path (torch/_dynamo/trace_rules.py). ``is_script``: ``module`` is the path of a
    whole program that has its regions itself. ``family`` is transformers, generation, torch, own or held-out.
    """

    name: str
    module: str
    region: str
    subject: str
    call: str
    setup: str = ""
    is_copied: bool = False
    is_script: bool = False
    family: str = "generation"
