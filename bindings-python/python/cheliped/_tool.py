"""Functions as tools."""

from __future__ import annotations

import functools
import inspect
import itertools
import json
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, overload

from . import _native
from ._bridge import log
from ._context import RunContext
from ._errors import ToolFailed, ToolSteering
from ._json import written

if TYPE_CHECKING:
    from ._bridge import Call
    from ._schema.tool import Description

P = ParamSpec("P")
R = TypeVar("R")

numbers = itertools.count(1)
"""Numbers by which the native half knows the callables of this process."""


class Tool(Generic[P, R]):
    """A function that a model may call. Calling it calls the function as ever.

    Made by `tool`; to give a schema of your own, use `Tool.from_schema`.

    Attributes:
        name: Name that the model sees.
        description: What the model is told of it.
        schema: JSON Schema of the arguments.
        mutating: Whether a call changes something; `None` when the tool does not say.
    """

    def __init__(
        self,
        function: Callable[P, R],
        description: Description,
        *,
        mutating: bool | None,
        idempotent: bool | None,
        listed: bool | None,
    ) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self._description = description
        self.name = description.name
        self.description = description.description
        self.schema = description.schema
        self.mutating = mutating
        self._idempotent = idempotent
        self._listed = listed
        definition: dict[str, Any] = {
            "name": description.name,
            "description": description.description,
            "schema": description.schema,
            "mutating": mutating,
        }
        if idempotent is not None:
            definition["idempotent"] = idempotent
        if listed is not None:
            definition["listed"] = listed
        self._number = next(numbers)
        self._native = _native.Tool(written("the definition of a tool", definition), self._number)
        self.is_async = is_async(function)

    @classmethod
    def from_schema(
        cls,
        function: Callable[..., Any],
        *,
        name: str,
        schema: Mapping[str, Any],
        description: str = "",
        mutating: bool | None = None,
        idempotent: bool | None = None,
        listed: bool | None = None,
    ) -> Tool[..., Any]:
        """Makes a tool of a function that takes its arguments as keywords, and a JSON Schema made by hand.

        Args:
            function: Called with the arguments as keywords; a parameter annotated with `RunContext` gets the context.
            name: Name that the model sees.
            schema: JSON Schema of the arguments, an object schema.
            description: What the model is told of it.
            mutating: Whether a call changes something. Default: the tool does not say.
            idempotent: Whether running a call twice does no harm. Default: no.
            listed: Whether the model is told of the tool. Default: yes.

        Raises:
            ConfigurationError: The schema cannot be used.
        """
        from ._schema import from_schema

        described = from_schema(function, name=name, description=description, schema=schema)
        return Tool(function, described, mutating=mutating, idempotent=idempotent, listed=listed)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Calls the function itself."""
        return self._function(*args, **kwargs)

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        if instance is None:
            return self
        # A method: the tool of this instance, made once for it.
        function: Any = self._function
        bound: Any = function.__get__(instance, owner)
        made = Tool(bound, self._description, mutating=self.mutating, idempotent=self._idempotent, listed=self._listed)
        if hasattr(instance, "__dict__"):
            instance.__dict__[self._function.__name__] = made
        return made

    def __repr__(self) -> str:
        return f"Tool({self.name!r})"

    # The way over the border, see `_bridge.Endpoint`.

    def call(self, payload: Any, call: Call) -> Any:
        """Calls the function with what the model sent; for the bridge."""
        description = self._description
        try:
            values = description.decode(payload["arguments"])
        except ValueError as error:
            raise _Unfit(str(error)) from error
        if description.context is not None:
            values[description.context] = RunContext(payload, call)
        args, kwargs = description.bind(values)
        function: Callable[..., Any] = self._function
        return function(*args, **kwargs)

    def answer(self, value: Any) -> str:
        """Writes a result for the engine; for the bridge."""
        from ._values import encode

        try:
            content = encode(value)
        except (TypeError, ValueError) as error:
            # The words name a place and a type, nothing of the value.
            raise _Unfit(f"the tool gave a result that cannot be used: {error}") from error
        return json.dumps({"ok": content}, ensure_ascii=False)

    def refusal(self, error: BaseException) -> str | None:
        """The answer for an exception that steers the loop; for the bridge."""
        if isinstance(error, ToolFailed) and error.content is not None:
            refusal = {"content": error.content, "message": error.message}
            return json.dumps({"refusal": refusal}, ensure_ascii=False)
        if isinstance(error, ToolSteering):
            return json.dumps({"error": {"kind": error.kind, "message": error.message}}, ensure_ascii=False)
        # The model is told nothing of it, so this is where its author hears of it.
        log.warning("the tool %r raised", self.name, exc_info=error)
        return None


class _Unfit(ToolSteering):
    """Arguments or a result that are no values of what they should be; the model is told."""

    kind = "failed"


@overload
def tool(function: Callable[P, R], /) -> Tool[P, R]: ...
@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    mutating: bool | None = None,
    idempotent: bool | None = None,
    listed: bool | None = None,
) -> Callable[[Callable[P, R]], Tool[P, R]]: ...
def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    mutating: bool | None = None,
    idempotent: bool | None = None,
    listed: bool | None = None,
) -> Any:
    """Makes a tool of a function. Its schema comes of the type hints, its description of the docstring.

    A coroutine function runs on the event loop of `send`; any other function runs on a thread, so it may block.

    Args:
        function: The function, sync or async. A parameter annotated with `RunContext` gets the run's context.
        name: Name that the model sees. Default: the function's.
        description: What the model is told. Default: the first part of the docstring.
        mutating: `True`: a call changes something, so it is gated and runs alone. `False`: it changes nothing and may
            run beside others. Default: the tool does not say; it is not gated and runs alone.
        idempotent: Whether running a call twice does no harm, so that an interrupted call may run again. Default: no.
        listed: Whether the model is told of the tool; one that is not listed can still be called. Default: yes.

    Raises:
        ConfigurationError: A parameter has no type, or one that JSON cannot express; function and parameter are named.

    Example:
        >>> from cheliped import tool
        >>> @tool(mutating=False)
        ... def weather(city: str) -> str:
        ...     '''Tells the weather.
        ...
        ...     Args:
        ...         city: The city to look up.
        ...     '''
        ...     return f"It is sunny in {city}."
        >>> weather.schema["properties"]["city"]
        {'type': 'string', 'description': 'The city to look up.'}
        >>> weather("Oslo")
        'It is sunny in Oslo.'
    """

    # Hints of a function inside another may use the names that stand there.
    names = sys._getframe(1).f_locals

    def make(function: Callable[..., Any]) -> Tool[..., Any]:
        from ._schema import describe

        described = describe(function, name=name, description=description, names=names)
        return Tool(function, described, mutating=mutating, idempotent=idempotent, listed=listed)

    return make if function is None else make(function)


def is_async(function: Any) -> bool:
    """Whether calling this gives a coroutine."""
    while isinstance(function, functools.partial):
        function = function.func
    if inspect.iscoroutinefunction(function):
        return True
    return not inspect.isroutine(function) and inspect.iscoroutinefunction(type(function).__call__)
