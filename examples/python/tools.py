"""Tools: types become a schema, sync and async functions, values of the application, failures that the model can mend."""

import asyncio
import datetime
from dataclasses import dataclass
from typing import Annotated, Literal

from cheliped import Agent, RunContext, ScriptedProvider, ToolRetry, tool


@dataclass
class Shop:
    """What the application's tools work with."""

    orders: dict[int, str]


@tool(mutating=False)
def order(ctx: RunContext[Shop], number: Annotated[int, "printed on the receipt"]) -> str:
    """Looks up an order."""
    if number not in ctx.deps.orders:
        raise ToolRetry(f"there is no order {number}; there are {sorted(ctx.deps.orders)}")
    return ctx.deps.orders[number]


@tool(mutating=True)
async def book(day: datetime.date, slot: Literal["morning", "evening"] = "morning") -> dict[str, object]:
    """Books a delivery."""
    await asyncio.sleep(0)
    return {"booked": day, "slot": slot}


# What a model would say, so that this runs without one.
model = ScriptedProvider(
    [
        {"calls": [{"name": "order", "arguments": {"number": 71}}]},
        {"calls": [{"name": "order", "arguments": {"number": 17}}]},
        {"calls": [{"name": "book", "arguments": {"day": "2026-12-24"}}]},
        "Order 17 is packed; it comes on the morning of the 24th.",
    ]
)
agent = Agent(provider=model, tools=[order, book])
response = agent.send_sync("When does order 71 come?", deps=Shop(orders={17: "packed"}))
print(response.text)
for request in model.requests()[1:]:
    print("the model was told:", request["last"])
