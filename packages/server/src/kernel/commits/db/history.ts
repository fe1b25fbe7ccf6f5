import type { Verb } from "@holdfast/sdk/protocol";
import type { Statement } from "../../connection/statement.ts";
import type { FiledEntry } from "../rules/tenant-state.ts";
import { recordEntries } from "./record-entries.ts";
import type { RecordName } from "./records.ts";

/** A write with more entries than this after its `readAt` counts as stale in every field. This bounds the response. */
const MOST = 1_000;

interface PastRow {
  n: number;
  sync_id: number;
  verb: Verb;
  changed_fields: string | null;
  written_by: string;
  client_id: string | null;
  groups: string[];
}

export interface HistoryQuestion extends RecordName {
  readonly after: number;
}

const OF_QUESTION = {
  tenant: "k.tenant",
  model: "k.model",
  id: "k.id",
  within: (position: string) => `${position} > k.after`,
};

/** The entries about each record after a position, oldest first; one list per question. */
export const loadHistory = (questions: readonly HistoryQuestion[]): Statement<FiledEntry[][]> => ({
  name: "load_history",
  text: `select k.n, l.sync_id, l.verb, l.changed_fields, l.participant_kind || ':' || l.actor as written_by, l.client_id, l.groups
    from unnest($1::int[], $2::text[], $3::text[], $4::bigint[]) with ordinality as k(tenant, model, id, after, n)
    cross join lateral (${recordEntries({ ...OF_QUESTION, order: "desc", limit: String(MOST) })}) l`,
  values: [
    questions.map(({ tenant }) => tenant),
    questions.map(({ model }) => model),
    questions.map(({ id }) => id),
    questions.map(({ after }) => after),
  ],
  read: (rows) => {
    const lists: FiledEntry[][] = questions.map(() => []);
    for (const row of rows as PastRow[]) lists[row.n - 1]?.push(toEntry(row));
    return lists.map((list) => bounded(list.sort((a, b) => a.syncId - b.syncId)));
  },
});

const toEntry = (row: PastRow): FiledEntry => ({
  syncId: row.sync_id,
  verb: row.verb,
  changedFields: row.changed_fields === null ? null : (JSON.parse(row.changed_fields) as string[]),
  writtenBy: row.written_by,
  clientId: row.client_id,
  groups: row.groups,
});

const bounded = (list: FiledEntry[]): FiledEntry[] =>
  list.length < MOST
    ? list
    : list.map((entry, i) => (i === 0 ? { ...entry, changedFields: null, clientId: null } : entry));
