// Approval: somebody is asked before anything changes, and sees exactly what will run.

import { Agent, ScriptedProvider, tool } from "cheliped";
import { z } from "zod";

const pay = tool({
  name: "pay",
  description: "Pays somebody.",
  inputSchema: z.object({ to: z.string(), amount: z.number() }),
  mutating: true,
  execute: ({ to, amount }) => `paid ${amount} to ${to}`,
});

// A person would be asked here; there is no time limit.
async function ask({ tool, arguments: args }) {
  console.log(`may ${tool} run with ${JSON.stringify(args)}?`);
  if (args.to !== "landlord") return { deny: "nobody else is paid today" };
  return args.amount > 1000 ? { allowWith: { ...args, amount: 1000 } } : true;
}

const model = new ScriptedProvider([
  { calls: [{ name: "pay", arguments: { to: "stranger", amount: 5 } }] },
  { calls: [{ name: "pay", arguments: { to: "landlord", amount: 1200 } }] },
  "The landlord got 1000, the stranger nothing.",
]);
const agent = new Agent({ provider: model, tools: [pay], approval: ask });
console.log((await agent.send("Pay the bills")).text);
for (const { last } of model.requests.slice(1)) console.log("the model was told:", last);
