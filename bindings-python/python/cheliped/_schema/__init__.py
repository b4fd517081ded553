"""The JSON Schema of a function, and its arguments as Python values.

Written from the function's annotations and docstring, once. What JSON cannot say is refused when the function is
described, never when it is called.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .tool import Description


def describe(
    function: Callable[..., Any],
    *,
    name: str | None = None,
    description: str | None = None,
    names: Mapping[str, Any] | None = None,
) -> Description:
    """Describes a function to the model.

    Args:
        function: A function, method, `functools.partial` or callable object; every parameter is annotated.
        name: Name of the tool; the function's by default.
        description: What it does; by default what stands in the docstring before its first section.
        names: Names beside those of its module that annotations may use, where the function stands in another.

    Raises:
        ConfigurationError: Something in the signature cannot be expressed in JSON. The message names the function, the
            parameter, and what to do.

    Example:
        >>> def search(query: str, limit: int = 10) -> str:
        ...     '''Searches the catalogue.'''
        ...     return ""
        >>> describe(search).schema["properties"]["limit"]
        {'type': 'integer', 'default': 10}
    """
    # Loaded with the first tool: importing the package stays cheap.
    from .tool import build

    return build(function, name, description, names or {})


def from_schema(function: Callable[..., Any], *, name: str, description: str, schema: Mapping[str, Any]) -> Description:
    """Describes a function that takes its arguments as keywords, by a schema made by hand."""
    from .tool import by_hand

    return by_hand(function, name, description, schema)
