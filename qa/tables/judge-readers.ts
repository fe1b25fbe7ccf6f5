import { READABLE_BYTES } from "../../packages/server/src/kernel/commits/rules/unreadable-record.ts";
import type { Entry, Evidence, TableRow, ToldPaper } from "./evidence.ts";
import { isUnreadable } from "./row-state.ts";

/** What readers were told of papers, beside the log and the table. Returns what is wrong. */
export function judgeReaders({ told, lists, log, rows }: Pick<Evidence, "told" | "lists" | "log" | "rows">): string[] {
  const entries = new Map(log.map((entry) => [entry.syncId, entry]));
  const papers = rows.filter(({ model }) => model === "paper");
  return [
    ...told.flatMap((paper) => {
      const entry = entries.get(paper.syncId ?? 0);
      return entry && isOfEntry(paper, entry)
        ? []
        : `${paper.by} told ${spelled(paper)} of ${paper.id} at ${paper.syncId}`;
    }),
    ...lists.flatMap((list) => listFaults(list, papers)),
  ];
}

function isOfEntry({ data, unreadable }: ToldPaper, entry: Entry): boolean {
  if (typeof entry.unreadable === "string")
    return data === null && unreadable === entry.unreadable && isSentence(unreadable);
  return unreadable === undefined && (entry.verb === "deleted" ? data === null : hasValues(data, entry));
}

function listFaults(list: readonly ToldPaper[], papers: readonly TableRow[]): string[] {
  const left = new Map(list.map((paper) => [paper.id, paper]));
  const by = list[0]?.by ?? "a list";
  const faults = left.size < list.length ? [`${by} has a paper twice`] : [];
  for (const row of papers) {
    const paper = left.get(row.id);
    left.delete(row.id);
    if (!paper) faults.push(`${by} lacks ${row.id}`);
    else if (!isOfRow(paper, row))
      faults.push(`${by} told ${spelled(paper)} of ${row.id}, which has ${row.bytes} bytes`);
  }
  return [...faults, ...[...left.keys()].map((id) => `${by} has ${id}, which is in no table`)];
}

const isOfRow = ({ data, unreadable }: ToldPaper, row: TableRow): boolean =>
  isUnreadable(row) ? data === null && isSentence(unreadable) : unreadable === undefined && hasValues(data, row);

function hasValues(data: ToldPaper["data"], { data: wanted }: Pick<TableRow, "data">): boolean {
  const { mark, body } = (wanted ?? {}) as { readonly mark?: unknown; readonly body?: unknown };
  return data !== null && data.mark === mark && data.body === body;
}

const SENTENCE =
  /^The record has (\d+) bytes of JSON \(up to (\d+) can be read\)\. Make its row smaller, or keep the large value elsewhere\.$/;

function isSentence(unreadable: unknown): boolean {
  const [, bytes, bound] = (typeof unreadable === "string" && SENTENCE.exec(unreadable)) || [];
  return Number(bytes) > READABLE_BYTES && Number(bound) === READABLE_BYTES;
}

const spelled = ({ data, unreadable }: ToldPaper): string =>
  `${data ? `values of ${data.mark}` : "no values"}${unreadable === undefined ? "" : ` and "${unreadable}"`}`;
