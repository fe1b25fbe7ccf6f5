import { jsonProblem, type Rounded } from "@holdfast/sdk/protocol";
import { type Refusal, refuse } from "../refusal.ts";

/** Refuses JSON values that the database or other clients could not return unchanged. */
export function checkJsonValues(value: unknown, param?: string, rounded?: Rounded): Refusal | undefined {
  const problem = jsonProblem(value, param, undefined, rounded);
  if (!problem) return undefined;
  const { what } = problem;
  const path = problem.path.length > 200 ? `${problem.path.slice(0, 200)}…` : problem.path;
  // The body itself has no name.
  return refuse("invalid_value", { ...(path && { param: path }), message: `${path || "The body"} ${what}.` });
}
