// How schemas of zod 4 are written as JSON Schema: its own converter, told what to do where JSON has no form.

import { isPlainPattern, Unrepresentable } from "./unrepresentable.js";

/** As much of a zod 4 schema as is looked at. */
interface Zod4 {
  _zod: {
    def: {
      type: string;
      coerce?: boolean;
      pattern?: RegExp;
      values?: readonly unknown[];
      checks?: readonly { _zod?: { def?: { pattern?: RegExp } } }[];
    };
    bag?: { patterns?: Set<RegExp> };
  };
}

interface Overridden {
  zodSchema: Zod4;
  jsonSchema: Record<string, unknown>;
  path?: readonly PropertyKey[];
}

export function isZod4(schema: object): boolean {
  return "_zod" in schema;
}

/** The options of the converter. */
export function zod4Options(): Record<string, unknown> {
  // The converter's own way to fail names no field.
  return { unrepresentable: "any", override };
}

// What the converter would describe by an empty schema, which accepts everything.
const WITHOUT_FORM = new Set([
  "bigint",
  "custom",
  "date",
  "file",
  "function",
  "map",
  "nan",
  "promise",
  "set",
  "symbol",
  "transform",
  "undefined",
  "void",
]);

function override({ zodSchema, jsonSchema, path = [] }: Overridden): void {
  const { type, coerce, values = [] } = zodSchema._zod.def;
  if (type === "date" && coerce) Object.assign(jsonSchema, { type: "string", format: "date-time" });
  else if (type === "bigint" && coerce) Object.assign(jsonSchema, { type: "integer" });
  else if (WITHOUT_FORM.has(type)) throw new Unrepresentable(type, path);
  else if (type === "literal") {
    const odd = values.find((value) => value === undefined || typeof value === "bigint");
    if (values.includes(odd)) throw new Unrepresentable(`the literal ${String(odd)}`, path);
  } else if (type === "string") dropPatterns(zodSchema, jsonSchema);
}

/** Takes out patterns that the engine would read in another way; zod still checks them. */
function dropPatterns({ _zod: { def, bag } }: Zod4, json: Record<string, unknown>): void {
  const checks = (def.checks ?? []).map((check) => check._zod?.def?.pattern);
  const patterns = [def.pattern, ...checks, ...(bag?.patterns ?? [])];
  const odd = new Set<unknown>(patterns.filter((pattern) => pattern && !isPlainPattern(pattern)).map((p) => p?.source));
  if (odd.has(json.pattern)) delete json.pattern;
  if (!Array.isArray(json.allOf)) return;
  json.allOf = json.allOf.filter((part: { pattern?: unknown }) => !odd.has(part.pattern));
  if ((json.allOf as unknown[]).length === 0) delete json.allOf;
}
