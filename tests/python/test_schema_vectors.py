"""Every function of the schema vectors gives exactly its schema, and reads arguments as it must."""

from __future__ import annotations

import json
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from cheliped import Agent, ConfigurationError, ScriptedProvider, tool
from cheliped._schema import describe

FILE = Path(__file__).parents[1] / "vectors" / "schemas" / "python.json"
CASES = json.loads(FILE.read_text("utf-8"))["cases"]


def function_of(case: dict[str, Any]) -> Any:
    """The function that the vector's source defines."""
    version = tuple(int(part) for part in case.get("python", "3.10").split("."))
    if sys.version_info < version:
        pytest.skip(f"needs Python {case['python']}")
    if "pydantic" in case["source"]:
        pytest.importorskip("pydantic")
    module = types.ModuleType("vector")
    sys.modules["vector"] = module
    exec(compile(case["source"], "vector", "exec", dont_inherit=True), module.__dict__)
    return module.__dict__["tool"]


def test_there_are_enough() -> None:
    assert len(CASES) >= 55
    assert len({case["name"] for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_function(case: dict[str, Any]) -> None:
    function = function_of(case)
    if "error" in case:
        with pytest.raises(ConfigurationError) as refused:
            tool(function)
        assert case["error"] in str(refused.value)
        return
    described = describe(function)
    assert described.schema == case["schema"]
    assert (described.name, described.description) == (case["function"], case["description"])
    assert described.context == case.get("context")
    # The engine takes the schema as it is.
    Agent(provider=ScriptedProvider(["x"]), tools=[tool(function)])
    for accepted in case["accepts"]:
        values = described.decode(accepted["arguments"])
        shown = {name: sorted(v) if isinstance(v, (set, frozenset)) else v for name, v in values.items()}
        assert repr(shown) == accepted["values"]
    for refused_arguments in case.get("refuses", []):
        with pytest.raises(ValueError) as wrong:
            described.decode(refused_arguments["arguments"])
        assert refused_arguments["message"] in str(wrong.value)


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
    assert "day: expected a date in ISO 8601" in model.requests()[1]["last"]
