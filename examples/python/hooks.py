"""Hooks see what happens; guards and interceptors may stop it."""

from cheliped import Agent, Block, Guard, GuardError, Interceptor, Scanned, ScriptedProvider, tool
from cheliped.payloads import ToolAfter


@tool(mutating=True)
def refund(order: int, amount: float) -> str:
    """Refunds an order."""
    return f"refunded {amount} for order {order}"


def no_shouting(piece: Scanned) -> str | None:
    """Gives a reason to refuse the text, or nothing."""
    return "please do not shout" if piece.text.isupper() else None


class SmallRefundsOnly(Interceptor):
    """Stops what is too large, before anybody is asked."""

    def before_tool(self, call: dict) -> Block | None:
        if call["name"] == "refund" and call["arguments"]["amount"] > 50:
            return Block("refunds over 50 need a person")
        return None


model = ScriptedProvider(
    {
        "steps": [
            {"calls": [{"name": "refund", "arguments": {"order": 17, "amount": 80}}]},
            {"calls": [{"name": "refund", "arguments": {"order": 17, "amount": 20}}]},
            "I refunded 20.",
        ],
        "by_turn": True,
    }
)
builder = Agent.builder().provider(model).tool(refund)
builder.guard(Guard(no_shouting, typed_only=True)).interceptor(SmallRefundsOnly())


@builder.on("tool.after")
def report(event: ToolAfter) -> None:
    print(f"{event['tool_name']}: {event['outcome']}: {event['tool_result']}")


agent = builder.build()
print(agent.send_sync("Refund order 17").text)
try:
    agent.send_sync("REFUND IT ALL")
except GuardError as error:
    print(f"{error.guard} refused: {error.reason}")
