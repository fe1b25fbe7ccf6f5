import { jsonProblem } from "@holdfast/sdk/protocol";
import { type Refusal, refuse } from "../refusal.ts";

const ROUNDED = "has more digits than a number keeps; send it as text";

/**
 * Refuses JSON values that the database or other clients could not return unchanged. `rounded`: the numbers that were
 * rounded when their text was parsed. It is asked only if there is a number so large.
 */
export function checkJsonValues(
  value: unknown,
  param?: string,
  rounded?: () => ReadonlySet<unknown>,
): Refusal | undefined {
  const problem = jsonProblem(value, param, undefined, (number) => (rounded?.().has(number) ? ROUNDED : undefined));
  if (!problem) return undefined;
  const { what } = problem;
  const path = problem.path.length > 200 ? `${problem.path.slice(0, 200)}…` : problem.path;
  // The body itself has no name.
  return refuse("invalid_value", { ...(path && { param: path }), message: `${path || "The body"} ${what}.` });
}
