"""Testing an agent without a model: say what the model says, then look at what it was asked."""

import asyncio

from cheliped import Agent, ScriptedProvider, tool


@tool
def lookup(customer: str) -> str:
    """Looks up a customer."""
    return f"{customer} has two open orders"


def make_agent(provider: ScriptedProvider) -> Agent:
    """The agent of the application; tests give it another model."""
    return Agent(provider=provider, tools=[lookup], system_prompt="You help the support team.")


def test_the_customer_is_looked_up_before_answering() -> None:
    model = ScriptedProvider([{"calls": [{"name": "lookup", "arguments": {"customer": "Ada"}}]}, "Two orders."])
    response = make_agent(model).send_sync("How many orders does Ada have?")
    assert response.tools_called == ("lookup",)
    assert model.requests()[1]["last"] == "Ada has two open orders"
    assert "support team" in model.requests()[0]["system"]


def test_a_busy_model_is_an_error_that_can_be_retried() -> None:
    busy = ScriptedProvider([{"error": {"kind": "overloaded"}}])
    from cheliped import ProviderError

    try:
        asyncio.run(make_agent(busy).send("Hi"))
    except ProviderError as error:
        assert (error.kind, error.retryable) == ("overloaded", True)
    else:
        raise AssertionError("the error was lost")


if __name__ == "__main__":
    test_the_customer_is_looked_up_before_answering()
    test_a_busy_model_is_an_error_that_can_be_retried()
    print("2 tests passed")
