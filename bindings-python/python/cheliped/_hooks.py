"""Hooks that the engine brings along. They run in the engine, so no event crosses to Python for them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from ._errors import ConfigurationError


class DebugLogHook:
    """Appends one line of JSON for every event to a file: `{"ts", "event", "context"}`.

    Lines of several processes do not mix. What cannot be written is dropped, with one warning; no run fails for it. The
    file holds what users and models say.

    Args:
        path: The file. It is made when it is not there, for its owner alone; its folder must be.
        label: What stands under `event` in each line. Default `event`; the event's name is in `context`.

    Example:
        >>> import tempfile
        >>> from cheliped import Agent, DebugLogHook, ScriptedProvider
        >>> with tempfile.NamedTemporaryFile() as log:
        ...     agent = Agent(provider=ScriptedProvider(["Hello."]), hooks=[DebugLogHook(log.name)])
        ...     response = agent.send_sync("Hi")
        ...     "agent.after" in log.read().decode()
        True
    """

    def __init__(self, path: str | os.PathLike[str], *, label: str | None = None) -> None:
        self._settings: dict[str, Any] = {"kind": "debug_log", "path": os.fspath(path)}
        if label is not None:
            self._settings["label"] = label

    def __repr__(self) -> str:
        return f"DebugLogHook({self._settings['path']!r})"


class SecurityAlertHook:
    """Posts `{"alert", "guard", "reason", "at"}` to a web address when a guard has refused a message.

    What the user wrote is not sent. The host must have public addresses only, redirects are not followed, and no run
    waits for an alert. Requests carry `webhook-id`, `webhook-timestamp`, `content-digest` and, with a secret,
    `webhook-signature` (Standard Webhooks).

    Args:
        url: An `https` address. Default: that in the environment variable `CHELIPED_SECURITY_WEBHOOK`; without one the hook
            does nothing.
        signing_secret: The secret that signs alerts: `whsec_` and Base64, or any text. Default: none.
        events: Events that are told. Default `guard.blocked`.
        timeout_ms: Time for a whole alert, in milliseconds. Default 3000.

    Example:
        >>> from cheliped import Agent, SecurityAlertHook
        >>> alerts = SecurityAlertHook("https://alerts.example.com/x", signing_secret="whsec_c2VjcmV0IGtleQ==")
        >>> agent = Agent(provider="offline", hooks=[alerts])
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        signing_secret: str | None = None,
        events: Sequence[str] | None = None,
        timeout_ms: int | None = None,
    ) -> None:
        if isinstance(events, str):
            raise ConfigurationError(f"events is a list of names, got {events!r}")
        given = {
            "url": url,
            "signing_secret": signing_secret,
            "events": None if events is None else list(events),
            "timeout_ms": timeout_ms,
        }
        self._settings: dict[str, Any] = {"kind": "security_alert"}
        self._settings.update({name: value for name, value in given.items() if value is not None})

    def __repr__(self) -> str:
        # The address may hold a token, and the secret is one.
        return "SecurityAlertHook(...)"


EngineHook = DebugLogHook | SecurityAlertHook
