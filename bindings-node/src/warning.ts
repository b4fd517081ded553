// Warnings for whoever operates the process: what a function threw that nobody else will ever see.

/** Warns of what a function threw. */
export function warn(what: string, error: unknown): void {
  process.emitWarning(`${what}: ${described(error)}`, "ChelipedWarning");
}

function described(error: unknown): string {
  try {
    return error instanceof Error ? (error.stack ?? `${error.name}: ${error.message}`) : String(error);
  } catch {
    return "something that cannot be put into words";
  }
}
