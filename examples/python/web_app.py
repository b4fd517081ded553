"""A web application that streams an answer to a browser. Run it with `uvicorn web_app:app`.

Events go to the page as server-sent events. A browser that goes away ends the run with everything that it started. An
error after the first byte is an event, because the status is sent by then.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

from fastapi import FastAPI
from fastapi.responses import HTMLResponse, StreamingResponse

from cheliped import Agent, ChelipedError, tool

HEARTBEAT = 15
"""Seconds of silence after which a comment keeps the connection alive."""
PAGE = Path(__file__).parents[1] / "web" / "page.html"


@tool(mutating=False)
async def clock(city: str) -> str:
    """Tells the time in a city.

    Args:
        city: The city to look up.
    """
    await asyncio.sleep(0.1)
    return f"It is 12:00 in {city}."


def make_app(agent: Agent) -> FastAPI:
    """The application around an agent."""
    app = FastAPI()

    @app.get("/")
    def page() -> HTMLResponse:
        return HTMLResponse(PAGE.read_text("utf-8"))

    @app.get("/ask")
    async def ask(message: str) -> StreamingResponse:
        return StreamingResponse(events(agent, message), media_type="text/event-stream")

    return app


async def events(agent: Agent, message: str) -> AsyncIterator[str]:
    """The events of a run as server-sent events."""
    async with agent.stream(message) as stream:
        while True:
            try:
                event = await asyncio.wait_for(stream.__anext__(), HEARTBEAT)
            except asyncio.TimeoutError:
                yield ": still here\n\n"
            except StopAsyncIteration:
                return
            except ChelipedError as error:
                yield sent("failed", {"code": error.code, "message": error.message})
                return
            else:
                yield sent(event.type, event.to_dict())


def sent(kind: str, data: dict) -> str:
    """One server-sent event. JSON has no line breaks, so it fits in one line."""
    return f"event: {kind}\ndata: {json.dumps(data)}\n\n"


app = make_app(Agent(provider="offline", tools=[clock]))
