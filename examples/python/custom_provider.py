"""A model of your own: anything that turns a request into a reply."""

import re
from typing import Any

from cheliped import Agent, Provider, tool


class Calculator(Provider):
    """Calls the tool for every sum in the message, then says what came of it."""

    name = "calculator"
    model = "rules-1"

    async def send(self, request: dict[str, Any]) -> dict[str, Any] | str:
        last = request["messages"][-1]
        if last["role"] == "tool":
            return "The sums are " + ", ".join(result["content"] for result in last["results"]) + "."
        sums = re.findall(r"(\d+) \+ (\d+)", last["content"])
        return {"calls": [{"name": "add", "arguments": {"a": int(a), "b": int(b)}} for a, b in sums]}


@tool(mutating=False)
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


agent = Agent(provider=Calculator(), tools=[add])
print(agent.send_sync("What is 2 + 3, and 20 + 22?").text)
