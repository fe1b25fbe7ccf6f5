import { isDeepStrictEqual } from "node:util";
import type { ModelSchema } from "@holdfast/sdk/protocol";
import type { Scope } from "../exchange/actors.ts";
import { groupsOf, readsModel, seesGroups } from "./sight.ts";

type Row = Readonly<Record<string, unknown>>;

export interface AuditedEntry {
  readonly syncId: number;
  readonly model: string;
  readonly id: string;
  /** Its values were removed: it says no more where its record was. */
  readonly erased?: boolean;
  readonly verb: string;
  readonly data: Row | null;
}

export interface AuditedRow {
  readonly model: string;
  readonly id: string;
  readonly syncId: number;
  readonly archivedAt?: string;
  readonly data: Row;
}

/** One tenant as a secret key reads it in the end. */
export interface Tenant {
  readonly name: string;
  readonly stamp: number;
  readonly log: readonly AuditedEntry[];
  readonly rows: readonly AuditedRow[];
}

/** A log must have no holes, and its replay must equal the snapshot. */
export function auditTenant({ name, stamp, log, rows }: Tenant): string[] {
  const faults: string[] = [];
  const hole = log.findIndex(({ syncId }, i) => syncId !== i + 1);
  if (hole >= 0) faults.push(`the log of ${name} goes on with ${log[hole]?.syncId} where ${hole + 1} is due`);
  if (hole < 0 && log.length !== stamp) faults.push(`the log of ${name} ends at ${log.length}, its head is ${stamp}`);
  const replayed = new Map<string, { syncId: number; data: Row; archived: boolean }>();
  for (const { syncId, model, id, verb, data } of log) {
    const key = `${model}/${id}`;
    if (data === null) replayed.delete(key);
    else {
      const archived = verb === "updated" ? (replayed.get(key)?.archived ?? false) : verb === "archived";
      replayed.set(key, { syncId, data, archived });
    }
  }
  for (const { model, id, syncId, archivedAt, data } of rows) {
    const key = `${model}/${id}`;
    const wanted = replayed.get(key);
    replayed.delete(key);
    if (!isDeepStrictEqual(wanted, { syncId, data, archived: archivedAt !== undefined }))
      faults.push(`${key} of ${name} is not what its log adds up to`);
  }
  for (const key of replayed.keys()) faults.push(`${key} of ${name} is in its log and has no row`);
  return faults;
}

/** Positions that tokens were shown, held against where each entry's record was before and after. */
export function auditSight(
  { models }: ModelSchema,
  { name, log }: Tenant,
  shown: ReadonlyMap<Scope, ReadonlySet<number>>,
): string[] {
  const faults: string[] = [];
  const before = new Map<string, readonly string[]>();
  const placeless = new Set<number>();
  const entries = new Map<number, { readonly model: string; readonly groups: readonly string[] }>();
  /** Records whose last entry was erased, so that no entry has their groups. */
  const erasedLast = new Set<string>();
  for (const { syncId, model, id, data, erased, verb } of log) {
    const key = `${model}/${id}`;
    const after = data ? groupsOf(models[model], data) : [];
    const isErased = erased === true || verb === "erased";
    if (!isErased && !erasedLast.has(key))
      entries.set(syncId, { model, groups: [...(before.get(key) ?? []), ...after] });
    else placeless.add(syncId);
    if (isErased) erasedLast.add(key);
    else erasedLast.delete(key);
    before.set(key, after);
  }
  for (const [scope, positions] of shown)
    for (const syncId of positions) {
      if (placeless.has(syncId)) continue;
      const entry = entries.get(syncId);
      if (!entry || !readsModel(scope, entry.model) || !seesGroups(scope, entry.groups))
        faults.push(`entry ${syncId} of ${name} was shown to a token of ${scope.syncGroups.join(", ")}`);
    }
  return faults;
}

/** Reads a whole tenant: its log from the beginning, and a snapshot. No writes may happen meanwhile. */
export async function readTenant(url: string, name: string, token: string): Promise<Tenant> {
  const request = async (path: string) => {
    const response = await fetch(url + path, { headers: { authorization: `Bearer ${token}` } });
    if (!response.ok) throw new Error(`${path} was answered with ${response.status}.`);
    return await response.text();
  };
  const log: AuditedEntry[] = [];
  let stamp = 0;
  for (let after = "0", more = true; more; ) {
    const page = JSON.parse(await request(`/v1/log?after=${after}&limit=1000`)) as {
      data: AuditedEntry[];
      has_more: boolean;
      next_cursor: string;
      stamp: number;
    };
    log.push(...page.data);
    ({ stamp, has_more: more, next_cursor: after } = page);
  }
  const rows: AuditedRow[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const query: string = cursor === "" ? "" : `?starting_after=${encodeURIComponent(cursor)}`;
    const lines = (await request(`/v1/snapshot${query}`)).trimEnd().split("\n");
    rows.push(...lines.slice(1, -1).map((line) => JSON.parse(line) as AuditedRow));
    cursor = (JSON.parse(lines.at(-1) as string) as { next_cursor: string | null }).next_cursor;
  }
  return { name, stamp, log, rows };
}
