// How schemas of zod 4 are written as JSON Schema: its own converter, told what to do where JSON has no form.

import { isPlainPattern, Unrepresentable } from "./unrepresentable.js";

/** As much of a zod 4 schema as is looked at. */
interface Zod4 {
  _zod: {
    def: Def & {
      type: string;
      coerce?: boolean;
      values?: readonly unknown[];
      checks?: readonly { _zod?: { def?: Def } }[];
    };
  };
}

/** A schema of a text, or a check of one. */
interface Def {
  format?: string;
  pattern?: RegExp;
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
  } else if (type === "string") tidyText(zodSchema, jsonSchema);
  else if (type === "record") {
    const names = jsonSchema.propertyNames as Record<string, unknown> | undefined;
    // All names are texts.
    if (names?.type === "string" && Object.keys(names).length === 1) delete jsonSchema.propertyNames;
  }
}

// Checks that zod counts among the formats, and that are patterns.
const PATTERNS = new Set(["regex", "starts_with", "ends_with", "includes", "lowercase", "uppercase"]);

/** Leaves out patterns that a format says in a word, and those that the engine would read in another way; zod checks them. */
function tidyText({ _zod: { def } }: Zod4, json: Record<string, unknown>): void {
  const checks = [def, ...(def.checks ?? []).map((check) => check._zod?.def)];
  const left = checks.filter((check) => !check?.pattern || !isPattern(check) || !isPlainPattern(check.pattern));
  const dropped = new Set(left.map((check) => check?.pattern?.source));
  if (PATTERNS.has(String(json.format))) delete json.format;
  if (dropped.has(json.pattern as string)) delete json.pattern;
  if (!Array.isArray(json.allOf)) return;
  const kept = json.allOf.filter((part: { pattern?: string }) => !dropped.has(part.pattern));
  delete json.allOf;
  if (kept.length === 1) Object.assign(json, kept[0]);
  else if (kept.length > 1) json.allOf = kept;
}

function isPattern({ format = "regex" }: Def): boolean {
  return PATTERNS.has(format);
}
