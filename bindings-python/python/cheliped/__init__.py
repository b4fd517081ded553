"""An agent engine that gives a language model tools without giving it the house.

Example:
    >>> from cheliped import Agent, tool
    >>> @tool
    ... def weather(city: str) -> str:
    ...     "Tells the weather in a city."
    ...     return f"Snow in {city}, -3 degrees."
    >>> agent = Agent(provider="offline", tools=[weather])
    >>> response = agent.send_sync('What is the weather in "Oslo"?')
    >>> response.tools_called
    ('weather',)
"""

from ._agent import Agent
from ._builder import AgentBuilder
from ._callbacks import (
    AllowWith,
    Approval,
    ApprovalRequest,
    Block,
    Checkpoint,
    Deny,
    Guard,
    Interceptor,
    Replace,
    Saved,
    Scanned,
    Suspend,
)
from ._content import File, Image, Text
from ._context import Caller, ContextPiece, RunContext
from ._errors import (
    CancelledError,
    ChelipedError,
    ConfigurationError,
    GraphError,
    GuardError,
    InternalError,
    MaxIterationsError,
    MemoryError,
    PromptTemplateError,
    ProviderError,
    RunConflictError,
    RunStateError,
    RunSuspendedError,
    SessionBusyError,
    SkillError,
    StructuredOutputError,
    TimeoutError,
    TokenBudgetExceededError,
    ToolDenied,
    ToolFailed,
    ToolRetry,
    UnknownToolError,
    UnsupportedSchemaError,
)
from ._events import (
    Finished,
    Iteration,
    RunStarted,
    StreamEvent,
    TextDelta,
    TextDiscarded,
    ThinkingDelta,
    ToolCallFinished,
    ToolCallProgress,
    ToolCallStarted,
    UsageReported,
)
from ._guards import GuardFinding, GuardRule, GuardRules, RateLimit, TextCheck, ToolOutputRules, check_text
from ._hooks import DebugLogHook, SecurityAlertHook
from ._provider import Provider, ProviderConfig, ScriptedProvider
from ._response import AgentResponse, Conversation, Usage
from ._stream import AgentStream
from ._tool import Tool, tool

__all__ = [
    "Agent",
    "AgentBuilder",
    "AgentResponse",
    "AgentStream",
    "AllowWith",
    "Approval",
    "ApprovalRequest",
    "Block",
    "Caller",
    "CancelledError",
    "Checkpoint",
    "ChelipedError",
    "ConfigurationError",
    "ContextPiece",
    "Conversation",
    "DebugLogHook",
    "Deny",
    "File",
    "Finished",
    "GraphError",
    "Guard",
    "GuardError",
    "GuardFinding",
    "GuardRule",
    "GuardRules",
    "Image",
    "Interceptor",
    "InternalError",
    "Iteration",
    "MaxIterationsError",
    "MemoryError",
    "PromptTemplateError",
    "Provider",
    "ProviderConfig",
    "ProviderError",
    "RateLimit",
    "Replace",
    "RunConflictError",
    "RunContext",
    "RunStarted",
    "RunStateError",
    "RunSuspendedError",
    "Saved",
    "Scanned",
    "ScriptedProvider",
    "SecurityAlertHook",
    "SessionBusyError",
    "SkillError",
    "StreamEvent",
    "StructuredOutputError",
    "Suspend",
    "Text",
    "TextCheck",
    "TextDelta",
    "TextDiscarded",
    "ThinkingDelta",
    "TimeoutError",
    "TokenBudgetExceededError",
    "Tool",
    "ToolCallFinished",
    "ToolCallProgress",
    "ToolCallStarted",
    "ToolDenied",
    "ToolFailed",
    "ToolOutputRules",
    "ToolRetry",
    "UnknownToolError",
    "UnsupportedSchemaError",
    "Usage",
    "UsageReported",
    "check_text",
    "tool",
]
