"""Stopping: cancelled tasks, dropped streams, late results, closed connections."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import pytest
from conftest import run

from cheliped import Agent, ProviderConfig, RunContext, ScriptedProvider, ToolCallStarted, tool

CALL = {"calls": [{"name": "work", "arguments": {}}]}
SOON = 0.1
"""Seconds in which everything has to stop."""


def agent(work: Any, **options: Any) -> Agent:
    return Agent(provider=ScriptedProvider([CALL, "done"]), tools=[tool(name="work")(work)], **options)


def test_cancelling_the_task_cancels_an_async_tool() -> None:
    async def main() -> float:
        started, cancelled = asyncio.Event(), asyncio.Event()

        async def work() -> str:
            started.set()
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                cancelled.set()
                raise
            return "never"

        task = asyncio.create_task(agent(work).send("go"))
        await started.wait()
        before = time.perf_counter()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await cancelled.wait()
        return time.perf_counter() - before

    assert run(main()) < SOON


def test_a_blocking_tool_sees_the_end_and_its_late_result_is_dropped() -> None:
    events: list[str] = []
    started, saw, finished = threading.Event(), threading.Event(), threading.Event()

    def work(ctx: RunContext[None]) -> str:
        started.set()
        while not ctx.cancelled:
            time.sleep(0.005)
        saw.set()
        ctx.progress("too late")
        finished.set()
        return "too late"

    saves: list[str] = []

    async def main() -> float:
        from cheliped import Checkpoint

        running = agent(
            work,
            hooks=[lambda event: events.append(event["event"])],
            checkpoint=Checkpoint(lambda saved: saves.append(saved.what)),
        )
        task = asyncio.create_task(running.send("go"))
        await asyncio.to_thread(started.wait)
        before = time.perf_counter()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        took = time.perf_counter() - before
        await asyncio.to_thread(finished.wait)
        # Whatever the late result could still do, it would do now.
        await asyncio.sleep(0.2)
        return took

    assert run(main()) < SOON
    assert saw.is_set()
    assert "tool.after" not in events
    assert "tool.progress" not in events
    assert events[-1] == "agent.error"
    assert "call_finished" not in saves


def test_a_time_out_of_the_caller_ends_the_run() -> None:
    async def main() -> None:
        cancelled = asyncio.Event()

        async def work() -> str:
            try:
                await asyncio.sleep(60)
            finally:
                cancelled.set()
            return "never"

        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(agent(work).send("go"), 0.05)
        await asyncio.wait_for(cancelled.wait(), 1)

    run(main())


@pytest.mark.parametrize("how", ["break", "leave", "aclose", "drop", "cancel"])
def test_a_stream_that_is_left_ends_its_run(how: str) -> None:
    async def main() -> float:
        cancelled = asyncio.Event()

        async def work() -> str:
            try:
                await asyncio.sleep(60)
            finally:
                cancelled.set()
            return "never"

        running = agent(work)
        if how in ("break", "leave"):
            async with running.stream("go") as stream:
                async for event in stream:
                    if isinstance(event, ToolCallStarted):
                        await asyncio.sleep(0.05)
                        break
        else:
            stream = running.stream("go")
            async for event in stream:
                if isinstance(event, ToolCallStarted):
                    await asyncio.sleep(0.05)
                    break
            if how == "aclose":
                await stream.aclose()
            elif how == "cancel":
                task = asyncio.create_task(stream.result())
                await asyncio.sleep(0.01)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
        before = time.perf_counter()
        if how in ("drop", "cancel"):
            del stream
        await asyncio.wait_for(cancelled.wait(), 5)
        return time.perf_counter() - before

    assert run(main()) < SOON


def test_the_connection_to_the_model_closes() -> None:
    closed, asked = threading.Event(), threading.Event()

    async def main() -> float:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            asked.set()
            while await reader.read(65536):
                pass
            closed.set()
            writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        config = ProviderConfig(provider="custom", model="m", api_key="k", base_url=f"http://127.0.0.1:{port}")
        import os

        os.environ.pop("CHELIPED_ALLOW_REAL_PROVIDERS", None)
        try:
            asking = Agent(provider=config)
        finally:
            os.environ["CHELIPED_ALLOW_REAL_PROVIDERS"] = "0"
        task = asyncio.create_task(asking.send("Hi"))
        await asyncio.to_thread(asked.wait, 10)
        before = time.perf_counter()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(closed.wait, 10)
        took = time.perf_counter() - before
        server.close()
        return took

    assert run(main()) < SOON


@pytest.mark.parametrize("depth", [1, 2])
def test_a_run_inside_a_blocking_tool_ends_with_the_outer_run(depth: int) -> None:
    started, cancelled = threading.Event(), threading.Event()

    async def work() -> str:
        started.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.set()
            raise
        return "never"

    def around(inner: Agent) -> Agent:
        def nested() -> str:
            return inner.send_sync("go").text

        return agent(nested)

    running = agent(work)
    for _ in range(depth):
        running = around(running)

    async def main() -> float:
        task = asyncio.create_task(running.send("go"))
        await asyncio.to_thread(started.wait, 10)
        before = time.perf_counter()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(cancelled.wait, 10)
        return time.perf_counter() - before

    assert run(main()) < SOON


def test_a_tool_that_refuses_to_be_cancelled_does_not_hold_the_run() -> None:
    async def main() -> float:
        started, release = asyncio.Event(), asyncio.Event()

        async def work() -> str:
            started.set()
            while not release.is_set():
                try:
                    await asyncio.wait_for(release.wait(), 60)
                except asyncio.CancelledError:
                    continue
            return "at last"

        task = asyncio.create_task(agent(work).send("go"))
        await started.wait()
        before = time.perf_counter()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        took = time.perf_counter() - before
        release.set()
        return took

    assert asyncio.run(main()) < SOON


def test_cancelled_at_any_moment_nothing_is_left() -> None:
    async def work() -> str:
        await asyncio.sleep(0.004)
        return "ok"

    model = ScriptedProvider({"steps": [{**CALL, "latency_ms": 2}, "done"], "by_turn": True})
    running = Agent(provider=model, tools=[tool(name="work")(work)])

    async def main() -> int:
        for moment in range(60):
            task = asyncio.create_task(running.send("go"))
            await asyncio.sleep(moment * 0.0002)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        await asyncio.sleep(0.1)
        return len(asyncio.all_tasks())

    assert run(main()) == 1
