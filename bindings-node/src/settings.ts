// What an agent is built of, and the way from there to the engine. There is no default here: what is left out has the
// engine's.

import { attempt, type Callback, type Callbacks, nextNumber } from "./border.js";
import {
  type Approval,
  type Checkpoint,
  type Guard,
  type Hook,
  type Interceptor,
  type Registered,
  registeredApproval,
  registeredCheckpoint,
  registeredGuard,
  registeredHook,
  registeredInterceptor,
  registeredProvider,
} from "./callbacks.js";
import { ConfigurationError, unusable } from "./errors.js";
import { type GuardRules, rulesData, type ToolOutputRules } from "./guards.js";
import { EngineHook } from "./hooks.js";
import { parse } from "./json.js";
import { camel, snakeKeys } from "./names.js";
import { type Native, native } from "./native.js";
import { isCustom, type Provider, providerSettings, ScriptedProvider, scriptOf } from "./provider.js";
import { insideOf, Tool } from "./tool.js";
import { writeSetting } from "./values.js";

/** Instructions that the model loads when it needs them. */
export interface Skill {
  /** The name by which it is loaded. */
  name: string;
  /** What it is for, in one line. */
  description: string;
  /** The instructions. */
  instructions: string;
}

/** A fixed outside world, for tests: the clock of events stands still, ids are the prefix and 1, 2, … */
export interface FixedEnv {
  nowMs?: number;
  idPrefix?: string;
  /** Environment variables. */
  variables?: Record<string, string>;
}

/** The settings of an agent. They are fixed when it is built; everything may be left out. */
export interface AgentOptions {
  /** The model. Default: the first provider that the environment has a key for. */
  provider?: Provider;
  /** Providers that are asked in order when those before them have failed in a way that another can mend. */
  fallbacks?: readonly Provider[];
  /** What the model may call. Default: none. */
  tools?: readonly Tool[];
  /** Instructions that the model loads when it needs them. Default: none. */
  skills?: readonly Skill[];
  /** Functions that see events, made by {@link hook}, and hooks of the engine. Default: none. */
  hooks?: readonly (Hook | EngineHook)[];
  /**
   * Guards of the application: functions that look at a message before the model does, beside the built-in ones.
   * Default: none.
   */
  guards?: readonly Guard[];
  /** Functions that may change or stop what the engine is about to do. Default: none. */
  interceptors?: readonly Interceptor[];
  /** Who decides about calls that change something. Default: nobody, they run. */
  approval?: Approval;
  /** Who saves the run between its steps. Default: nobody. */
  checkpoint?: Checkpoint | Checkpoint["save"];
  /** A fixed clock, fixed identifiers and variables, for tests. Default: the real ones. */
  env?: FixedEnv;
  /**
   * The application's own instructions. They follow the identity line and, with tools, the doctrine. Default:
   * none.
   */
  systemPrompt?: string;
  /** Model calls in a run before it gives up. Default 20, which 0 also means. */
  maxIterations?: number;
  /** Tries after a failed model call that may succeed later. Default 0: a single try. */
  maxRetries?: number;
  /** Tools offered to the model at most; 0, the default, derives it from the model. */
  maxToolsPerTurn?: number;
  /**
   * Estimated tokens that a tool result may have before it is cut, at four characters a token. Default 2500; 0
   * is no limit.
   */
  maxToolResultTokens?: number;
  /** Tokens that a run may spend; 0, the default, is no limit. */
  maxTokenBudget?: number;
  /**
   * Read-only calls of one batch that run side by side. Default 8; 1 runs all calls one after the other, which 0
   * also means.
   */
  parallelTools?: number;
  /** Milliseconds for one tool call. Default 180 s. */
  toolTimeoutMs?: number;
  /**
   * Milliseconds for one whole model call that is not streamed. Default 120 s; none, or 0 milliseconds, is no
   * limit.
   */
  modelCallTimeoutMs?: number;
  /** Requests to providers per minute. Default 0: no limit. */
  requestsPerMinute?: number;
  /** How many milliseconds a request may wait for its turn when requests per minute are limited. Default 30 s. */
  maxRateWaitMs?: number;
  /** Tokens of one reply at most; 0, the default, leaves it to the model. */
  maxTokens?: number;
  /** Tokens that the model may think before it answers. Default 0, off; below 1024 is off. */
  thinkingBudget?: number;
  /** Whether prompts are marked for the provider's cache where that has to be asked for. Default yes. */
  promptCache?: boolean;
  /** Sampling temperature. Default: the provider's own. */
  temperature?: number;
  /**
   * Whether a tool must be called, for the first model call of a run: `auto`, `none`, `required` or the name of
   * a tool. Default: the model decides.
   */
  toolChoice?: "auto" | "none" | "required" | { name: string };
  /**
   * What happens when the model calls a tool that does not exist: `corrected` answers nearly right names with
   * the right ones, `documented` drops the batch and asks once more without tools. Default `corrected`.
   */
  unknownTool?: "corrected" | "documented";
  /**
   * How PHP tags and dangerous calls are taken out of the answer and of the reasoning: `documented` takes them out
   * everywhere, `outside_code_fences` leaves Markdown code as it is, `escape` writes them as HTML entities, `off`
   * changes nothing. Also yes, `documented`, and no, `off`. Default `documented`.
   */
  sanitiseOutput?: boolean | "off" | "outside_code_fences" | "documented" | "escape";
  /**
   * Whether a stream shows the answer as the model writes it, `live`, or only when it is complete, `replay`.
   * Default `live`.
   */
  streamMode?: "live" | "replay";
  /** Whether a call that was denied is denied without asking when it comes again in the run. Default yes. */
  rememberDenials?: boolean;
  /** Rules of the built-in guards: a preset, and settings on top of it. Default: every guard is on, strict. */
  guardRules?: GuardRules;
  /**
   * How results of tools are cleaned. Default: orders to the model and secrets are replaced, and what is flagged is
   * fenced.
   */
  toolOutput?: ToolOutputRules;
  /** Whether personal data in results of tools is replaced by its sort, as in `[REDACTED_EMAIL]`. Default no. */
  redactPiiInToolResults?: boolean;
  /** Tools whose results keep personal data. Default: none. */
  exemptTools?: readonly string[];
  /**
   * What guards do with the arguments of tool calls: `off`; `flag` tells the gate and events; `block` refuses
   * the call. Default `flag`.
   */
  scanToolArguments?: "off" | "flag" | "block";
  /** Tools that are offered on every turn, outside the limit, and never trimmed. Default: none. */
  alwaysIncludeTools?: readonly string[];
  /**
   * Whether providers that go over the network to a real model may be used; a test switches that off. Default
   * yes, unless the environment variable `CHELIPED_ALLOW_REAL_PROVIDERS` is `0`.
   */
  allowRealProviders?: boolean;
}

/** An agent as the engine built it, with the functions that it calls. */
export interface Assembled {
  readonly agent: Native.Agent;
  readonly callbacks: Callbacks;
}

const PARTS = [
  "provider",
  "fallbacks",
  "tools",
  "skills",
  "hooks",
  "guards",
  "interceptors",
  "approval",
  "checkpoint",
] as const satisfies (keyof AgentOptions)[];

let plain: string[] | undefined;

/** Names of the plain settings, as the engine's table has them. */
export function plainSettings(): readonly string[] {
  plain ??= (parse(native.tables()) as { options: { name: string }[] }).options.map(({ name }) => camel(name));
  return plain;
}

/** Names of all options. */
export function optionNames(): readonly string[] {
  return [...PARTS, "env", ...plainSettings()];
}

/**
 * Builds an agent.
 *
 * @throws ConfigurationError listing what cannot be used.
 */
export function assemble(options: AgentOptions): Assembled {
  if (typeof options !== "object" || options === null) throw unusable("the options of an agent must be an object");
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  const values = Object.fromEntries(given.filter(([name]) => !(PARTS as readonly string[]).includes(name)));
  refuseUnknown(Object.keys(values));
  const assembly = attempt(() => new native.Assembly(writeSetting("the options", plainData(values))));
  const callbacks = new Map<number, Callback>();
  const register = (made: Registered) => {
    const number = nextNumber();
    const settings = writeSetting(made.kind, made.settings);
    attempt(() => assembly.function(made.kind, settings, number));
    callbacks.set(number, made.callback);
  };
  const { provider, tools, skills, hooks, guards, interceptors, approval, checkpoint, fallbacks } = options;
  for (const model of [provider, ...list("fallbacks", fallbacks)]) addProvider(assembly, register, model);
  for (const tool of list("tools", tools)) {
    if (!(tool instanceof Tool)) throw unusable("tools: each must be made by tool({ … })");
    const { native: compiled, number, callback } = insideOf(tool);
    attempt(() => assembly.tool(compiled));
    callbacks.set(number, callback);
  }
  for (const skill of list("skills", skills)) attempt(() => assembly.skill(writeSetting("a skill", skill)));
  for (const hook of list("hooks", hooks)) {
    if (hook instanceof EngineHook) attempt(() => assembly.hook(writeSetting("a hook", EngineHook.data(hook))));
    else register(registeredHook(hook));
  }
  for (const guard of list("guards", guards)) register(registeredGuard(guard));
  for (const interceptor of list("interceptors", interceptors)) register(registeredInterceptor(interceptor));
  if (approval !== undefined) register(registeredApproval(approval));
  if (checkpoint !== undefined) register(registeredCheckpoint(checkpoint));
  return { agent: attempt(() => assembly.build()), callbacks };
}

function addProvider(
  assembly: Native.Assembly,
  register: (made: Registered) => void,
  given: Provider | undefined,
): void {
  if (given === undefined) attempt(() => assembly.provider());
  else if (given instanceof ScriptedProvider) attempt(() => assembly.script(scriptOf(given)));
  else if (typeof given === "object" && given !== null && isCustom(given)) register(registeredProvider(given));
  else attempt(() => assembly.provider(providerSettings(given)));
}

function refuseUnknown(names: readonly string[]): void {
  const known = optionNames();
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length === 0) return;
  const problems = unknown.map((name) => {
    const meant = known.find((other) => other === camel(name));
    return `there is no option ${name}${meant === undefined ? "" : `; it is spelled ${meant}`}`;
  });
  throw new ConfigurationError(problems.join("; "), { details: { problems } });
}

function plainData(values: Record<string, unknown>): Record<string, unknown> {
  const { env, ...others } = values;
  const data = snakeKeys(others);
  if ("guard_rules" in data) data.guard_rules = rulesData(data.guard_rules);
  if (env !== undefined) data.env = typeof env === "object" && env !== null ? snakeKeys(env) : env;
  return data;
}

function list<T>(name: string, given: readonly T[] | undefined): readonly T[] {
  if (given === undefined) return [];
  if (!Array.isArray(given)) throw unusable(`${name} must be a list`);
  return given;
}
