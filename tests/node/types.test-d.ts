// What the type checker must see in the code of users; checked, not run. A line after `@ts-expect-error` must be wrong.

import {
  Agent,
  type AgentResponse,
  type Checkpoint,
  ChelipedError,
  Conversation,
  type CustomProvider,
  type ErrorCode,
  GuardError,
  hook,
  type Interceptor,
  image,
  ScriptedProvider,
  type StreamEvent,
  type ToolContext,
  tool,
} from "cheliped";
import { z } from "zod";
import { z as z3 } from "zod3";

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
function assertType<T extends true>(_?: T): void {}

interface Shop {
  refund(order: string): Promise<number>;
}

// Arguments are what the schema gives, not what goes in.
const refund = tool({
  name: "refund",
  description: "Refunds an order.",
  inputSchema: z.object({
    order: z.string(),
    since: z.coerce.date(),
    limit: z.number().default(3),
    note: z.string().optional(),
    tags: z.array(z.string()).transform((list) => new Set(list)),
  }),
  mutating: true,
  execute: async (args, call: ToolContext<Shop>) => {
    assertType<Same<typeof args, { order: string; since: Date; limit: number; note?: string; tags: Set<string> }>>();
    assertType<Same<typeof call.signal, AbortSignal>>();
    call.progress("half");
    return call.context.refund(args.order);
  },
});

tool({
  name: "old",
  description: "Of zod 3.",
  inputSchema: z3.object({ n: z3.coerce.bigint(), kind: z3.enum(["a", "b"]) }),
  execute: (args, { callId, idempotencyKey, iteration }) => {
    assertType<Same<typeof args, { n: bigint; kind: "a" | "b" }>>();
    return `${callId}${idempotencyKey}${iteration.toFixed()}`;
  },
});

tool({
  name: "plain",
  description: "Of plain JSON Schema.",
  inputSchema: { type: "object", properties: { a: { type: "string" } } },
  execute: ({ a }) => [a, image("image/png", new Uint8Array())],
});

tool({ name: "bare", description: "Without arguments.", execute: () => {} });

// @ts-expect-error: no description
tool({ name: "t", execute: () => 1 });
// @ts-expect-error: a slip of the pen
tool({ name: "t", description: "", mutates: true, execute: () => 1 });
tool({
  name: "t",
  description: "",
  inputSchema: z.object({ a: z.string() }),
  // @ts-expect-error: there is no such argument
  execute: ({ b }) => b,
});

const echo: CustomProvider = {
  name: "echo",
  model: "echo-1",
  send: async (request, { signal }) => (signal.aborted ? "" : { text: request.system, usage: { inputTokens: 1 } }),
};

const watch: Interceptor = {
  name: "watch",
  beforeTool: ({ name }) => (name === "rm" ? { block: "no" } : undefined),
  beforeSend: async (answer) => ({ replace: answer.trim() }),
};

const checkpoint: Checkpoint = { canSuspend: true, save: async ({ what, state }) => [what, state] };

const agent = new Agent({
  provider: echo,
  fallbacks: ["openai:gpt-5", { provider: "anthropic", model: "x", apiKey: "k" }, new ScriptedProvider(["a"])],
  tools: [refund],
  skills: [{ name: "a", description: "b", instructions: "c" }],
  hooks: [
    hook("tool.after", ({ tool_name, duration_ms }) => `${tool_name.trim()}${duration_ms.toFixed()}`),
    hook((event) => (event.event === "guard.blocked" ? event.reason.length : event.seq)),
    // @ts-expect-error: there is no such event
    hook("tool.afterwards", () => {}),
    // @ts-expect-error: the payload has no such key
    hook("tool.after", ({ toolName }) => toolName),
  ],
  guards: [{ name: "g", scan: ({ text }) => (text === "" ? "empty" : null) }],
  interceptors: [watch],
  approval: (request) => (request.mutating ? { deny: "no" } : true),
  checkpoint,
  maxIterations: 3,
  toolChoice: { name: "refund" },
  env: { nowMs: 0, idPrefix: "run-", variables: {} },
});

// @ts-expect-error: there is no such option
new Agent({ maxIteration: 3 });
// @ts-expect-error: a choice has its words
new Agent({ streamMode: "fast" });

const built: Agent = Agent.builder().provider("offline").tool(refund).maxIterations(8).parallelTools(1).build();
// @ts-expect-error: a number is wanted
Agent.builder().maxIterations("8");

export async function use(): Promise<ErrorCode | undefined> {
  const reply = await agent.send("hi", {
    signal: AbortSignal.timeout(1000),
    context: { db: 1 },
    caller: { user: "a" },
  });
  assertType<Same<typeof reply, AgentResponse>>();
  assertType<Same<typeof reply.usage.inputTokens, number | null>>();
  // Without a conversation there may be none.
  // @ts-expect-error
  reply.conversation.turns;
  const conversation = new Conversation({ metadata: { a: 1 } });
  const turn = await agent.send(["What is this?", image("image/png", { url: "https://example.com" })], {
    conversation,
  });
  assertType<Same<typeof turn.conversation, Conversation>>();

  await using stream = built.stream("hi");
  for await (const event of stream) {
    switch (event.type) {
      case "text_delta":
        event.text.trim();
        break;
      case "tool_call_finished":
        event.durationMs.toFixed();
        break;
      case "finished":
        assertType<Same<typeof event.response, AgentResponse>>();
        break;
      default:
        assertType<
          Same<typeof event, Exclude<StreamEvent, { type: "text_delta" | "tool_call_finished" | "finished" }>>
        >();
    }
  }
  const body: ReadableStream<string> = built.stream("hi").toReadableStream();
  await body.cancel();
  try {
    await stream.response;
  } catch (error) {
    if (error instanceof GuardError) error.guard.trim();
    if (error instanceof ChelipedError) return error.code;
  }
  return undefined;
}
