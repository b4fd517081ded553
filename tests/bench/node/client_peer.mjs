// What a programmer writes without an engine: fetch and a loop.

import assert from "node:assert/strict";
import { ANSWER, MESSAGE, SYSTEM } from "./task.mjs";

const integer = { type: "integer" };
const parameters = { type: "object", properties: { a: integer, b: integer }, required: ["a", "b"] };
const start = () => [
  { role: "system", content: SYSTEM },
  { role: "user", content: MESSAGE },
];

export class Peer {
  #url;

  constructor(url) {
    this.#url = `${url}/v1/chat/completions`;
  }

  agent(model, tools) {
    const names = ["add", ...Array.from({ length: tools - 1 }, (_, index) => `look_${index + 1}`)];
    const described = names.map((name) => ({ type: "function", function: { name, description: "Adds.", parameters } }));
    return { model, tools: described };
  }

  #ask(body) {
    const headers = { "content-type": "application/json" };
    return fetch(this.#url, { method: "POST", headers, body: JSON.stringify(body) });
  }

  async run(agent) {
    const messages = start();
    for (;;) {
      const reply = await (await this.#ask({ ...agent, messages })).json();
      const { message } = reply.choices[0];
      if (!message.tool_calls) {
        assert.equal(message.content, ANSWER);
        return;
      }
      messages.push(message);
      for (const call of message.tool_calls) {
        const { a, b } = JSON.parse(call.function.arguments);
        messages.push({ role: "tool", tool_call_id: call.id, content: String(a + b) });
      }
    }
  }

  async stream(agent) {
    const pieces = [];
    let unread = "";
    const { body } = await this.#ask({ ...agent, messages: start(), stream: true });
    for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
      const events = (unread + chunk).split("\n\n");
      unread = events.pop();
      for (const event of events) {
        const data = event.slice("data: ".length);
        if (data === "[DONE]") continue;
        const content = JSON.parse(data).choices[0]?.delta.content;
        if (content) pieces.push(content);
      }
    }
    return { text: pieces.join(""), pieces: pieces.length };
  }

  conversation(texts) {
    return texts.map((content, index) => ({ role: index % 2 === 0 ? "user" : "assistant", content }));
  }
}
