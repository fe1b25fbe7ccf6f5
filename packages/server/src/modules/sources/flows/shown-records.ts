import { type SourceAnswers, type SourceRecord, sourceLimits } from "@holdfast/sdk/protocol";
import type { StoredSource } from "../db/sources.ts";
import type { CallSource } from "./call-source.ts";

/** A record as the source has shown it, or why it could not. */
export type Shown = SourceRecord | { readonly id: string; readonly problem: string };

/** Records by id as they are now. Large ones are asked for in smaller numbers. Undefined: there was no answer. */
export async function loadShown(
  call: CallSource,
  source: StoredSource,
  model: string,
  ids: readonly string[],
): Promise<readonly Shown[] | undefined> {
  const answer = await call(source, { type: "load", datasource: source.id, model, ids: [...ids] });
  if (answer !== "too large") return answer?.records;
  if (ids.length === 1)
    return ids.map((id) => ({
      id,
      problem: `${model} ${id}: The record is too large to be read from the datasource.`,
    }));
  const half = Math.ceil(ids.length / 2);
  const first = await loadShown(call, source, model, ids.slice(0, half));
  const second = first && (await loadShown(call, source, model, ids.slice(half)));
  return second && [...first, ...second];
}

/** A page of a model's records, a smaller one if they are large. Undefined: there was no answer. */
export async function listPage(
  call: CallSource,
  source: StoredSource,
  model: string,
  cursor: string | null,
): Promise<SourceAnswers["list"] | undefined> {
  for (let limit: number = sourceLimits.pageSize; ; limit = Math.ceil(limit / 4)) {
    const answer = await call(source, { type: "list", datasource: source.id, model, cursor, limit });
    if (answer !== "too large") return answer;
    if (limit === 1) return undefined;
  }
}
