// The demonstration: questions about a sample project, answered with tools.
//
// The model is `offline`, which follows rules and needs neither key nor network. With `--live` it is the one that the
// environment has a key for.

import { readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { Agent, tool } from "cheliped";
import { z } from "zod";

const ROOT = fileURLToPath(new URL("../sample/", import.meta.url));
const QUESTIONS = [
  'Which lines of "logs/app.log" contain "ERROR"?',
  'How many lines has "data/orders.csv"?',
];

// A file of the sample project, and of nothing else.
async function linesOf(name) {
  const file = path.resolve(ROOT, name);
  if (!file.startsWith(ROOT)) throw new Error(`${name} is outside`);
  return (await readFile(file, "utf8")).trimEnd().split("\n");
}

const file = z.string().describe("The file.");
const findLines = tool({
  name: "find_lines",
  description: "Finds the lines of a file that contain a text.",
  inputSchema: z.object({ path: file, contains: z.string().describe("What the lines contain.") }),
  mutating: false,
  execute: async (args) => {
    const found = (await linesOf(args.path)).filter((line) => line.includes(args.contains));
    return found.join("\n") || "none";
  },
});
const countLines = tool({
  name: "count_lines",
  description: "Counts the lines of a file: how many lines it has.",
  inputSchema: z.object({ path: file }),
  mutating: false,
  execute: async (args) => (await linesOf(args.path)).length,
});

const live = process.argv.includes("--live");
const agent = new Agent({ provider: live ? undefined : "offline", tools: [findLines, countLines] });
for (const question of QUESTIONS) {
  console.log(`? ${question}`);
  for await (const event of agent.stream(question)) {
    if (event.type === "tool_call_started") console.log(`  ${event.name}`, event.arguments);
    if (event.type === "tool_call_finished") process.stdout.write("  ");
    if (event.type === "text_delta") process.stdout.write(event.text.replaceAll("\n", "\n  "));
  }
  console.log("\n");
}
