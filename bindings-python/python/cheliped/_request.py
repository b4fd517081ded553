"""What is sent to an agent, as the engine reads it: a message, or a saved run, with the values of the application."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ._content import Part, content_json
from ._context import Caller, ContextPiece
from ._errors import ConfigurationError
from ._json import written
from ._response import Conversation

if TYPE_CHECKING:
    from . import _native


def native_conversation(conversation: Conversation | None) -> _native.Conversation | None:
    if conversation is None:
        return None
    if not isinstance(conversation, Conversation):
        raise ConfigurationError(f"conversation is a Conversation, got {type(conversation).__name__}")
    return conversation._native


def written_context(
    caller: Caller | None, deadline_ms: int | None, parent_run_id: str | None, metadata: Mapping[str, Any] | None
) -> dict[str, Any]:
    context: dict[str, Any] = {}
    if caller is not None:
        if not isinstance(caller, Caller):
            raise ConfigurationError(f"caller is a Caller, got {type(caller).__name__}")
        context = {"tenant": caller.tenant, "user": caller.user, "scopes": list(caller.scopes)}
    if deadline_ms is not None:
        context["deadline_ms"] = deadline_ms
    if parent_run_id is not None:
        context["parent_run_id"] = parent_run_id
    if metadata is not None:
        if not isinstance(metadata, Mapping):
            raise ConfigurationError(f"metadata is a mapping of names to JSON values, got {type(metadata).__name__}")
        context["metadata"] = metadata
    return context


def written_request(
    message: str | Sequence[Part],
    caller: Caller | None,
    deadline_ms: int | None,
    parent_run_id: str | None,
    metadata: Mapping[str, Any] | None,
    pieces: Sequence[ContextPiece],
) -> str:
    context = written_context(caller, deadline_ms, parent_run_id, metadata)
    wrong = next((piece for piece in pieces if not isinstance(piece, ContextPiece)), None)
    if wrong is not None:
        raise ConfigurationError(f"pieces are ContextPieces, got {type(wrong).__name__}")
    if pieces:
        context["pieces"] = [piece._json() for piece in pieces]
    return written("the message or its metadata", {"message": content_json(message), "context": context})
