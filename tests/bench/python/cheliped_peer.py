"""The Python package, as a user would set it up."""

from __future__ import annotations

from typing import Any

from driver import ANSWER, MESSAGE, SYSTEM

from cheliped import Agent, Conversation, ProviderConfig, TextDelta, tool


@tool(mutating=False)
async def add(a: int, b: int) -> str:
    """Adds two numbers."""
    return str(a + b)


def look(index: int) -> Any:
    """One of the tools that are only there."""

    @tool(name=f"look_{index}", mutating=False)
    async def work(path: str, limit: int = 10, deep: bool = False) -> str:
        """Looks something up."""
        return path

    return work


class Peer:
    """Makes agents; tools are made once."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.tools = [add, *(look(index) for index in range(1, 10))]

    def agent(self, model: str, tools: int) -> Agent:
        """An agent of so many tools."""
        provider = ProviderConfig(provider="custom", base_url=self.url, model=model, api_key="no key")
        return Agent(provider=provider, tools=self.tools[:tools], system_prompt=SYSTEM)

    async def run(self, agent: Agent) -> None:
        """One run."""
        assert (await agent.send(MESSAGE)).text == ANSWER

    async def stream(self, agent: Agent) -> tuple[str, int]:
        """The text and the number of pieces."""
        pieces = []
        async with agent.stream(MESSAGE) as stream:
            async for event in stream:
                if isinstance(event, TextDelta):
                    pieces.append(event.text)
        return "".join(pieces), len(pieces)

    def conversation(self, texts: list[str]) -> Conversation:
        """A conversation of these texts."""
        roles = ("user", "assistant")
        history = [{"role": roles[index % 2], "content": text} for index, text in enumerate(texts)]
        return Conversation.from_dict({"history": history})
