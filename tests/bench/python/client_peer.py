"""What a programmer writes without an engine: the client library of the API and a loop."""

from __future__ import annotations

import json
from typing import Any

from driver import ANSWER, MESSAGE, SYSTEM
from openai import AsyncOpenAI

NUMBER = {"type": "integer"}
ADD = {"type": "object", "properties": {"a": NUMBER, "b": NUMBER}, "required": ["a", "b"]}


class Peer:
    """Holds the client."""

    def __init__(self, url: str) -> None:
        self.client = AsyncOpenAI(base_url=url + "/v1", api_key="no key", max_retries=0)

    def agent(self, model: str, tools: int) -> tuple[str, list[dict[str, Any]]]:
        """An agent is a model and descriptions of tools."""
        names = ["add", *(f"look_{index}" for index in range(1, tools))]
        return model, [
            {"type": "function", "function": {"name": name, "description": "Adds.", "parameters": ADD}} for name in names
        ]

    async def run(self, agent: Any) -> None:
        """One run."""
        model, tools = agent
        messages: list[Any] = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": MESSAGE}]
        while True:
            reply = await self.client.chat.completions.create(model=model, messages=messages, tools=tools)
            message = reply.choices[0].message
            if not message.tool_calls:
                assert message.content == ANSWER
                return
            messages.append(message.model_dump(exclude_none=True))
            for call in message.tool_calls:
                given = json.loads(call.function.arguments)
                messages.append({"role": "tool", "tool_call_id": call.id, "content": str(given["a"] + given["b"])})

    async def stream(self, agent: Any) -> tuple[str, int]:
        """The text and the number of pieces."""
        messages: list[Any] = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": MESSAGE}]
        chunks = await self.client.chat.completions.create(model=agent[0], messages=messages, stream=True)
        pieces = [c.choices[0].delta.content async for c in chunks if c.choices and c.choices[0].delta.content]
        return "".join(pieces), len(pieces)

    def conversation(self, texts: list[str]) -> list[dict[str, str]]:
        """A conversation of these texts."""
        roles = ("user", "assistant")
        return [{"role": roles[index % 2], "content": text} for index, text in enumerate(texts)]
