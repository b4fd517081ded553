"""The native half of the package. Private; see the modules that use it."""

from collections.abc import Callable
from typing import Any, final

__all__ = [
    "Agent",
    "Conversation",
    "Handle",
    "Reply",
    "Script",
    "Tool",
    "check",
    "command",
    "retire",
    "shutdown",
    "tables",
]

@final
class Reply:
    def ok(self, answer: str) -> None: ...
    def error(self, exception: BaseException) -> None: ...
    def progress(self, text: str) -> None: ...

@final
class Handle:
    def cancel(self) -> None: ...
    def more(self) -> None: ...

@final
class Tool:
    def __new__(cls, definition: str, number: int) -> Tool: ...

@final
class Script:
    def __new__(cls, json: str) -> Script: ...
    def requests(self) -> str: ...

@final
class Conversation:
    def __new__(cls, json: str) -> Conversation: ...
    @property
    def id(self) -> str: ...
    @property
    def turns(self) -> int: ...
    def json(self) -> str: ...
    def with_message(self, json: str) -> Conversation: ...
    def __len__(self) -> int: ...

@final
class Agent:
    def __new__(
        cls,
        options: str,
        providers: list[Script | str | tuple[str, int] | None],
        tools: list[Tool],
        skills: list[str],
        functions: list[tuple[str, str, int]],
        hooks: list[str],
    ) -> Agent: ...
    @property
    def provider_name(self) -> str: ...
    @property
    def model_name(self) -> str: ...
    @property
    def system_prompt(self) -> str: ...
    @property
    def tool_names(self) -> list[str]: ...
    @property
    def fingerprint(self) -> str: ...
    def send(
        self,
        request: str,
        conversation: Conversation | None,
        run: Any,
        done: Callable[[str | None, Conversation | None, BaseException | None], None],
    ) -> Handle: ...
    def stream(
        self,
        request: str,
        conversation: Conversation | None,
        plain: bool,
        run: Any,
        deliver: Callable[[str, bool, Conversation | None, BaseException | None], None],
    ) -> Handle: ...
    def resume(
        self,
        request: str,
        run: Any,
        done: Callable[[str | None, Conversation | None, BaseException | None], None],
    ) -> Handle: ...

def tables() -> str: ...
def check(guard_rules: str, text: str, source: str | None) -> str: ...
def command(arguments: list[str]) -> int: ...
def shutdown() -> None: ...
def retire() -> None: ...
