"""Streaming: every event of a run, and the answer as plain text."""

import asyncio

from cheliped import Agent, ScriptedProvider, TextDelta, TextDiscarded, ToolCallFinished, ToolCallStarted, tool


@tool(mutating=False)
async def clock(zone: str) -> str:
    """Tells the time."""
    return f"12:00 in {zone}"


model = ScriptedProvider(
    {
        "steps": [
            {"text": "Let me look.", "calls": [{"name": "clock", "arguments": {"zone": "Oslo"}}]},
            "It is noon in Oslo.",
        ],
        "by_turn": True,
    }
)
agent = Agent(provider=model, tools=[clock])


async def main() -> None:
    # Leaving the block ends a run that is not read to its end.
    async with agent.stream("What time is it in Oslo?") as stream:
        async for event in stream:
            match event:
                case TextDelta(text):
                    print(text, end="", flush=True)
                case TextDiscarded():
                    print("  (that was not the answer)")
                case ToolCallStarted(name, arguments):
                    print(f"\n{name} is called with {arguments}")
                case ToolCallFinished(name, result):
                    print(f"{name} gave {result}")
    print("\ntokens:", stream.response.usage)

    # The same as text that is never taken back.
    async for text in agent.stream("And now?").text():
        print(text, end="")
    print()


asyncio.run(main())
