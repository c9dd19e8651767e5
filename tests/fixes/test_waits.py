"""What other programs take of the processors is not taken for what a program or its fix does."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from compile_lens.analysis.filters import Filters
from compile_lens.analysis.outcome import Outcome, Status
from compile_lens.fixes.verify import LEAST_S, LONGEST_RUN_S, Verifier, can_compare, why_not_verified
from compile_lens.workers.job import Job

TEXT = "import torch\n"
BEFORE = Outcome("train.py", "python", "2.13.0", "dynamo", "script", Status.OK, 0.5)


def test_a_run_that_waited_for_a_processor_is_one_that_can_be_compared() -> None:
    busy = replace(BEFORE, duration_s=3 * LONGEST_RUN_S)
    assert why_not_verified(busy) == "the run took longer than 5 s"
    assert can_compare(replace(busy, ran_s=1.0))
    assert not can_compare(replace(busy, ran_s=2 * LONGEST_RUN_S))


async def limits_of(outcome: Outcome) -> list[float]:
    """The limits of the runs that were made to know what a text does, where each of them ends with ``outcome``."""
    limits = []

    async def analyze(_: Any, job: Job, __: None, ___: Filters) -> Outcome:
        limits.append(job.timeout_s)
        return outcome

    await Verifier(analyze, Job("train.py", timeout_s=60.0), TEXT, BEFORE).effect_of_text(None, TEXT)
    return limits


async def test_a_changed_program_that_had_no_processor_is_run_with_all_the_time_there_is() -> None:
    ended = replace(BEFORE, status=Status.TIMEOUT, duration_s=LEAST_S)
    assert await limits_of(replace(ended, ran_s=1.0)) == [LEAST_S, 60.0]
    assert await limits_of(replace(ended, ran_s=LEAST_S)) == [LEAST_S]
    assert await limits_of(ended) == [LEAST_S]  # where it is not known
