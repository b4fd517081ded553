// Testing an agent without a model: say what the model says, then look at what it was asked. Run it with `node --test`.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, ProviderError, ScriptedProvider, tool } from "cheliped";
import { z } from "zod";

const lookup = tool({
  name: "lookup",
  description: "Looks up a customer.",
  inputSchema: z.object({ customer: z.string() }),
  execute: ({ customer }) => `${customer} has two open orders`,
});

// The agent of the application; tests give it another model.
const makeAgent = (provider) => new Agent({ provider, tools: [lookup], systemPrompt: "You help the support team." });

test("the customer is looked up before answering", async () => {
  const model = new ScriptedProvider([
    { calls: [{ name: "lookup", arguments: { customer: "Ada" } }] },
    "Two orders.",
  ]);
  const response = await makeAgent(model).send("How many orders does Ada have?");
  assert.deepEqual(response.toolsCalled, ["lookup"]);
  assert.equal(model.requests[1].last, "Ada has two open orders");
  assert.match(model.requests[0].system, /support team/);
});

test("a busy model is an error that can be retried", async () => {
  const busy = new ScriptedProvider([{ error: { kind: "overloaded" } }]);
  await assert.rejects(makeAgent(busy).send("Hi"), (error) => {
    assert.ok(error instanceof ProviderError);
    assert.ok(error.retryable);
    return true;
  });
});
