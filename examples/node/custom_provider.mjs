// A model of your own: anything that turns a request into a reply.

import { Agent, tool } from "cheliped";
import { z } from "zod";

// Calls the tool for every sum in the message, then says what came of it.
const calculator = {
  name: "calculator",
  model: "rules-1",
  async send({ messages }) {
    const last = messages.at(-1);
    if (last.role === "tool") return `The sums are ${last.results.map(({ content }) => content).join(", ")}.`;
    const sums = [...last.content.matchAll(/(\d+) \+ (\d+)/g)];
    return { calls: sums.map(([, a, b]) => ({ name: "add", arguments: { a: Number(a), b: Number(b) } })) };
  },
};

const add = tool({
  name: "add",
  description: "Adds two numbers.",
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  mutating: false,
  execute: ({ a, b }) => a + b,
});

const agent = new Agent({ provider: calculator, tools: [add] });
console.log((await agent.send("What is 2 + 3, and 20 + 22?")).text);
