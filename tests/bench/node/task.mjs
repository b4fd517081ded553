// What every agent is told and asked.

export const SYSTEM = "You add numbers. Use the tool.";
export const MESSAGE = "Add what the tool needs, then answer.";
export const ANSWER = "The answer is 42.";
