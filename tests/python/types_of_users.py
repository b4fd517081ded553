"""What type checkers must see in the code of users; checked, not run."""

from __future__ import annotations

from typing import assert_type

from cheliped import Agent, AgentResponse, RunContext, ScriptedProvider, StreamEvent, TextDelta, tool
from cheliped.payloads import GuardBlocked


@tool
def add(a: int, b: int) -> int:
    """Adds."""
    return a + b


@tool(mutating=True)
async def greet(ctx: RunContext[str], name: str) -> str:
    """Greets."""
    return ctx.deps + name


def report(event: GuardBlocked) -> None:
    """Takes the payload of one event."""
    reason: str = event["reason"]
    print(reason)


async def main() -> None:
    """Uses everything."""
    assert_type(add(1, 2), int)
    agent = Agent(
        provider=ScriptedProvider(["x"]),
        tools=[add, greet],
        hooks=[("guard.blocked", report)],
        guards=[lambda piece: "no" if piece.text else None],
        approval=lambda request: request.tool == "add",
        max_iterations=3,
    )
    response = await agent.send("Hi", deps="Hello ")
    assert_type(response, AgentResponse)
    async with agent.stream("Hi") as stream:
        async for event in stream:
            assert_type(event, StreamEvent)
            match event:
                case TextDelta(text):
                    assert_type(text, str)
                case _:
                    pass
    assert_type(stream.response.text, str)
