// Streaming: every event of a run, and the answer as plain text.

import { Agent, ScriptedProvider, tool } from "cheliped";
import { z } from "zod";

const clock = tool({
  name: "clock",
  description: "Tells the time.",
  inputSchema: z.object({ zone: z.string() }),
  mutating: false,
  execute: async ({ zone }) => `12:00 in ${zone}`,
});
const steps = [
  { text: "Let me look.", calls: [{ name: "clock", arguments: { zone: "Oslo" } }] },
  "It is noon in Oslo.",
];
const agent = new Agent({ provider: new ScriptedProvider(steps, { byTurn: true }), tools: [clock] });

// Leaving the loop ends a run that is not read to its end.
const stream = agent.stream("What time is it in Oslo?");
for await (const event of stream) {
  if (event.type === "text_delta") process.stdout.write(event.text);
  if (event.type === "text_discarded") console.log("  (that was not the answer)");
  if (event.type === "tool_call_started") console.log(`${event.name} is called with`, event.arguments);
  if (event.type === "tool_call_finished") console.log(`${event.name} gave ${event.result}`);
}
const { iterations } = await stream.response;
console.log(`\n${iterations} model calls`);

// The same as text that is never taken back: for a Response, a pipe, a file.
for await (const text of agent.stream("And now?").toReadableStream()) process.stdout.write(text);
console.log();
