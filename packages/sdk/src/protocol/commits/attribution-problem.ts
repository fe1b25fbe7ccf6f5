import { isPlainObject, jsonProblem } from "../json-problem.ts";
import type { CommitProblem } from "./commit-problem.ts";

export const attributionLimits = {
  reasonLength: 1_000,
  runLength: 255,
  metaBytes: 4_096,
} as const;

/** Why a commit or a claim was made: for people and audits. */
export interface Attribution {
  /** Why, in a sentence for people, up to 1 000 characters. */
  readonly reason?: string;
  /** What the author is doing, by its own name, up to 255 characters: all that an agent changes for one request has the same one. */
  readonly run?: string;
  /** For whom, `<kind>:<id>`. The token's `onBehalfOf` has to name them, else the write is refused. The author stays the author. */
  readonly onBehalfOf?: string;
  /** The author's own notes, up to 4 KiB of JSON. */
  readonly meta?: Readonly<Record<string, unknown>>;
}

export const ATTRIBUTION = ["reason", "run", "onBehalfOf", "meta"] as const;

/** The given keys, in one order. Undefined: there are none. */
export function attributionOf(given: { readonly [key in keyof Attribution]?: unknown }): Attribution | undefined {
  const entries = ATTRIBUTION.flatMap((key) => (given[key] === undefined ? [] : [[key, given[key]]]));
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** What is wrong with it, also in its shape. `bytesOf` counts the bytes of a text in UTF-8. */
export function attributionProblem(
  { reason, run, onBehalfOf, meta }: { readonly [key in keyof Attribution]?: unknown },
  bytesOf: (text: string) => number,
): CommitProblem | undefined {
  return (
    textProblem("reason", reason, attributionLimits.reasonLength) ??
    textProblem("run", run, attributionLimits.runLength) ??
    (onBehalfOf !== undefined && !isParticipant(onBehalfOf)
      ? problem("invalid_value", "onBehalfOf", "onBehalfOf must be a participant, as user:ann.")
      : undefined) ??
    metaProblem(meta, bytesOf)
  );
}

function textProblem(param: string, text: unknown, most: number): CommitProblem | undefined {
  if (text === undefined) return undefined;
  if (typeof text !== "string") return problem("invalid_type", param, `${param} must be a text.`);
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
