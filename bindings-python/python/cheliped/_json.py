"""What the application gives, as JSON for the engine, which says what is wrong with it by name."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ._errors import ConfigurationError


def written(what: str, value: Any) -> str:
    """Writes a value without changing its sort: a mapping is an object, and nothing else is made into one.

    Raises:
        ConfigurationError: It cannot be written as JSON.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, default=_mapping)
        text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise ConfigurationError(f"{what} cannot be written as JSON: {error}") from error
    return text


def _mapping(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a value of type {type(value).__name__}")
