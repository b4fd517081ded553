// The Node package, as a user would set it up.

import assert from "node:assert/strict";
import { Agent, Conversation, tool } from "../../../bindings-node/dist/index.js";
import { ANSWER, MESSAGE, SYSTEM } from "./task.mjs";

const integer = { type: "integer" };
const add = tool({
  name: "add",
  description: "Adds two numbers.",
  inputSchema: { type: "object", properties: { a: integer, b: integer }, required: ["a", "b"] },
  mutating: false,
  execute: async ({ a, b }) => String(a + b),
});
const look = (index) =>
  tool({
    name: `look_${index}`,
    description: "Looks something up.",
    inputSchema: {
      type: "object",
      properties: { path: { type: "string" }, limit: integer, deep: { type: "boolean" } },
      required: ["path"],
    },
    mutating: false,
    execute: async ({ path }) => path,
  });
const TOOLS = [add, ...Array.from({ length: 9 }, (_, index) => look(index + 1))];

export class Peer {
  #url;

  constructor(url) {
    this.#url = url;
  }

  agent(model, tools) {
    const provider = { provider: "custom", baseUrl: this.#url, model, apiKey: "no key" };
    return new Agent({ provider, tools: TOOLS.slice(0, tools), systemPrompt: SYSTEM });
  }

  async run(agent) {
    assert.equal((await agent.send(MESSAGE)).text, ANSWER);
  }

  async stream(agent) {
    const pieces = [];
    for await (const event of agent.stream(MESSAGE)) if (event.type === "text_delta") pieces.push(event.text);
    return { text: pieces.join(""), pieces: pieces.length };
  }

  conversation(texts) {
    const history = texts.map((content, index) => ({ role: index % 2 === 0 ? "user" : "assistant", content }));
    return Conversation.fromJSON({ history });
  }
}
