"""Text, images and files: the parts of a message or of a tool's result.

Parts hold bytes or an address. They read no file, fetch nothing and do not look into the bytes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ._errors import ConfigurationError


@dataclass(frozen=True)
class Text:
    """A piece of text among other parts.

    Args:
        text: The text, as it is.

    Example:
        >>> Text("See the chart.").to_json()
        {'type': 'text', 'text': 'See the chart.'}
    """

    text: str

    def __post_init__(self) -> None:
        _check_text("Text", "text", self.text)

    def to_json(self) -> dict[str, Any]:
        """The part as the engine reads it."""
        return {"type": "text", "text": self.text}


@dataclass(frozen=True)
class Image:
    """A picture.

    Args:
        media_type: For example `image/png`.
        data: The bytes, or an address (`https://…`) that the provider fetches by itself.

    Raises:
        TypeError: `data` is neither bytes nor text.
        ValueError: `media_type` is no media type, `data` is empty, or a text that is no address.

    Example:
        >>> Image("image/png", "https://example.org/chart.png").to_json()["data"]
        {'url': 'https://example.org/chart.png'}
        >>> Image("image/png", b"\\x89PNG")
        Image(media_type='image/png', data=<4 bytes>)
    """

    media_type: str
    data: bytes | str

    def __post_init__(self) -> None:
        _check_media_type("Image", self.media_type)
        object.__setattr__(self, "data", _checked_data("Image", self.data))

    def __repr__(self) -> str:
        return f"Image(media_type={self.media_type!r}, data={_shown(self.data)})"

    def to_json(self) -> dict[str, Any]:
        """The part as the engine reads it."""
        return {"type": "image", "media_type": self.media_type, "data": _data_json(self.data)}


@dataclass(frozen=True)
class File:
    """A document.

    Args:
        media_type: For example `application/pdf`.
        name: A name for the model, without a path.
        data: The bytes, or an address (`https://…`) that the provider fetches by itself.

    Raises:
        TypeError: `name` is no text, or `data` is neither bytes nor text.
        ValueError: `media_type` is no media type, `name` or `data` is empty, or `data` is a text that is no address.

    Example:
        >>> File("text/csv", "sales.csv", b"year,sum").to_json()["data"]
        {'base64': 'eWVhcixzdW0='}
    """

    media_type: str
    name: str
    data: bytes | str

    def __post_init__(self) -> None:
        _check_media_type("File", self.media_type)
        _check_text("File", "name", self.name)
        if not self.name:
            raise ValueError("File needs a name that the model can call it by, got ''")
        object.__setattr__(self, "data", _checked_data("File", self.data))

    def __repr__(self) -> str:
        return f"File(media_type={self.media_type!r}, name={self.name!r}, data={_shown(self.data)})"

    def to_json(self) -> dict[str, Any]:
        """The part as the engine reads it."""
        return {"type": "file", "media_type": self.media_type, "name": self.name, "data": _data_json(self.data)}


Part = Text | Image | File
"""A piece of a message or of a tool's result."""


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


def _check_text(part: str, field: str, value: object) -> None:
    if not isinstance(value, str):
        raise TypeError(f"{part}.{field} must be text, got {type(value).__name__}")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"{part}.{field} is not valid Unicode: half a surrogate pair at {error.start}") from None


def _check_media_type(part: str, value: object) -> None:
    _check_text(part, "media_type", value)
    if not re.fullmatch(r"[\w.+-]+/[\w.+-]+(\s*;.*)?", str(value), re.ASCII):
        raise ValueError(f"{part}.media_type must look like 'image/png', got {value!r}")


def _checked_data(part: str, data: object) -> bytes | str:
    if isinstance(data, (bytearray, memoryview)):
        data = bytes(data)
    if not isinstance(data, (bytes, str)):
        raise TypeError(f"{part}.data must be bytes or an address as text, got {type(data).__name__}")
    if not data:
        raise ValueError(f"{part}.data is empty: give the bytes or an address")
    if isinstance(data, str):
        _check_text(part, "data", data)
        if not re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", data):
            raise ValueError(
                f"{part}.data as text must be an address like https://example.org/a.png; give base64 or file content "
                "as bytes, decoded"
            )
    return data


def _data_json(data: bytes | str) -> dict[str, str]:
    if isinstance(data, str):
        return {"url": data}
    from base64 import b64encode

    return {"base64": b64encode(data).decode("ascii")}


def _shown(data: bytes | str) -> str:
    """Bytes by their number and addresses without their query, which may hold a signature."""
    if isinstance(data, bytes):
        return f"<{len(data)} bytes>"
    return "<address in place>" if data[:5].lower() == "data:" else repr(data.split("?")[0])
