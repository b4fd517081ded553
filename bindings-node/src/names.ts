// Spelling: JSON has snake_case, JavaScript has camelCase. This is the only place that knows both.

const camels = new Map<string, string>();

/** `maxIterations` for `max_iterations`. */
export function camel(name: string): string {
  let spelled = camels.get(name);
  if (spelled === undefined) {
    spelled = name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
    // Names of the engine are few; others are not remembered.
    if (camels.size < 1000) camels.set(name, spelled);
  }
  return spelled;
}

/** `max_iterations` for `maxIterations`. */
export function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** An object with its own keys in camelCase; values are left as they are. */
export function camelKeys(value: object): Record<string, unknown> {
  const spelled: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) spelled[camel(key)] = member;
  return spelled;
}

/** An object with its own keys in snake_case; values are left as they are. */
export function snakeKeys(value: object): Record<string, unknown> {
  const spelled: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) spelled[snake(key)] = member;
  return spelled;
}
