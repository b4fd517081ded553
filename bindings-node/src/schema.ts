// Schemas of tools: JSON Schema for the model, and the check that turns arguments into what the tool gets.
//
// Libraries are known by their shape, none is imported. What JSON cannot express is refused here, once, by its name;
// checking a plain JSON Schema is the engine's work.

import { unusable } from "./errors.js";
import { isZod3, zod3Schema } from "./zod3.js";
import { isZod4, zod4Options } from "./zod4.js";

/** A JSON Schema for an object. */
export type JsonSchema = { readonly [key: string]: unknown };

/** What every schema library offers under `~standard`, see https://standardschema.dev. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    /** The extension for JSON Schema; a schema without it, apart from those of zod 3, cannot be used. */
    readonly jsonSchema?: { readonly input: (options: any) => Record<string, unknown> };
  };
}

/** What a check gives. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** What is wrong with a value. */
export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** What `inputSchema` takes: a schema of zod 3 or 4, of another library, or plain JSON Schema. */
export type InputSchema = StandardSchema | JsonSchema;

/** What `execute` gets as its arguments. */
export type Arguments<S> = S extends StandardSchema<any, infer Output> ? Output : Record<string, any>;

/** A schema that was read. */
export interface ReadSchema {
  /** For the model and the engine. */
  readonly json: JsonSchema;
  /** Checks and converts arguments; not there for plain JSON Schema, which the engine checks. */
  readonly check?: (value: unknown) => Promise<Checked>;
}

/** Arguments as the tool gets them, or what is wrong with them, for the model to mend. */
export type Checked = { value: unknown } | { problems: string };

/**
 * Reads the schema of a tool.
 *
 * @throws ConfigurationError naming the tool and the field that JSON Schema cannot express.
 */
export function readSchema(tool: string, schema: unknown): ReadSchema {
  if (schema === undefined) return { json: {} };
  if ((typeof schema !== "object" && typeof schema !== "function") || schema === null || Array.isArray(schema)) {
    throw unusable(`tool ${JSON.stringify(tool)}: inputSchema must be a schema, it is ${kindOf(schema)}`);
  }
  if (!("~standard" in schema)) {
    if (isZod3(schema)) {
      throw unusable(`tool ${JSON.stringify(tool)}: this version of zod is too old; install 3.24 or later`);
    }
    return { json: schema as JsonSchema };
  }
  const standard = (schema as StandardSchema)["~standard"];
  const check = async (value: unknown) => checked(await standard.validate(value));
  return { json: standardSchema(tool, schema as StandardSchema), check };
}

function standardSchema(tool: string, schema: StandardSchema): JsonSchema {
  const { vendor, jsonSchema } = schema["~standard"];
  const named = `tool ${JSON.stringify(tool)}: inputSchema`;
  try {
    if (isZod3(schema)) return zod3Schema(schema);
    if (jsonSchema === undefined) {
      const hint = isZod4(schema)
        ? "install zod 4.2 or later"
        : "use its JSON Schema, or the library's adapter for that";
      throw new Error(`${vendor} cannot write this schema as JSON Schema; ${hint}`);
    }
    const libraryOptions = isZod4(schema) ? zod4Options() : undefined;
    const { $schema: _, ...json } = jsonSchema.input({ target: "draft-2020-12", libraryOptions });
    return json;
  } catch (cause) {
    throw unusable(`${named}: ${cause instanceof Error ? cause.message : String(cause)}`, cause);
  }
}

const SHOWN = 5;

function checked(result: StandardResult<unknown>): Checked {
  if (result.issues === undefined) return { value: result.value };
  // As many as the engine tells of a JSON Schema.
  const problems = result.issues.slice(0, SHOWN).map((issue) => {
    const path = (issue.path ?? []).map((step) => String(typeof step === "object" ? step.key : step)).join(".");
    return path === "" ? issue.message : `${path}: ${issue.message}`;
  });
  return { problems: problems.join("; ") };
}

function kindOf(value: unknown): string {
  return value === null ? "null" : Array.isArray(value) ? "a list" : `a ${typeof value}`;
}
