"""What a run with full access may be started by: the file as a script, as in a shell, or the entry that the user names.

Entries that we find, and those that a file names, make up inputs, or run tests, scripts and examples that nobody asked for: that is for the
sandbox alone.
"""

from __future__ import annotations

import msgspec

from compile_lens.analysis.outcome import Outcome
from compile_lens.entries.entry import EntryChoice, EntryKind, script

ONLY_A_SCRIPT = (
    "Without the sandbox, the file ran as a script, and nothing else did. To have its classes and functions called, run it in the sandbox, "
    "or name an entry (`--entry`; in an editor, choose one)."
)


def in_own_words(choice: EntryChoice) -> EntryChoice:
    """``choice`` where the user has named the entry, else the file as a script."""
    return choice if choice.is_explicit and not choice.said_by else EntryChoice((script(),), True)


def told_what_was_not_run(outcome: Outcome, choice: EntryChoice, has_reached: bool) -> Outcome:
    """``outcome`` of a run that was held to ``in_own_words``, with a note of what was not run of ``choice``."""
    if choice.said_by:
        spec = choice.entries[0].spec
        if spec == outcome.entry:
            return outcome
        note = (
            f"Without the sandbox, the file ran as a script: the entry `{spec}`, which {choice.said_by} names, did not. To run it, name it "
            "yourself (`--entry`; in an editor, choose it), or use the sandbox."
        )
    elif not choice.is_explicit and not has_reached and any(e.kind is not EntryKind.SCRIPT for e in choice.entries):
        note = ONLY_A_SCRIPT
    else:
        return outcome
    return msgspec.structs.replace(outcome, notes=(*outcome.notes, note))
