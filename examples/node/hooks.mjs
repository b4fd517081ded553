// Hooks see what happens; guards and interceptors may stop it.

import { Agent, GuardError, hook, ScriptedProvider, tool } from "cheliped";
import { z } from "zod";

const refund = tool({
  name: "refund",
  description: "Refunds an order.",
  inputSchema: z.object({ order: z.int(), amount: z.number() }),
  mutating: true,
  execute: ({ order, amount }) => `refunded ${amount} for order ${order}`,
});

const noShouting = {
  name: "no shouting",
  typedOnly: true,
  // Gives a reason to refuse the text, or nothing.
  scan: ({ text }) => (text === text.toUpperCase() ? "please do not shout" : null),
};

const smallRefundsOnly = {
  name: "small refunds only",
  // Stops what is too large, before anybody is asked.
  beforeTool: (call) => (call.arguments.amount > 50 ? { block: "refunds over 50 need a person" } : null),
};

const report = hook("tool.after", ({ tool_name, outcome, tool_result }) => {
  console.log(`${tool_name}: ${outcome}: ${tool_result}`);
});

const steps = [
  { calls: [{ name: "refund", arguments: { order: 17, amount: 80 } }] },
  { calls: [{ name: "refund", arguments: { order: 17, amount: 20 } }] },
  "I refunded 20.",
];
const agent = Agent.builder()
  .provider(new ScriptedProvider(steps, { byTurn: true }))
  .tool(refund)
  .guard(noShouting)
  .interceptor(smallRefundsOnly)
  .hook(report)
  .build();

console.log((await agent.send("Refund order 17")).text);
try {
  await agent.send("REFUND IT ALL");
} catch (error) {
  if (!(error instanceof GuardError)) throw error;
  console.log(`${error.guard} refused: ${error.reason}`);
}
