"""Where an annotation stands: the names it may use, its type arguments, and how to name the place in an error."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ForwardRef, NoReturn

from .._errors import ConfigurationError


@dataclass(frozen=True)
class Scope:
    """One place in the source.

    Attributes:
        place: For errors: "parameter 'x' of search".
        module: The names of its module.
        names: Names that are nearer than the module's: of the class, of enclosing functions, of type parameters.
        arguments: What type variables stand for here; one that stands for itself may be anything that it allows.
        closed: Whether other type variables than these have no meaning here: the scope is a class.
    """

    place: str
    module: Mapping[str, Any] = field(default_factory=dict)
    names: Mapping[str, Any] = field(default_factory=dict)
    arguments: Mapping[Any, Any] = field(default_factory=dict)
    closed: bool = False

    def at(self, place: str) -> Scope:
        """The same scope at another place."""
        return replace(self, place=place)

    def refuse(self, problem: str, cause: BaseException | None = None) -> NoReturn:
        """What stands here cannot be expressed."""
        raise ConfigurationError(f"{self.place}: {problem}") from cause

    def resolve(self, annotation: Any) -> Any:
        """An annotation that is written as text, evaluated; any other as it is."""
        module: Mapping[str, Any] = self.module
        while isinstance(annotation, (str, ForwardRef)):
            text = annotation
            if isinstance(annotation, ForwardRef):
                text = annotation.__forward_arg__
                origin = getattr(annotation, "__forward_module__", None)
                if origin is not None:
                    module = vars(sys.modules[origin]) if isinstance(origin, str) else vars(origin)
            try:
                annotation = eval(str(text), dict(module), dict(self.names))
            except NameError as error:
                self.refuse(
                    f"the annotation {str(text)!r} cannot be read, because {error}; define or import it at run time "
                    "(not under TYPE_CHECKING) and on module level",
                    error,
                )
            except Exception as error:
                self.refuse(f"the annotation {str(text)!r} cannot be read: {type(error).__name__}: {error}", error)
        return annotation

    def substitute(self, annotation: Any) -> Any:
        """An annotation with its type variables replaced by what they stand for here."""
        parameters = getattr(annotation, "__parameters__", ())
        if not self.arguments or not parameters or not hasattr(annotation, "__args__"):
            return annotation
        try:
            return annotation[tuple(self.arguments.get(parameter, parameter) for parameter in parameters)]
        except TypeError as error:
            self.refuse(f"the type arguments of {annotation!r} cannot be filled in: {error}", error)


def class_scope(cls: Any, place: str, arguments: Mapping[Any, Any]) -> Scope:
    """The scope of a class's fields."""
    module = sys.modules.get(cls.__module__)
    names = {parameter.__name__: parameter for parameter in getattr(cls, "__type_params__", ())}
    # A class in a function cannot be found by its name, but may speak of itself.
    names[cls.__name__] = cls
    return Scope(place, vars(module) if module else {}, names, arguments, closed=True)


def type_arguments(cls: Any, arguments: tuple[Any, ...], scope: Scope) -> dict[Any, Any]:
    """What the type variables of a class and of its bases stand for."""
    parameters = getattr(cls, "__parameters__", ())
    found: dict[Any, Any] = {variable: variable for variable in parameters}
    found.update(zip(parameters, arguments, strict=False))
    own = Scope(scope.place, arguments=found)
    for base in vars(cls).get("__orig_bases__", cls.__bases__):
        origin = getattr(base, "__origin__", base)
        if (
            not isinstance(origin, type)
            or origin is object
            or not (origin is base or hasattr(origin, "__parameters__"))
        ):
            continue  # `object`, `TypedDict`, `Generic[T]`: nothing to inherit.
        filled = getattr(own.substitute(base), "__args__", ()) if origin is not base else ()
        inherited = type_arguments(origin, filled, scope)
        for variable, argument in inherited.items():
            if found.setdefault(variable, argument) is not argument and found[variable] != argument:
                scope.refuse(
                    f"{cls.__name__} uses {variable} for two types; give its bases type variables of their own"
                )
    return found
