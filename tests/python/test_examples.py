"""Every example runs, and the web application does what it promises to a browser."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from conftest import run

from cheliped import Agent, ScriptedProvider, tool

EXAMPLES = Path(__file__).parents[2] / "examples" / "python"
PROGRAMS = {
    "quickstart": "Snow in Oslo",
    "tools": "the morning of the 24th",
    "stream": "It is noon in Oslo.",
    "hooks": "no_shouting refused",
    "approval": "The landlord got 1000",
    "custom_provider": "The sums are 5, 42.",
    "scripted_test": "2 tests passed",
    "demo": "disk is full",
}


def test_every_program_is_here() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.py")} == {*PROGRAMS, "web_app"}


@pytest.mark.parametrize("program", PROGRAMS)
def test_program(program: str) -> None:
    command = [sys.executable, "-X", "dev", "-W", "error", str(EXAMPLES / f"{program}.py")]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert PROGRAMS[program] in ran.stdout


def web_app() -> Any:
    """The module of the web application."""
    pytest.importorskip("fastapi")
    pytest.importorskip("uvicorn")
    spec = importlib.util.spec_from_file_location("web_app", EXAMPLES / "web_app.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@contextlib.asynccontextmanager
async def served(app: Any) -> AsyncIterator[int]:
    """Serves an application on a free port of this machine."""
    import uvicorn

    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error", lifespan="off"))
    serving = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    try:
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        await serving


async def get(port: int, path: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Asks as a browser does."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n".encode())
    await writer.drain()
    return reader, writer


async def told(reader: asyncio.StreamReader) -> list[tuple[str, Any]]:
    """The server-sent events of a whole answer."""
    text = (await reader.readuntil(b"0\r\n\r\n")).decode()
    events = []
    for line in text.replace("\r\n", "\n").splitlines():
        if line.startswith("event: "):
            events.append([line.removeprefix("event: "), None])
        elif line.startswith("data: "):
            events[-1][1] = json.loads(line.removeprefix("data: "))
    return [(kind, data) for kind, data in events]


def test_the_web_application_streams_an_answer() -> None:
    module = web_app()

    async def main() -> None:
        async with served(module.app) as port:
            reader, writer = await get(port, "/")
            page = await reader.readuntil(b"</html>")
            assert b"text_discarded" in page
            writer.close()
            reader, writer = await get(port, "/ask?message=What%20time%20is%20it%20in%20%22Oslo%22%3F")
            events = await told(reader)
            writer.close()
            kinds = [kind for kind, _ in events]
            assert kinds[0] == "run_started"
            assert kinds[-1] == "finished"
            assert "tool_call_started" in kinds
            assert "12:00 in Oslo" in "".join(data["text"] for kind, data in events if kind == "text_delta")

    run(main())


def test_an_error_after_the_first_byte_is_an_event() -> None:
    module = web_app()
    model = ScriptedProvider([{"text": "half an answer", "error": {"kind": "server"}, "fail_after_chunks": 1}])

    async def main() -> None:
        async with served(module.make_app(Agent(provider=model))) as port:
            reader, writer = await get(port, "/ask?message=Hi")
            events = await told(reader)
            writer.close()
            assert events[-1][0] == "failed"
            assert events[-1][1]["code"] == "provider"

    run(main())


def test_a_browser_that_goes_away_ends_the_run() -> None:
    module = web_app()

    async def main() -> None:
        started, cancelled = asyncio.Event(), asyncio.Event()

        @tool
        async def work() -> str:
            """Works for long."""
            started.set()
            try:
                await asyncio.sleep(60)
            finally:
                cancelled.set()
            return "never"

        model = ScriptedProvider([{"calls": [{"name": "work"}]}])
        async with served(module.make_app(Agent(provider=model, tools=[work]))) as port:
            _reader, writer = await get(port, "/ask?message=Hi")
            await asyncio.wait_for(started.wait(), 10)
            writer.transport.abort()
            await asyncio.wait_for(cancelled.wait(), 10)

    asyncio.run(main())


def test_silence_is_filled_with_heartbeats() -> None:
    module = web_app()
    module.HEARTBEAT = 0.05
    model = ScriptedProvider([{"text": "late", "latency_ms": 400}])

    async def main() -> str:
        seen = ""
        async for text in module.events(Agent(provider=model), "Hi"):
            seen += text
        return seen

    seen = run(main())
    assert seen.count(": still here") >= 2
    assert seen.index("still here") < seen.index("late")
    assert "event: finished" in seen
