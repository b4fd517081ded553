"""The smallest agent: one tool, one question. Needs neither key nor network."""

from cheliped import Agent, tool


@tool
def weather(city: str) -> str:
    """Tells the weather in a city.

    Args:
        city: The city to look up.
    """
    return f"Snow in {city}, -3 °C"


# "anthropic:MODEL", "openai:MODEL", ... with the key in the environment; "offline" needs neither.
agent = Agent(provider="offline", tools=[weather])

response = agent.send_sync('What is the weather in "Oslo"?')
print(response.text)
print("tools:", list(response.tools_called))
