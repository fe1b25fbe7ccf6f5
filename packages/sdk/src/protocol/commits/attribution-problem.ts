import { isPlainObject, jsonProblem } from "../json-problem.ts";
import type { Attribution } from "./attribution-of.ts";
import type { CommitProblem } from "./commit-problem.ts";

export const attributionLimits = {
  reasonLength: 1_000,
  runLength: 255,
  metaBytes: 4_096,
} as const;

/** What is wrong with it, also in its shape. `bytesOf` counts the bytes of a text in UTF-8. */
export function attributionProblem(
  { reason, run, onBehalfOf, meta }: { readonly [key in keyof Attribution]?: unknown },
  bytesOf: (text: string) => number,
): CommitProblem | undefined {
  return (
    textProblem("reason", reason, attributionLimits.reasonLength) ??
    textProblem("run", run, attributionLimits.runLength) ??
    (onBehalfOf !== undefined && !isParticipant(onBehalfOf)
      ? problem("invalid_value", "onBehalfOf", "onBehalfOf must be a participant, like user:ann.")
      : undefined) ??
    metaProblem(meta, bytesOf)
  );
}

function textProblem(param: string, text: unknown, most: number): CommitProblem | undefined {
  if (text === undefined) return undefined;
  if (typeof text !== "string") return problem("invalid_type", param, `${param} must be a string.`);
  if (text === "" || text.length > most)
    return problem("invalid_value", param, `${param} must have 1 to ${most} characters.`);
  const found = jsonProblem(text);
  return found && problem("invalid_value", param, `${param} ${found.what}.`);
}

const isParticipant = (name: unknown): boolean =>
  typeof name === "string" && /^(user|agent|system):[^\s\0]{1,255}$/.test(name) && !jsonProblem(name);

function metaProblem(meta: unknown, bytesOf: (text: string) => number): CommitProblem | undefined {
  if (meta === undefined) return undefined;
  if (!isPlainObject(meta)) return problem("invalid_type", "meta", "meta must be an object.");
  const found = jsonProblem(meta);
  if (found) return problem("invalid_value", "meta", `meta ${found.what}.`);
  return bytesOf(JSON.stringify(meta)) > attributionLimits.metaBytes
    ? problem("invalid_value", "meta", `meta can have up to ${attributionLimits.metaBytes} bytes of JSON.`)
    : undefined;
}

const problem = (code: CommitProblem["code"], param: string, message: string): CommitProblem => ({
  code,
  param,
  message,
});
