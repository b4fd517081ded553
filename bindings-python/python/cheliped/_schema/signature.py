"""The signature of a function as the model calls it: without `self`, without what is bound, without the run context."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ForwardRef, Union, get_args, get_origin

from .._errors import ConfigurationError
from .scope import Scope

_CONTEXT = re.compile(r"(?:\w+\.)*(?:Optional\[)?(?:\w+\.)*RunContext\b(?:\[.*\])?\]?(?:\s*\|\s*None)?")
_KINDS = inspect.Parameter


@dataclass(frozen=True)
class Signature:
    """What is known of a function before its types are read.

    Attributes:
        name: Its name.
        doc: Its docstring.
        parameters: What a caller gives, in order, the run context among them.
        scope: Where its annotations stand.
    """

    name: str
    doc: str | None
    parameters: tuple[inspect.Parameter, ...]
    scope: Scope


def context_of(function: Callable[..., Any]) -> str | None:
    """The parameter of a function that takes the run context."""
    base = _Base(function).function
    scope = Scope("the function", getattr(base, "__globals__", {}), _closure(base))
    hints = getattr(base, "__annotations__", {})
    found = (parameter for parameter, hint in hints.items() if parameter != "return" and takes_context(hint, scope))
    return next(found, None)


def signature(function: Callable[..., Any], name: str | None, around: Mapping[str, Any]) -> Signature:
    """Reads a function, method, partial or callable object; `around` are names of the function that it stands in."""
    has_class = isinstance(function, classmethod)
    if isinstance(function, (staticmethod, classmethod)):
        function = function.__func__
    found = _Base(function)
    base, shown = found.function, name or found.name or ""
    scope = Scope(f"tool {shown!r}")
    if not callable(function):
        scope.refuse(f"a tool is made of a function, got {type(function).__name__}")
    if isinstance(function, type):
        scope.refuse("a class is no tool; write a function that makes an instance")
    if shown == "<lambda>":
        scope.refuse("a lambda has neither a name nor annotations; write a function with def")
    if inspect.isgeneratorfunction(base) or inspect.isasyncgenfunction(base):
        scope.refuse("a generator yields its values later; return a list")
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (ValueError, TypeError) as error:
        scope.refuse(f"its signature cannot be read ({error}); write a function with annotations around it", error)
    except NameError as error:
        scope.refuse(f"its annotations cannot be read, because {error}; define or import the name at run time", error)
    if parameters and (has_class or _is_receiver(parameters[0], base)):
        del parameters[0]
    names = dict(around)
    names.update({parameter.__name__: parameter for parameter in getattr(base, "__type_params__", ())})
    names.update(_closure(base))
    scope = Scope(scope.place, getattr(base, "__globals__", {}), names)
    kept = tuple(parameter for parameter in parameters if parameter.name not in found.bound)
    for parameter in kept:
        place = scope.at(f"parameter {parameter.name!r} of {scope.place}")
        if parameter.kind in (_KINDS.VAR_POSITIONAL, _KINDS.VAR_KEYWORD):
            place.refuse(
                "a model gives arguments by name and knows only names in the schema; write the parameters out (and let "
                "decorators use functools.wraps)"
            )
        if parameter.annotation is _KINDS.empty:
            place.refuse("has no annotation; say its type, for example `limit: int`")
    return Signature(shown, found.doc, kept, scope)


def takes_context(annotation: Any, scope: Scope) -> bool:
    """Whether a parameter takes the run context, which only its type tells."""
    from .._context import RunContext

    if isinstance(annotation, (str, ForwardRef)):
        text = annotation if isinstance(annotation, str) else annotation.__forward_arg__
        try:
            annotation = scope.resolve(annotation)
        except ConfigurationError:
            # Imported for the type checker only: then the name must do.
            return _CONTEXT.fullmatch(text.strip()) is not None
    origin = get_origin(annotation)
    if origin is Annotated or _is_union(annotation):
        return any(
            takes_context(argument, scope) for argument in get_args(annotation)[: 1 if origin is Annotated else 9]
        )
    return annotation is RunContext or origin is RunContext


def _is_union(annotation: Any) -> bool:
    import types

    return get_origin(annotation) in (Union, types.UnionType)


class _Base:
    """The function that was written, under its partials, wrappers and objects."""

    def __init__(self, function: Any) -> None:
        self.name: str | None = None
        self.doc: str | None = None
        self.bound: set[str] = set()
        seen: set[int] = set()
        while id(function) not in seen:  # A function may be wrapped by itself.
            seen.add(id(function))
            if isinstance(function, functools.partial):
                self.bound |= set(function.keywords)
                function = function.func
            elif (wrapped := getattr(function, "__wrapped__", None)) is not None:
                function = wrapped
            elif inspect.ismethod(function):
                function = function.__func__
            elif callable(function) and not hasattr(function, "__name__"):
                self.name, self.doc = self.name or type(function).__name__, type(function).__doc__
                function = type(function).__call__
        self.function = function
        self.name = self.name or getattr(function, "__name__", None) or type(function).__name__
        self.doc = function.__doc__ or self.doc


def _is_receiver(parameter: inspect.Parameter, base: Any) -> bool:
    """`self` or `cls` of a function that is still in the body of its class."""
    parent = getattr(base, "__qualname__", "").rpartition(".")[0]
    named = parameter.name in ("self", "cls") and parameter.annotation is _KINDS.empty
    return named and bool(parent) and not parent.endswith("<locals>")


def _closure(base: Any) -> dict[str, Any]:
    names = {}
    code, cells = getattr(base, "__code__", None), getattr(base, "__closure__", None) or ()
    for name, cell in zip(getattr(code, "co_freevars", ()), cells, strict=False):
        try:
            names[name] = cell.cell_contents
        except ValueError:  # Not filled yet.
            continue
    return names
