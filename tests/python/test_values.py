"""What tools may return, and what they may not."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import decimal
import enum
import json
import math
import pathlib
import uuid
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cheliped import Agent, Image, ScriptedProvider, Text, ToolFailed, tool
from cheliped._values import encode


class Colour(enum.Enum):
    RED = "red"


class Point(NamedTuple):
    x: int
    y: int


@dataclasses.dataclass
class Item:
    name: str
    price: decimal.Decimal


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("as it is", "as it is"),
        ("", ""),
        (None, "null"),
        (True, "true"),
        (7, "7"),
        (2**64 + 1, "18446744073709551617"),
        (-(2**200), str(-(2**200))),
        (1.5, "1.5"),
        (0.1, "0.1"),
        ({"a": [1, None], "b": {"c": "é"}}, '{"a":[1,null],"b":{"c":"é"}}'),
        ((1, 2), "[1,2]"),
        ({3, 1, 2}, "[1,2,3]"),
        (frozenset({"b", "a"}), '["a","b"]'),
        (collections.deque([1]), "[1]"),
        (decimal.Decimal("1.50"), '"1.50"'),
        (decimal.Decimal("0.1000000000000000000000000001"), '"0.1000000000000000000000000001"'),
        (datetime.datetime(2026, 1, 2, 3, 4, tzinfo=datetime.timezone.utc), '"2026-01-02T03:04:00+00:00"'),
        (datetime.date(2026, 1, 2), '"2026-01-02"'),
        (datetime.timedelta(minutes=1.5), "90.0"),
        (uuid.UUID(int=1), '"00000000-0000-0000-0000-000000000001"'),
        (pathlib.PurePosixPath("a/b"), '"a/b"'),
        (Colour.RED, '"red"'),
        (Point(1, 2), '{"x":1,"y":2}'),
        (Item("x", decimal.Decimal("2.0")), '{"name":"x","price":"2.0"}'),
        ([Item("x", decimal.Decimal(1))], '[{"name":"x","price":"1"}]'),
        ({Colour.RED: 1}, '{"red":1}'),
    ],
)
def test_sent(value: Any, text: str) -> None:
    assert encode(value) == text


def endless() -> Any:
    found: list[Any] = []
    found.append(found)
    return found


def deep() -> Any:
    value: Any = 1
    for _ in range(100_000):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (b"bytes", "return an Image"),
        ({"a": {"b": b"x"}}, "a.b: bytes"),
        (math.nan, "nan"),
        ([1, math.inf], "[1]: inf"),
        (decimal.Decimal("NaN"), "NaN"),
        ((n for n in range(3)), "generator"),
        (iter([1]), "list_iterator"),
        (print, "builtin_function"),
        (object(), "object"),
        (json, "module"),
        ({1: "x"}, "the key 1"),
        ({(1, 2): "x"}, "the key"),
        (1 + 2j, "complex"),
        ("\ud800", "surrogate"),
        ({"a": "\udfff"}, "a: the text holds a lone surrogate"),
        (endless(), "holds itself"),
        (deep(), "levels deep"),
        ([Text("x"), 1], "stands alone"),
        (Item, "type"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else value[:12],
)
def test_refused(value: Any, told: str) -> None:
    with pytest.raises((TypeError, ValueError)) as refused:
        encode(value)
    assert told in str(refused.value)


def test_parts_are_parts() -> None:
    assert encode(Text("x")) == [{"type": "text", "text": "x"}]
    assert encode([Text("x"), Image("image/png", b"\x00")]) == [
        {"type": "text", "text": "x"},
        {"type": "image", "media_type": "image/png", "data": {"base64": "AA=="}},
    ]


def test_a_refused_value_is_an_error_result_and_the_run_goes_on() -> None:
    for value in (b"x", math.nan, endless()):
        model = ScriptedProvider([{"calls": [{"name": "work"}]}, "went on"])

        def work(value: Any = None, *, given: Any = value) -> Any:
            return given

        made = tool(name="work")(lambda_free(value))
        assert Agent(provider=model, tools=[made]).send_sync("go").text == "went on"
        assert "a result that cannot be used" in model.requests()[1]["last"]


def lambda_free(value: Any) -> Any:
    def work() -> Any:
        return value

    return work


def test_steering_exceptions_reach_the_model_and_others_do_not() -> None:
    for raised, told, hidden in [
        (ToolFailed("no such order"), "no such order", "zzz"),
        (ValueError("secret path /etc"), "the tool failed", "secret"),
    ]:
        model = ScriptedProvider([{"calls": [{"name": "work"}]}, "went on"])

        def work(error: Exception = raised) -> Any:
            raise error

        def plain() -> Any:
            raise raised  # noqa: B023 - called before the next turn

        Agent(provider=model, tools=[tool(name="work")(plain)]).send_sync("go")
        assert told in model.requests()[1]["last"]
        assert hidden not in model.requests()[1]["last"]


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text('aé\u2028\n"\\'),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abé"), inner, max_size=4),
    max_leaves=20,
)


@given(JSON)
def test_json_data_comes_back_as_it_was(value: Any) -> None:
    text = encode(value)
    assert text == value if isinstance(value, str) else json.loads(str(text)) == value
