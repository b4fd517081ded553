// What JSON has no form for, with what to write instead: the same words for every version of zod.

const INSTEAD: Readonly<Record<string, string>> = {
  bigint: "use z.coerce.bigint()",
  date: "use z.coerce.date()",
  set: "use z.array(…) and .transform((list) => new Set(list))",
  map: "use z.record(…) and .transform(…)",
  custom: "use a schema of values that JSON has, and .refine(…) or .transform(…)",
};

/** A type that JSON has no form for; `path` leads to the field. */
export class Unrepresentable extends Error {
  constructor(type: string, path: readonly PropertyKey[]) {
    const instead = INSTEAD[type] ?? "leave it out";
    super(`${place(path)}JSON has no form for ${type}; ${instead}`);
  }
}

/** A path in a JSON Schema as a path in the value: `since`, `orders[].id`. */
function place(path: readonly PropertyKey[]): string {
  let field = "";
  for (let index = 0; index < path.length; index += 1) {
    const step = path[index];
    if (step === "properties") {
      index += 1;
      field += `${field === "" ? "" : "."}${String(path[index])}`;
    } else if (step === "items" || step === "prefixItems" || step === "additionalProperties") field += "[]";
  }
  return field === "" ? "" : `field ${field}: `;
}

/** Whether a pattern means the same to JavaScript and to an engine without flags, look-around and back-references. */
export function isPlainPattern(pattern: RegExp): boolean {
  return !/[imsv]/.test(pattern.flags) && !/\(\?<?[=!]|\\[1-9]|\\k</.test(pattern.source);
}
