"""Why a row misses its goal, and what a profile said: by the row's name, for docs/performance.md."""

from __future__ import annotations

REASONS: dict[str, str] = {
    "models": (
        "the script imports `transformers` in each run, since the standby has imported torch alone. To import "
        "the packages of the last run in the standby would run their code outside of the sandbox, and before "
        "the program has set its environment."
    ),
    "unchanged": (
        "comments, docstrings and layout run nothing. An edit of a function that no region reaches is a run: "
        "that nothing else of the program reaches it cannot be told from its text alone."
    ),
    "one-function": ("a save runs the whole file: an edited region may change what the others are given."),
    "edit": (
        "in a document of up to 40,000 characters, facts are read at once, on the event loop. Of 27 ms of a "
        "processor for 1,000 lines, parsing has 5; the rest are definitions, regions and candidates, which "
        "Python reads from the nodes of tree-sitter one by one. It was 40 ms before regions were read once "
        "for all who ask, and before most calls were told by their last name. Longer documents are read in "
        "another process."
    ),
    "standby": (
        "a new standby imports torch and warms Dynamo. It is started when a file that imports torch is opened."
    ),
    "trace": (
        "at 12 MB, 0.3 of 0.4 s of a processor are the start of Python and the import of 350 modules; reading "
        "and finding take 0.1 s. A trace that was opened before imports 240 modules; rich and click are a "
        "third of their time."
    ),
}
