import { isDeepStrictEqual } from "node:util";
import type { CommitReceipt } from "@holdfast/sdk/protocol";
import type { StoredEntry, StoredRow } from "./log-tables.ts";

/** One write as its writer remembers it. */
export interface WriteCall {
  /** Its key, its name, and the title that it writes. */
  readonly name: string;
  readonly operations: readonly { readonly model: string; readonly id: string }[];
  /** When it was first sent. */
  readonly asked: number;
  answered?: number;
  /** There when it was acknowledged. */
  receipt?: Pick<CommitReceipt, "lastSyncId" | "missingIds">;
  /** Given up without an answer: it may have happened, or not. */
  abandoned?: true;
  /** Refused for a reason that it had to expect. */
  declined?: string;
  refused?: string;
  /** Its commit may have changed other records besides, each once. */
  readonly changesMore?: true;
}

/** The entries that a follower of the log received. */
export interface Followed {
  /** The positions, in the order in which they arrived. */
  readonly positions: readonly number[];
  readonly faults: readonly string[];
}

export interface Evidence {
  readonly head: number;
  readonly log: readonly StoredEntry[];
  readonly rows: readonly StoredRow[];
  readonly calls: readonly WriteCall[];
  readonly followers: readonly Followed[];
}

export interface Verdict {
  readonly violations: readonly string[];
  readonly entries: number;
  readonly lost: number;
  readonly duplicated: number;
  /** Writes without a response that took effect. */
  readonly abandonedFound: number;
  readonly followers: number;
}

/** Compares the acknowledged writes with the tables. */
export function audit({ head, log, rows, calls, followers }: Evidence): Verdict {
  const violations: string[] = [];
  const report = (violation: string) => void violations.push(violation);
  let lost = 0;
  let duplicated = 0;
  let abandonedFound = 0;

  for (const [i, { syncId }] of log.entries())
    if (syncId !== i + 1 && log[i - 1]?.syncId === i) report(`the log has a hole at ${i + 1}`);
  if ((log.at(-1)?.syncId ?? 0) !== head) report(`the log ends at ${log.at(-1)?.syncId}, its head says ${head}`);

  const byName = new Map<string, StoredEntry[]>();
  for (const entry of log) byName.set(entry.name, [...(byName.get(entry.name) ?? []), entry]);
  for (const call of calls) {
    const entries = byName.get(call.name) ?? [];
    const wanted = call.operations.length - missingCount(call);
    if (call.refused) report(`${call.name} was refused: ${call.refused}`);
    if (call.receipt && entries.length < wanted) {
      lost += 1;
      report(
        `${call.name} was acknowledged at ${call.receipt.lastSyncId}, and ${entries.length} of its ${wanted} entries are in the log`,
      );
    }
    if (entries.length > mostEntries(call, entries)) {
      duplicated += 1;
      report(`${call.name} is in the log ${entries.length} times for ${call.operations.length} operations`);
    }
    if (!call.receipt && entries.length > 0 && (call.refused ?? call.declined))
      report(`${call.name} was refused, and is in the log at ${entries[0]?.syncId}`);
    else if (!call.receipt && entries.length > 0) abandonedFound += 1;
    if (entries.length > 0 && (entries.at(-1)?.syncId ?? 0) - (entries[0]?.syncId ?? 0) !== entries.length - 1)
      report(`the entries of ${call.name} do not stand together`);
    if (call.receipt && entries.length > 0 && call.receipt.lastSyncId !== entries.at(-1)?.syncId)
      report(`${call.name} was acknowledged at ${call.receipt.lastSyncId} and stands at ${entries.at(-1)?.syncId}`);
  }
  const known = new Set(calls.map(({ name }) => name));
  const foreign = log.filter(({ name }) => /^w\d/.test(name) && !known.has(name));
  if (foreign.length > 0) report(`${foreign.length} entries belong to no request`);

  judgeOrder(calls, report);
  judgeRows(log, rows, report);
  for (const [i, { positions, faults }] of followers.entries()) {
    for (const fault of faults) report(`follower ${i}: ${fault}`);
    if (positions.length !== head || positions.some((position, at) => position !== at + 1))
      report(`follower ${i} heard ${positions.length} entries, not 1 … ${head} in order`);
  }
  return { violations, entries: log.length, lost, duplicated, abandonedFound, followers: followers.length };
}

const mostEntries = ({ operations, changesMore }: WriteCall, entries: readonly StoredEntry[]): number =>
  changesMore ? new Set(entries.map(({ model, id }) => `${model}/${id}`)).size : operations.length;

/** Operations that found no record to change: they have no entry. */
const missingCount = ({ receipt }: WriteCall): number => receipt?.missingIds?.length ?? 0;

/** A write that was answered before another was sent must have the lower position. */
function judgeOrder(calls: readonly WriteCall[], report: (violation: string) => void): void {
  const done = calls.filter(({ receipt }) => receipt);
  const byAnswer = [...done].sort((a, b) => (a.answered ?? 0) - (b.answered ?? 0));
  let next = 0;
  let newest = 0;
  for (const call of [...done].sort((a, b) => a.asked - b.asked)) {
    for (; (byAnswer[next]?.answered ?? Number.POSITIVE_INFINITY) < call.asked; next++)
      newest = Math.max(newest, byAnswer[next]?.receipt?.lastSyncId ?? 0);
    // A commit that changed nothing stands where the log ended.
    const least = missingCount(call) === call.operations.length ? newest : newest + 1;
    if ((call.receipt?.lastSyncId ?? 0) < least)
      report(`${call.name} stands at ${call.receipt?.lastSyncId}, and ${newest} was answered before it was asked`);
  }
}

/** The rows must equal the replayed log. */
function judgeRows(log: readonly StoredEntry[], rows: readonly StoredRow[], report: (violation: string) => void): void {
  const replayed = new Map<string, { syncId: number; data: unknown }>();
  for (const { model, id, verb, data, syncId } of log) {
    if (verb === "deleted") replayed.delete(`${model}/${id}`);
    else replayed.set(`${model}/${id}`, { syncId, data });
  }
  for (const { model, id, syncId, data } of rows) {
    const wanted = replayed.get(`${model}/${id}`);
    replayed.delete(`${model}/${id}`);
    if (!isDeepStrictEqual(wanted, { syncId, data }))
      report(`${model}/${id} is at ${syncId}, the log says ${wanted?.syncId ?? "that it is gone"}`);
  }
  for (const key of replayed.keys()) report(`${key} is in the log and has no row`);
}
