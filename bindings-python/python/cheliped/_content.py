"""Text, pictures and documents in messages and tool results."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ._errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class Text:
    """Text."""

    text: str

    def to_json(self) -> dict[str, Any]:
        """The part as the engine reads it."""
        return {"type": "text", "text": self.text}


@dataclass(frozen=True, slots=True)
class Image:
    """A picture.

    Attributes:
        media_type: For example `image/png`.
        data: Its bytes, or the address of it, which the provider fetches by itself.
    """

    media_type: str
    data: bytes | str

    def to_json(self) -> dict[str, Any]:
        """The part as the engine reads it."""
        return {"type": "image", "media_type": self.media_type, "data": _data(self.data)}


@dataclass(frozen=True, slots=True)
class File:
    """A document.

    Attributes:
        media_type: For example `application/pdf`.
        name: A name for the model, without a path.
        data: Its bytes, or the address of it, which the provider fetches by itself.
    """

    media_type: str
    name: str
    data: bytes | str

    def to_json(self) -> dict[str, Any]:
        """The part as the engine reads it."""
        return {"type": "file", "media_type": self.media_type, "name": self.name, "data": _data(self.data)}


Part = Text | Image | File
"""A piece of a message or of a tool result."""


def _data(data: bytes | str) -> dict[str, str]:
    return {"url": data} if isinstance(data, str) else {"base64": base64.b64encode(data).decode()}


def content_json(content: str | Sequence[Part]) -> Any:
    """A message as the engine reads it.

    Raises:
        ConfigurationError: It is neither a text nor parts.
    """
    if isinstance(content, str):
        return content
    if isinstance(content, Sequence):
        parts = [part.to_json() for part in content if isinstance(part, (Text, Image, File))]
        if len(parts) == len(content):
            return parts
    raise ConfigurationError(f"a message is a text or a list of Text, Image and File, not {type(content).__name__}")
