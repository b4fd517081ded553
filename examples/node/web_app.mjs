// A web application that streams an answer to a browser: `node web_app.mjs`, then open the address that it says.
//
// Events go to the page as server-sent events. A browser that goes away ends the run with everything that it started. An
// error after the first byte is an event, because the status is sent by then.

import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Agent, ChelipedError, tool } from "cheliped";
import express from "express";
import { z } from "zod";

const PAGE = fileURLToPath(new URL("../web/page.html", import.meta.url));

const clock = tool({
  name: "clock",
  description: "Tells the time in a city.",
  inputSchema: z.object({ city: z.string().describe("The city to look up.") }),
  mutating: false,
  execute: async ({ city }, { signal }) => {
    await sleep(100, undefined, { signal });
    return `It is 12:00 in ${city}.`;
  },
});

/** The application around an agent. `heartbeat` is the silence, in milliseconds, after which a comment is sent. */
export function makeApp(agent, { heartbeat = 15_000 } = {}) {
  const app = express();
  app.get("/", (_, response) => response.sendFile(PAGE));
  app.get("/ask", async (request, response) => {
    const gone = new AbortController();
    response.on("close", () => gone.abort());
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
    const beat = setInterval(() => response.write(": still here\n\n"), heartbeat);
    // JSON has no line breaks, so an event fits in one line.
    const tell = ({ type, ...data }) => response.write(`event: ${type}\ndata: ${JSON.stringify(data)}\n\n`);
    try {
      const message = String(request.query.message ?? "");
      for await (const event of agent.stream(message, { signal: gone.signal })) tell(event);
    } catch (error) {
      if (gone.signal.aborted) return;
      const known = error instanceof ChelipedError;
      tell({ type: "failed", code: known ? error.code : "internal", message: known ? error.message : "it failed" });
    } finally {
      clearInterval(beat);
      response.end();
    }
  });
  return app;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const agent = new Agent({ provider: "offline", tools: [clock] });
  const server = makeApp(agent).listen(Number(process.env.PORT ?? 3000), "127.0.0.1", () => {
    console.log(`http://127.0.0.1:${server.address().port}`);
  });
}
