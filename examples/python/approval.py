"""Approval: somebody is asked before anything changes, and sees exactly what will run."""

from cheliped import Agent, AllowWith, ApprovalRequest, Deny, ScriptedProvider, tool


@tool(mutating=True)
def pay(to: str, amount: float) -> str:
    """Pays somebody."""
    return f"paid {amount} to {to}"


async def ask(request: ApprovalRequest) -> bool | Deny | AllowWith:
    """A person would be asked here; there is no time limit."""
    print(f"may {request.tool} run with {request.arguments}?")
    if request.arguments["to"] != "landlord":
        return Deny("nobody else is paid today")
    if request.arguments["amount"] > 1000:
        return AllowWith({**request.arguments, "amount": 1000})
    return True


model = ScriptedProvider(
    [
        {"calls": [{"name": "pay", "arguments": {"to": "stranger", "amount": 5}}]},
        {"calls": [{"name": "pay", "arguments": {"to": "landlord", "amount": 1200}}]},
        "The landlord got 1000, the stranger nothing.",
    ]
)
agent = Agent(provider=model, tools=[pay], approval=ask)
print(agent.send_sync("Pay the bills").text)
for request in model.requests()[1:]:
    print("the model was told:", request["last"])
