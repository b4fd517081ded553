"""What tools return: sent exactly, or refused with a reason. And arguments: decoded, or refused as `ValueError`."""

from __future__ import annotations

import asyncio
import dataclasses
import enum
import importlib.util
import json
import sys
import types
from collections import OrderedDict, deque, namedtuple
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from pathlib import PurePosixPath
from typing import Any, Literal, NamedTuple, Optional, Union
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cheliped._content import File, Image, Text
from cheliped._schema import describe
from cheliped._times import read_timedelta, write_timedelta
from cheliped._values import MAX_DEPTH, MAX_VALUES, encode

needs_pydantic = pytest.mark.skipif(importlib.util.find_spec("pydantic") is None, reason="needs pydantic")
SOME_UUID = UUID("123e4567-e89b-12d3-a456-426614174000")


class Color(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    LOW = 1


class Point(NamedTuple):
    x: float
    y: float = 0.0


@dataclasses.dataclass
class Row:
    name: str
    children: list[Row] = dataclasses.field(default_factory=list)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("done", "done"),
        ("", ""),
        ('say "é"\n', 'say "é"\n'),
        (None, "null"),
        (True, "true"),
        (3, "3"),
        (10**30, "1" + "0" * 30),
        (0.1, "0.1"),
        (1e300, "1e+300"),
        (["a", 1, None, [True]], '["a",1,null,[true]]'),
        (("a", 1), '["a",1]'),
        ({"é": {"b": [1.5]}}, '{"é":{"b":[1.5]}}'),
        ({}, "{}"),
        ([], "[]"),
        (set(), "[]"),
        ({3, 1, 2}, "[1,2,3]"),
        (frozenset({"b", "a"}), '["a","b"]'),
        ({"a", 1}, '["a",1]'),
        ({Decimal("10"), Decimal("9")}, '["9","10"]'),
        ({frozenset({2}), frozenset({1, 3}), frozenset({1})}, "[[1,3],[1],[2]]"),
        ({date(2025, 2, 1), date(2025, 1, 1)}, '["2025-01-01","2025-02-01"]'),
        (deque([1, 2]), "[1,2]"),
        (range(3), "[0,1,2]"),
        (OrderedDict(b=1, a=2), '{"b":1,"a":2}'),
        (types.MappingProxyType({"a": 1}), '{"a":1}'),
        ({1: "a", date(2025, 1, 1): "b", Color.RED: "c"}, '{"1":"a","2025-01-01":"b","red":"c"}'),
        (Decimal("0.10"), "0.10"),
        ([Decimal("12345678901234567890.10")], '["12345678901234567890.10"]'),
        (datetime(2025, 1, 31, 9, 30, tzinfo=timezone.utc), "2025-01-31T09:30:00+00:00"),
        ([date(2025, 1, 31), time(9, 30)], '["2025-01-31","09:30:00"]'),
        ([timedelta(days=1, seconds=90), timedelta(0)], '["P1DT1M30S","PT0S"]'),
        (SOME_UUID, str(SOME_UUID)),
        ([PurePosixPath("a/b")], '["a/b"]'),
        (Color.RED, "red"),
        ([Color.RED, Level.LOW], '["red",1]'),
        (Point(1.0), '{"x":1.0,"y":0.0}'),
        (namedtuple("Pair", "a b")(1, (2,)), '{"a":1,"b":[2]}'),
        (Row("a", [Row("b")]), '{"name":"a","children":[{"name":"b","children":[]}]}'),
        (Text("hi"), [{"type": "text", "text": "hi"}]),
        (
            ["see", Image("image/png", b"\x01\x02"), File("text/csv", "a.csv", "https://example.org/a.csv")],
            [
                {"type": "text", "text": "see"},
                {"type": "image", "media_type": "image/png", "data": {"base64": "AQI="}},
                {
                    "type": "file",
                    "media_type": "text/csv",
                    "name": "a.csv",
                    "data": {"url": "https://example.org/a.csv"},
                },
            ],
        ),
    ],
    ids=repr,
)
def test_a_value_is_sent_exactly(value: object, text: object) -> None:
    assert encode(value) == text


def test_an_integer_of_any_size_keeps_its_digits() -> None:
    digits = "7" * 6000
    limit = sys.get_int_max_str_digits() if hasattr(sys, "get_int_max_str_digits") else None
    number = int(Decimal(digits))
    assert encode({"n": [number, -number]}) == f'{{"n":[{digits},-{digits}]}}'
    assert encode({number: 1}) == f'{{"{digits}":1}}'
    if limit is not None:
        assert sys.get_int_max_str_digits() == limit


async def _coroutine() -> None: ...


def _circle() -> list[object]:
    circle: list[object] = [1]
    circle.append({"back": circle})
    return circle


def _row_circle() -> Row:
    row = Row("a")
    row.children.append(row)
    return row


def _doubling() -> list[Any]:
    value: list[Any] = []
    for _ in range(60):
        value = [value, value]
    return value


def _deep(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels - 1):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "kind", "parts"),
    [
        (float("nan"), ValueError, ["nan is no JSON number"]),
        ({"a": [1, float("-inf")]}, ValueError, ["-inf is no JSON number", "at a[1]"]),
        (Decimal("NaN"), ValueError, ["Decimal NaN"]),
        ([Decimal("Infinity")], ValueError, ["Decimal Infinity", "at [0]"]),
        ({"a": bytearray(b"x")}, TypeError, ["bytearray", "at a"]),
        ([memoryview(b"x")], TypeError, ["memoryview", "at [0]"]),
        ((n for n in [1]), TypeError, ["generator", "list("]),
        ({"rows": iter([1])}, TypeError, ["list_iterator", "at rows"]),
        ({"a": 1}.keys(), TypeError, ["dict_keys", "list("]),
        (encode, TypeError, ["function", "call it"]),
        (json, TypeError, ["module"]),
        (object(), TypeError, ["object"]),
        ([{"x y": object()}], TypeError, ["object", "at [0]['x y']"]),
        (Row, TypeError, ["the class Row", "instance"]),
        (3j, TypeError, ["complex"]),
        (_circle(), ValueError, ["circular", "at [1].back"]),
        (_row_circle(), ValueError, ["circular", "children[0]"]),
        (_deep(MAX_DEPTH + 1), ValueError, ["nested deeper than 100 levels"]),
        (_deep(100_000), ValueError, ["nested deeper than 100 levels"]),
        (_doubling(), ValueError, ["more than 1000000 values"]),
        ({"\ud800": 1}, ValueError, ["half a surrogate pair"]),
        ({1: "a", "1": "b"}, ValueError, ["two keys are both written '1'"]),
        ({(1, 2): "a"}, TypeError, ["key of type tuple"]),
        ({None: "a"}, TypeError, ["key of type NoneType"]),
        ({True: "a"}, TypeError, ["key of type bool"]),
        ({1.5: "a"}, TypeError, ["key of type float"]),
        ([Image("image/png", b"x"), {"a": 1}], TypeError, ["dict at [1]"]),
        ({"picture": Image("image/png", b"x")}, TypeError, ["Image", "list of parts", "at picture"]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_cannot_be_sent_is_refused_with_its_place(value: object, kind: type[Exception], parts: list[str]) -> None:
    with pytest.raises(kind) as refused:
        encode(value)
    for part in parts:
        assert part in str(refused.value)


def test_the_deepest_and_the_largest_that_are_sent() -> None:
    assert encode(_deep(MAX_DEPTH)) == "[" * MAX_DEPTH + "]" * MAX_DEPTH
    assert len(encode([0] * MAX_VALUES)) == 2 * MAX_VALUES + 1
    with pytest.raises(ValueError, match="more than"):
        encode([0] * (MAX_VALUES + 1))


def test_a_value_may_stand_twice_where_it_is_no_circle() -> None:
    row = {"a": 1}
    assert encode([row, row]) == '[{"a":1},{"a":1}]'


def test_a_coroutine_is_refused_with_a_hint() -> None:
    coroutine = _coroutine()
    with pytest.raises(TypeError, match="never awaited"):
        encode(coroutine)
    asyncio.run(coroutine)


@needs_pydantic
def test_a_pydantic_model_is_an_object() -> None:
    import pydantic

    class Address(pydantic.BaseModel):
        street: str

    class Person(pydantic.BaseModel):
        name: str
        wealth: Decimal
        number: int
        born: date
        at: Optional[Address] = None  # noqa: UP045

    person = Person(name="é", wealth=Decimal("0.10"), number=10**30, born=date(2025, 1, 31), at=Address(street="x"))
    assert encode([person]) == (
        f'[{{"name":"é","wealth":"0.10","number":{10**30},"born":"2025-01-31","at":{{"street":"x"}}}}]'
    )


@pytest.mark.parametrize(
    ("make", "kind", "part"),
    [
        (lambda: Image("png", b"x"), ValueError, "media_type must look like"),
        (lambda: Image("image/png", b""), ValueError, "is empty"),
        (lambda: Image("image/png", "aGVsbG8="), ValueError, "must be an address"),
        (lambda: Image("image/png", 3), TypeError, "got int"),
        (lambda: File("text/csv", "", b"x"), ValueError, "needs a name"),
        (lambda: Text(3), TypeError, "must be text"),
        (lambda: Text("\ud800"), ValueError, "half a surrogate pair"),
    ],
)
def test_a_part_that_cannot_be_right_is_refused(make: Any, kind: type[Exception], part: str) -> None:
    with pytest.raises(kind, match=part):
        make()


def test_a_part_does_not_show_its_bytes_or_the_query_of_its_address() -> None:
    assert repr(Image("image/png", bytearray(b"secret"))) == "Image(media_type='image/png', data=<6 bytes>)"
    assert "token" not in repr(File("a/b", "n", "https://example.org/x?token=1"))


JSON_VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner, max_size=5)
    ),
    max_leaves=30,
)


@given(JSON_VALUES)
def test_json_values_are_written_as_json_writes_them(value: Any) -> None:
    if isinstance(value, str):
        assert encode(value) == value
    else:
        assert encode(value) == json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


@given(st.timedeltas())
def test_durations_are_read_as_they_were_written(length: timedelta) -> None:
    assert read_timedelta(write_timedelta(length)) == length


@given(st.datetimes(timezones=st.none() | st.just(timezone.utc)), st.dates(), st.times(), st.decimals(allow_nan=False))
def test_dates_and_decimals_come_back_as_they_were_sent(at: datetime, day: date, clock: time, number: Decimal) -> None:
    def tool(at: datetime, day: date, clock: time, number: Decimal) -> None: ...

    tool.__annotations__ = {"at": datetime, "day": date, "clock": time, "number": Decimal}
    if not number.is_finite() or abs(number.adjusted()) > 900:
        number = Decimal("0.10")
    sent = {"at": at, "day": day, "clock": clock, "number": number}
    text = encode(sent)
    assert isinstance(text, str)
    back = describe(tool).decode(json.loads(text))
    assert back == sent
    assert str(back["number"]) == str(number)


@dataclasses.dataclass
class Filter:
    field: str
    value: Union[int, str, None] = None  # noqa: UP007
    inner: Optional[list[Filter]] = None  # noqa: UP045


def _everything(
    a: int,
    b: float,
    c: list[Filter],
    d: dict[UUID, Decimal],
    e: set[Union[int, bool]],  # noqa: UP007
    f: Literal["x", 1, None],
    g: tuple[datetime, timedelta],
    h: Union[Filter, list[Color], PurePosixPath],  # noqa: UP007
    i: set[Any],
) -> None: ...


_DESCRIBED = describe(_everything)
_NAMES = st.sampled_from(["field", "value", "inner", "x", str(SOME_UUID)])
_WILD: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["red", "P1D", "2025-01-31T09:30:00Z", "1.5", "x", str(SOME_UUID), 10**400]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=3),
    max_leaves=20,
)


@given(st.fixed_dictionaries(dict.fromkeys("abcdefghi", _WILD)) | _WILD)
def test_arguments_are_decoded_or_refused_as_value_error(arguments: Any) -> None:
    try:
        _DESCRIBED.decode(arguments)
    except ValueError as error:
        assert str(error)


@pytest.mark.parametrize("name", list("abcdefghi"))
@given(value=_WILD)
def test_one_parameter_is_decoded_or_refused_as_value_error(name: str, value: Any) -> None:
    good: dict[str, Any] = {
        "a": 1,
        "b": 1.5,
        "c": [{"field": "x"}],
        "d": {str(SOME_UUID): "1.50"},
        "e": [1],
        "f": "x",
        "g": ["2025-01-31T09:30:00Z", "PT1S"],
        "h": ["red"],
        "i": [1, "x"],
    }
    assert _DESCRIBED.decode(dict(good))["h"] == [Color.RED]
    try:
        _DESCRIBED.decode({**good, name: value})
    except ValueError as error:
        assert str(error).startswith(name)


def test_arguments_that_are_nested_without_end_are_refused() -> None:
    value: Any = {"field": "x"}
    for _ in range(100_000):
        value = {"field": "x", "inner": [value]}

    def tool(filter: Filter) -> None: ...

    tool.__annotations__ = {"filter": Filter}
    with pytest.raises(ValueError, match="nested too deeply"):
        describe(tool).decode({"filter": value})
    while value:  # Freeing it all at once would exhaust the stack of older versions.
        value = value.get("inner", [None])[0]


def test_calls_do_not_share_a_default_that_can_be_changed() -> None:
    def tool(tags: list[str] = []) -> None: ...  # noqa: B006

    tool.__annotations__ = {"tags": list[str]}
    described = describe(tool)
    first, second = described.decode({}), described.decode({})
    first["tags"].append("x")
    assert second == {"tags": []}
    assert described.decode({}) == {"tags": []}


def test_positional_only_parameters_are_bound_by_place() -> None:
    def tool(a: int, b: int = 2, c: int = 3, /, d: int = 4, *, e: int = 5) -> tuple[int, ...]:
        return a, b, c, d, e

    tool.__annotations__ = dict.fromkeys("abcde", int)
    described = describe(tool)
    for arguments, expected in [
        ({"a": 1}, (1, 2, 3, 4, 5)),
        ({"a": 1, "c": 9}, (1, 2, 9, 4, 5)),
        ({"a": 1, "b": 8, "d": 7, "e": 6}, (1, 8, 3, 7, 6)),
    ]:
        positional, named = described.bind(described.decode(arguments))
        assert tool(*positional, **named) == expected


def test_the_run_context_is_bound_where_it_stands() -> None:
    from cheliped._context import RunContext

    def tool(query: str, run: RunContext[Any], /, limit: int = 1) -> tuple[Any, ...]:
        return query, run, limit

    tool.__annotations__ = {"query": str, "run": RunContext[Any], "limit": int}
    described = describe(tool)
    assert described.context == "run"
    positional, named = described.bind({**described.decode({"query": "x"}), "run": "the run"})
    assert tool(*positional, **named) == ("x", "the run", 1)


def test_name_and_description_can_be_given() -> None:
    def tool() -> None:
        """Not this."""

    described = describe(tool, name="other", description="This.")
    assert (described.name, described.description) == ("other", "This.")
    assert describe(tool).name == "tool"


def test_a_name_that_is_found_nowhere_in_a_function_is_told() -> None:
    def tool(row: Hidden) -> None: ...  # noqa: F821  # pyright: ignore[reportUndefinedVariable]

    with pytest.raises(ValueError, match=r"parameter .row. of tool .tool'.*'Hidden'.*module level"):
        describe(tool)


def test_pydantic_and_other_heavy_modules_are_not_imported() -> None:
    import subprocess

    code = (
        "import asyncio, sys; before = set(sys.modules)\n"
        "from cheliped._schema import describe\n"
        "from cheliped._values import encode\n"
        "def tool(a: int, b: list[str] | None = None): ...\n"
        "describe(tool).decode({'a': 1}); encode({'a': [1]})\n"
        "print([m for m in ('pydantic', 'decimal', 'uuid', 'pathlib') if m in sys.modules and m not in before])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"


def test_a_callable_object_is_named_after_its_class() -> None:
    import functools

    class Search:
        """Searches."""

        def __call__(self, query: str, limit: int) -> None: ...

    Search.__call__.__annotations__ = {"query": str, "limit": int}
    for function in (Search(), functools.partial(Search(), limit=3)):
        described = describe(function)
        assert (described.name, described.description) == ("Search", "Searches.")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (b"caf\xe9 42", "caf\ufffd 42"),
        (bytearray(b"ok"), "ok"),
        ("caf\udce9 42", "caf\ufffd 42"),
        ({"a": ["x\udfff", "y"]}, '{"a":["x\ufffd","y"]}'),
    ],
)
def test_what_is_no_unicode_is_replaced_and_the_rest_stays(value: object, text: str) -> None:
    assert encode(value) == text
