// Tools: a schema checks what the model sends, values of the application come along, failures are for the model to mend.

import { Agent, ScriptedProvider, ToolRetry, tool } from "cheliped";
import { z } from "zod";

const order = tool({
  name: "order",
  description: "Looks up an order.",
  inputSchema: z.object({ number: z.int().describe("Printed on the receipt.") }),
  mutating: false,
  execute: ({ number }, { context: shop }) => {
    const state = shop.orders.get(number);
    if (state === undefined) throw new ToolRetry(`there is no order ${number}; there are ${[...shop.orders.keys()]}`);
    return state;
  },
});

const book = tool({
  name: "book",
  description: "Books a delivery.",
  inputSchema: z.object({ day: z.iso.date(), slot: z.enum(["morning", "evening"]).default("morning") }),
  mutating: true,
  execute: async ({ day, slot }) => ({ booked: day, slot }),
});

// What a model would say, so that this runs without one.
const model = new ScriptedProvider([
  { calls: [{ name: "order", arguments: { number: 71 } }] },
  { calls: [{ name: "order", arguments: { number: 17 } }] },
  { calls: [{ name: "book", arguments: { day: "2026-12-24" } }] },
  "Order 17 is packed; it comes on the morning of the 24th.",
]);
const agent = new Agent({ provider: model, tools: [order, book] });
const shop = { orders: new Map([[17, "packed"]]) };
const response = await agent.send("When does order 71 come?", { context: shop });
console.log(response.text);
for (const { last } of model.requests.slice(1)) console.log("the model was told:", last);
