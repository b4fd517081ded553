// Schemas of zod 3 as JSON Schema. That version has no converter of its own.

import { isPlainPattern, Unrepresentable } from "./unrepresentable.js";

/** As much of a zod 3 schema as is looked at; what the fields mean depends on `typeName`. */
interface Zod3 {
  description?: string;
  _def: Record<string, any> & { typeName: string };
}

type Schema = Record<string, unknown>;
type Path = readonly PropertyKey[];

export function isZod3(schema: object): schema is Zod3 {
  return "_def" in schema && !("_zod" in schema) && String((schema as Zod3)._def.typeName).startsWith("Zod");
}

/** The schema of what goes in: before defaults and transforms. */
export function zod3Schema(schema: Zod3): Schema {
  return new Writer().root(schema);
}

// Wrappers that change nothing of what goes in, with the name of the field that holds what they wrap.
const WRAPPERS: Readonly<Record<string, string>> = {
  ZodOptional: "innerType",
  ZodDefault: "innerType",
  ZodCatch: "innerType",
  ZodReadonly: "innerType",
  ZodBranded: "type",
  ZodEffects: "schema",
  ZodPipeline: "in",
};

// Names of string formats in JSON Schema.
const FORMATS: Readonly<Record<string, string>> = {
  email: "email",
  url: "uri",
  uuid: "uuid",
  datetime: "date-time",
  date: "date",
  duration: "duration",
};

class Writer {
  /** Recursive schemas, each written once. */
  readonly #defs = new Map<Zod3, { name: string; schema: Schema }>();

  root(schema: Zod3): Schema {
    const written = this.#write(schema, []);
    if (this.#defs.size === 0) return written;
    const defs = [...this.#defs.values()].map(({ name, schema }): [string, Schema] => [name, schema]);
    return { ...written, $defs: Object.fromEntries(defs) };
  }

  #write(schema: Zod3, path: Path): Schema {
    const written = this.#plain(schema, path);
    const { description } = schema._def;
    return description === undefined ? written : { ...written, description };
  }

  #plain(schema: Zod3, path: Path): Schema {
    const def = schema._def;
    const wrapped = WRAPPERS[def.typeName];
    if (wrapped !== undefined) {
      // What z.custom and z.instanceof make.
      const isCustom = def.typeName === "ZodEffects" && def.effect.type === "refinement";
      if (isCustom && def.schema._def.typeName === "ZodAny") throw new Unrepresentable("custom", path);
      const inner = this.#write(def[wrapped], path);
      return def.typeName === "ZodDefault" ? { ...inner, default: def.defaultValue() } : inner;
    }
    switch (def.typeName) {
      case "ZodString":
        return string(def.checks);
      case "ZodNumber":
        return number(def.checks);
      case "ZodBoolean":
        return { type: "boolean" };
      case "ZodNull":
        return { type: "null" };
      case "ZodAny":
      case "ZodUnknown":
        return {};
      case "ZodNever":
        return { not: {} };
      case "ZodDate":
        if (!def.coerce) throw new Unrepresentable("date", path);
        return { type: "string", format: "date-time" };
      case "ZodBigInt":
        if (!def.coerce) throw new Unrepresentable("bigint", path);
        return { type: "integer" };
      case "ZodLiteral":
        return literal(def.value, path);
      case "ZodEnum":
        return { type: "string", enum: [...def.values] };
      case "ZodNativeEnum":
        return { enum: enumValues(def.values) };
      case "ZodNullable":
        return { anyOf: [this.#write(def.innerType, path), { type: "null" }] };
      case "ZodArray":
        return this.#list(def, path);
      case "ZodTuple":
        return this.#tuple(def, path);
      case "ZodObject":
        return this.#object(def, path);
      case "ZodRecord":
        return this.#record(def, path);
      case "ZodUnion":
      case "ZodDiscriminatedUnion":
        return { anyOf: [...def.options].map((option: Zod3) => this.#write(option, path)) };
      case "ZodIntersection":
        return { allOf: [this.#write(def.left, path), this.#write(def.right, path)] };
      case "ZodLazy":
        return this.#lazy(schema, path);
      default:
        throw new Unrepresentable(def.typeName.replace("Zod", "").toLowerCase(), path);
    }
  }

  #object(def: Record<string, any>, path: Path): Schema {
    const fields: [string, Zod3][] = Object.entries(def.shape());
    const properties = fields.map(([name, field]): [string, Schema] => [
      name,
      this.#write(field, [...path, "properties", name]),
    ]);
    const written: Schema = { type: "object", properties: Object.fromEntries(properties) };
    const required = fields.filter(([, field]) => !mayBeMissing(field)).map(([name]) => name);
    if (required.length > 0) written.required = required;
    if (def.unknownKeys === "strict") written.additionalProperties = false;
    else if (def.catchall._def.typeName !== "ZodNever") {
      written.additionalProperties = this.#write(def.catchall, [...path, "additionalProperties"]);
    }
    return written;
  }

  #record(def: Record<string, any>, path: Path): Schema {
    const written: Schema = { type: "object" };
    const names = this.#write(def.keyType, path);
    if (Object.keys(names).some((key) => key !== "type")) written.propertyNames = names;
    written.additionalProperties = this.#write(def.valueType, [...path, "additionalProperties"]);
    return written;
  }

  #list(def: Record<string, any>, path: Path): Schema {
    const written: Schema = { type: "array", items: this.#write(def.type, [...path, "items"]) };
    const minimum = def.exactLength ?? def.minLength;
    const maximum = def.exactLength ?? def.maxLength;
    if (minimum) written.minItems = minimum.value;
    if (maximum) written.maxItems = maximum.value;
    return written;
  }

  #tuple(def: Record<string, any>, path: Path): Schema {
    const items: Zod3[] = def.items;
    return {
      type: "array",
      prefixItems: items.map((item) => this.#write(item, [...path, "items"])),
      items: def.rest ? this.#write(def.rest, [...path, "items"]) : false,
      minItems: items.length,
      ...(def.rest ? {} : { maxItems: items.length }),
    };
  }

  #lazy(schema: Zod3, path: Path): Schema {
    let known = this.#defs.get(schema);
    if (known === undefined) {
      // Known before it is written, so that it can refer to itself.
      known = { name: `schema${this.#defs.size}`, schema: {} };
      this.#defs.set(schema, known);
      Object.assign(known.schema, this.#write(schema._def.getter(), path));
    }
    return { $ref: `#/$defs/${known.name}` };
  }
}

/** Whether a field may be left out: what it is asked of the model, not what the schema gives. */
function mayBeMissing(schema: Zod3): boolean {
  const { typeName } = schema._def;
  if (typeName === "ZodOptional" || typeName === "ZodDefault") return true;
  const wrapped = WRAPPERS[typeName] ?? (typeName === "ZodNullable" ? "innerType" : undefined);
  return wrapped !== undefined && mayBeMissing(schema._def[wrapped]);
}

function string(checks: readonly Record<string, any>[]): Schema {
  const written: Schema = { type: "string" };
  const patterns: string[] = [];
  for (const { kind, value, regex } of checks) {
    const format = FORMATS[kind];
    if (format !== undefined) written.format = format;
    else if (kind === "min") written.minLength = value;
    else if (kind === "max") written.maxLength = value;
    else if (kind === "length") Object.assign(written, { minLength: value, maxLength: value });
    else if (kind === "startsWith") patterns.push(`^${escaped(value)}`);
    else if (kind === "endsWith") patterns.push(`${escaped(value)}$`);
    else if (kind === "includes") patterns.push(escaped(value));
    else if (kind === "regex" && isPlainPattern(regex)) patterns.push(regex.source);
  }
  if (patterns.length === 1) written.pattern = patterns[0];
  else if (patterns.length > 1) written.allOf = patterns.map((pattern) => ({ pattern }));
  return written;
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}

function number(checks: readonly Record<string, any>[]): Schema {
  const written: Schema = { type: "number" };
  for (const { kind, value, inclusive } of checks) {
    if (kind === "int") written.type = "integer";
    else if (kind === "min") written[inclusive ? "minimum" : "exclusiveMinimum"] = value;
    else if (kind === "max") written[inclusive ? "maximum" : "exclusiveMaximum"] = value;
    else if (kind === "multipleOf") written.multipleOf = value;
  }
  return written;
}

function literal(value: unknown, path: Path): Schema {
  if (value === null) return { type: "null" };
  if (["string", "number", "boolean"].includes(typeof value)) return { type: typeof value, const: value };
  throw new Unrepresentable(`the literal ${String(value)}`, path);
}

/** Values of a TypeScript enum: of a numeric one its numbers only, not the names that JavaScript adds. */
function enumValues(values: Record<string, string | number>): (string | number)[] {
  const names = Object.keys(values).filter((name) => typeof values[values[name] as string] !== "number");
  return names.map((name) => values[name] as string | number);
}
