"""Options, errors and events are those of the engine's tables: none is missing, none is more."""

from __future__ import annotations

import inspect
import json
import typing
from pathlib import Path

import pytest

import cheliped
from cheliped import Agent, AgentBuilder, ChelipedError, _errors, _native, payloads
from cheliped._events import CLASSES

TABLES = json.loads((Path(__file__).parents[1] / "vectors" / "tables.json").read_text("utf-8"))


def test_the_file_is_what_the_engine_says() -> None:
    assert json.loads(_native.tables()) == TABLES


def test_every_error_has_its_class() -> None:
    assert {code: kind.__name__ for code, kind in _errors.CLASSES.items()} == {
        row["code"]: row["class"] for row in TABLES["errors"]
    }
    for row in TABLES["errors"]:
        kind = getattr(cheliped, row["class"])
        assert issubclass(kind, ChelipedError)
        assert kind.code == row["code"]
        assert row["class"] in cheliped.__all__


def test_every_option_is_a_parameter() -> None:
    options = [row["name"] for row in TABLES["options"]]
    parts = [row["name"] for row in TABLES["parts"]]
    of_agent = inspect.signature(Agent).parameters
    assert sorted(of_agent) == sorted(options + parts)
    assert all(parameter.kind is parameter.KEYWORD_ONLY for parameter in of_agent.values())
    of_builder = list(inspect.signature(AgentBuilder.options).parameters)[1:]
    assert of_builder == [*options, "env"]
    for name in options:
        # A default of its own would be a second one.
        assert of_agent[name].default is None
        assert f"\n    {name}: " in (inspect.getdoc(Agent) or "")


def test_every_event_has_a_payload() -> None:
    names = [row["name"] for row in TABLES["events"]]
    assert list(typing.get_args(payloads.EventName)) == names
    for row in TABLES["events"]:
        name = "".join(word.title() for word in row["name"].replace(".", "_").split("_"))
        keys = typing.get_type_hints(getattr(payloads, name)).keys()
        assert {key["name"] for key in row["keys"]} <= keys


def test_every_event_of_a_stream_has_its_class() -> None:
    streamed = {row["stream"] for row in TABLES["events"] if row["stream"]}
    assert streamed == CLASSES.keys() | {"failed"}
    assert set(typing.get_args(cheliped.StreamEvent)) == set(CLASSES.values())


def test_everything_public_is_documented() -> None:
    for name in cheliped.__all__:
        assert getattr(cheliped, name).__doc__ or name == "StreamEvent", name


@pytest.mark.parametrize("row", TABLES["options"], ids=lambda row: row["name"])
def test_every_option_reaches_the_engine(row: dict[str, typing.Any]) -> None:
    wrong = [1, 2] if row["kind"] != "names" else 7
    with pytest.raises(cheliped.ConfigurationError, match=row["name"]):
        Agent(provider="offline", **{row["name"]: wrong} if row["kind"] != "names" else {row["name"]: [7]})
