"""Functions as tools: how they are called, what steers the loop, what the model is told."""

from __future__ import annotations

import math
from typing import Any

from cheliped import Agent, ScriptedProvider, ToolFailed, tool
from cheliped._schema import describe


def test_positional_parameters_are_called_by_place() -> None:
    def late(a: int = 1, b: int = 2, /, c: int = 3) -> tuple[int, ...]:
        return a, b, c

    described = describe(late)
    for arguments, expected in [({}, (1, 2, 3)), ({"b": 5}, (1, 5, 3)), ({"a": 4, "c": 6}, (4, 2, 6))]:
        args, kwargs = described.bind(described.decode(arguments))
        assert late(*args, **kwargs) == expected


def test_a_decorated_method_is_a_tool_of_its_instance() -> None:
    class Shop:
        def __init__(self, name: str) -> None:
            self.name = name

        @tool
        def greet(self, visitor: str) -> str:
            """Greets a visitor."""
            return f"{self.name} greets {visitor}"

    shop = Shop("Ada's")
    assert shop.greet("Bo") == "Ada's greets Bo"
    model = ScriptedProvider([{"calls": [{"name": "greet", "arguments": {"visitor": "Cy"}}]}, "done"])
    Agent(
        provider=model,
        tools=[
            shop.greet,
        ],
    ).send_sync("go")
    assert model.requests()[1]["last"] == "Ada's greets Cy"


def test_values_that_do_not_fit_are_for_the_model_to_mend() -> None:
    import datetime

    @tool
    def remind(day: datetime.date) -> str:
        """Reminds."""
        return day.isoformat()

    model = ScriptedProvider([{"calls": [{"name": "remind", "arguments": {"day": "soon"}}]}, "sorry"])
    assert Agent(provider=model, tools=[remind]).send_sync("go").text == "sorry"
    assert "day: expected a date like" in model.requests()[1]["last"]


def test_a_refused_value_is_an_error_result_and_the_run_goes_on() -> None:
    for value in (object(), math.nan, {1, object()}):
        model = ScriptedProvider([{"calls": [{"name": "work"}]}, "went on"])

        made = tool(name="work")(giving(value))
        assert Agent(provider=model, tools=[made]).send_sync("go").text == "went on"
        assert "a result that cannot be used" in model.requests()[1]["last"]


def giving(value: Any) -> Any:
    def work() -> Any:
        return value

    return work


def test_steering_exceptions_reach_the_model_and_others_do_not() -> None:
    for raised, told, hidden in [
        (ToolFailed("no such order"), "no such order", "zzz"),
        (ValueError("secret path /etc"), "the tool failed", "secret"),
    ]:
        model = ScriptedProvider([{"calls": [{"name": "work"}]}, "went on"])

        def plain() -> Any:
            raise raised

        Agent(provider=model, tools=[tool(name="work")(plain)]).send_sync("go")
        assert told in model.requests()[1]["last"]
        assert hidden not in model.requests()[1]["last"]
