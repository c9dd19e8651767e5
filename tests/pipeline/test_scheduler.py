"""When work runs. Tests wait for what happens, never for time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from compile_lens.pipeline.host_pool import LONGEST_PAUSE_S, HostPool
from compile_lens.pipeline.scheduler import BackgroundTasks, Reason, Scheduler, Ticket

A, B = "file:///a.py", "file:///b.py"


class Work:
    """Work that says when it runs, and goes on until it may end."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.started = asyncio.Event()
        self.may_end = asyncio.Event()
        self.tickets: list[Ticket] = []

    def named(self, name: str) -> Callable[[Ticket], Awaitable[str]]:
        async def work(ticket: Ticket) -> str:
            self.tickets.append(ticket)
            self.log.append(f"{name} begins")
            self.started.set()
            try:
                await self.may_end.wait()
                return name
            finally:
                await asyncio.sleep(0)  # what a process takes to end
                self.log.append(f"{name} ends")

        return work


async def test_the_newest_request_wins_and_begins_when_the_last_is_over() -> None:
    scheduler, work = Scheduler(), Work()
    first = scheduler.submit(A, Reason.REQUESTED, work.named("first"))
    await work.started.wait()
    second = scheduler.submit(A, Reason.REQUESTED, work.named("second"))
    third = scheduler.submit(A, Reason.REQUESTED, work.named("third"))
    work.may_end.set()
    assert await third == "third"
    assert first.cancelled() and second.cancelled()
    assert work.log == ["first begins", "first ends", "third begins", "third ends"]


async def test_a_burst_of_saves_is_one_run() -> None:
    scheduler, work = Scheduler(debounce_s=0.01), Work()
    work.may_end.set()
    tasks = [scheduler.submit(A, Reason.SAVED, work.named(str(number))) for number in range(10)]
    assert await tasks[-1] == "9"
    assert work.log == ["9 begins", "9 ends"]


async def test_a_save_waits_only_where_another_came_just_before(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    sleep = asyncio.sleep

    async def note(seconds: float) -> None:
        pauses.append(seconds)
        await sleep(0)

    monkeypatch.setattr(asyncio, "sleep", note)
    scheduler, work = Scheduler(debounce_s=7.0), Work()
    work.may_end.set()
    await scheduler.submit(A, Reason.SAVED, work.named("first"))
    await scheduler.submit(B, Reason.SAVED, work.named("other"))
    assert 7.0 not in pauses
    await scheduler.submit(A, Reason.SAVED, work.named("second"))
    assert pauses.count(7.0) == 1
    await scheduler.submit("file:///c.py", Reason.OPENED, work.named("opened after others"))
    assert pauses.count(7.0) == 2


async def test_documents_do_not_wait_for_each_other() -> None:
    scheduler, work = Scheduler(), Work()
    one = scheduler.submit(A, Reason.REQUESTED, work.named("a"))
    await work.started.wait()
    work.started.clear()
    other = scheduler.submit(B, Reason.REQUESTED, work.named("b"))
    await work.started.wait()
    assert set(scheduler.active()) == {A, B}
    work.may_end.set()
    assert await asyncio.gather(one, other) == ["a", "b"]
    assert scheduler.active() == []


async def test_a_ticket_counts_until_the_next_or_a_cancellation() -> None:
    scheduler, work = Scheduler(), Work()
    scheduler.submit(A, Reason.REQUESTED, work.named("first"))
    await work.started.wait()
    first = work.tickets[0]
    assert scheduler.is_current(first)
    work.started.clear()
    scheduler.submit(A, Reason.REQUESTED, work.named("second"))
    assert not scheduler.is_current(first)
    await work.started.wait()
    second = work.tickets[1]
    assert scheduler.is_current(second) and second.generation > first.generation
    assert scheduler.cancel(A)
    assert not scheduler.is_current(second)
    assert not scheduler.cancel(A)
    await scheduler.close()


async def test_closing_ends_everything_and_waits_for_it() -> None:
    scheduler, work = Scheduler(), Work()
    tasks = [scheduler.submit(uri, Reason.REQUESTED, work.named(uri)) for uri in (A, B)]
    await work.started.wait()
    await asyncio.sleep(0)
    await scheduler.close()
    assert all(task.done() for task in tasks)
    assert len([entry for entry in work.log if entry.endswith("ends")]) == 2


async def test_work_that_fails_is_over() -> None:
    async def fail(_: Ticket) -> None:
        raise ValueError("mine")

    scheduler = Scheduler()
    with pytest.raises(ValueError, match="mine"):
        await scheduler.submit(A, Reason.REQUESTED, fail)
    assert scheduler.active() == []


async def test_background_tasks_tell_of_errors_and_end_together() -> None:
    errors: list[BaseException] = []
    failed = asyncio.Event()

    def on_error(error: BaseException) -> None:
        errors.append(error)
        failed.set()

    async def fail() -> None:
        raise KeyError("x")

    async def forever() -> None:
        await asyncio.Event().wait()

    tasks = BackgroundTasks(on_error)
    tasks.start(fail())
    tasks.start(forever())
    await failed.wait()
    await tasks.close()
    assert [type(error) for error in errors] == [KeyError]


class Host:
    """A host that knows whether it is closed."""

    def __init__(self, python: str) -> None:
        self.python = python
        self.closed = False

    async def close(self) -> None:
        self.closed = True


async def test_one_run_at_a_time_on_a_host_the_best_reason_first_and_the_newest_among_equals() -> None:
    pool, order = HostPool(Host), []
    release = asyncio.Event()

    async def hold() -> None:
        async with pool.turn("py", Reason.OPENED):
            await release.wait()

    async def turn(name: str, reason: Reason) -> None:
        async with pool.turn("py", reason) as host:
            order.append((name, host.python))

    holding = asyncio.create_task(hold())
    await asyncio.sleep(0)
    requests = [("old", Reason.OPENED), ("new", Reason.OPENED), ("saved", Reason.SAVED), ("asked", Reason.REQUESTED)]
    waiting = [asyncio.create_task(turn(*request)) for request in requests]
    gone = asyncio.create_task(turn("gone", Reason.REQUESTED))
    await asyncio.sleep(0)
    gone.cancel()
    await asyncio.gather(gone, return_exceptions=True)
    release.set()
    await asyncio.gather(holding, *waiting)
    assert [name for name, _ in order] == ["asked", "saved", "new", "old"]


async def test_a_turn_that_nobody_takes_goes_to_the_next() -> None:
    pool, taken = HostPool(Host), asyncio.Event()

    async def take() -> None:
        async with pool.turn("py", Reason.SAVED):
            taken.set()

    async with pool.turn("py", Reason.SAVED):
        given = asyncio.create_task(take())
        await asyncio.sleep(0)
        last = asyncio.create_task(take())
        await asyncio.sleep(0)
    last.cancel()  # its turn has come, and it has not noticed yet
    given_or_last = await asyncio.gather(given, last, return_exceptions=True)
    assert taken.is_set()
    assert [isinstance(result, asyncio.CancelledError) for result in given_or_last] == [False, True]


async def test_background_runs_wait_after_failures_and_the_user_does_not() -> None:
    pool = HostPool(Host, first_pause_s=1000.0)
    assert pool.failed("py") == LONGEST_PAUSE_S
    async with pool.turn("py", Reason.REQUESTED):
        pass

    async def background() -> None:
        async with pool.turn("py", Reason.SAVED):
            pass

    waiting = asyncio.create_task(background())
    await asyncio.sleep(0)
    assert not waiting.done()
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    pool.succeeded("py")
    await background()


async def test_pauses_grow_up_to_a_limit() -> None:
    pool = HostPool(Host, first_pause_s=1.0)
    assert [pool.failed("py") for _ in range(4)] == [1.0, 2.0, 4.0, 8.0]
    for _ in range(2000):
        pause = pool.failed("py")
    assert pause == LONGEST_PAUSE_S


async def test_closing_the_pool_closes_hosts_and_it_can_be_used_again() -> None:
    pool = HostPool(Host)
    first = pool.host("py")
    assert pool.host("py") is first and pool.host("other") is not first
    await pool.close()
    assert first.closed
    assert pool.host("py") is not first
