import { type Created, type TrackerModel, tracker } from "../lists/tracker.ts";

export type PeerRow = { readonly id: string } & Readonly<Record<string, unknown>>;
/** A library without lists of ids needs a table between issues and labels: 40,000 more rows, less those named twice. */
export type PeerTable = TrackerModel | "tag";

/** The tracker's rows by table. */
export function trackerTables(): Record<PeerTable, PeerRow[]> {
  const tables: Record<PeerTable, PeerRow[]> = { project: [], label: [], issue: [], comment: [], tag: [] };
  for (const created of tracker()) for (const [table, row] of tableRows(created)) tables[table].push(row);
  return tables;
}

function tableRows({ model, id, data }: Created): readonly (readonly [PeerTable, PeerRow])[] {
  if (model !== "issue") return [[model, { id, ...data }]];
  const { labelIds, ...issue } = data as { labelIds: string[] };
  const tags = [...new Set(labelIds)].map((labelId) => ({ id: `${id}:${labelId}`, issueId: id, labelId }));
  return [["issue", { id, notes: null, ...issue }], ...tags.map((tag) => ["tag", tag] as const)];
}
