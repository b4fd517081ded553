// The smallest agent: one tool, one question. Needs neither key nor network.

import { Agent, tool } from "cheliped";
import { z } from "zod";

const weather = tool({
  name: "weather",
  description: "Tells the weather in a city.",
  inputSchema: z.object({ city: z.string().describe("The city to look up.") }),
  execute: async ({ city }) => `Snow in ${city}, -3 °C`,
});

// "anthropic:MODEL", "openai:MODEL", … with the key in the environment; "offline" needs neither.
const agent = new Agent({ provider: "offline", tools: [weather] });

const response = await agent.send('What is the weather in "Oslo"?');
console.log(response.text);
console.log("tools:", response.toolsCalled);
