import { createHash } from "node:crypto";
import type { LogEntry } from "@holdfast/sdk/protocol";
import { good, type SendRequest } from "../support/requester.ts";
import type { Entry, ToldPaper } from "./evidence.ts";

const PAPER = "paper";

/** What an entry said of a paper; its large values are forgotten. Undefined: it is of another model. */
export function toldOf(by: string, entry: LogEntry): ToldPaper | undefined {
  const { model, id, syncId, data, unreadable } = entry;
  return model === PAPER ? { by, id, syncId, data: data && digested(data), unreadable } : undefined;
}

const digested = ({ mark, body }: Readonly<Record<string, unknown>>): NonNullable<ToldPaper["data"]> => ({
  mark,
  body: typeof body === "string" ? createHash("md5").update(body).digest("hex") : null,
});

/** Of large papers: the server makes the JSON of all rows of a page before it knows how many fit. */
const PAGE = 4;

/** All papers, page by page, with those that the pages leave out. */
export async function listPapers(by: string, request: SendRequest): Promise<ToldPaper[]> {
  const told: ToldPaper[] = [];
  for (let cursor = ""; ; ) {
    const page = good(await request("GET", `/v1/models/${PAPER}?limit=${PAGE}${cursor}`)) as unknown as Page;
    for (const data of page.data) told.push({ by, id: String(data.id), data: digested(data) });
    for (const { id, message } of page.unreadable ?? []) {
      const { status, body } = await request("GET", `/v1/models/${PAPER}/${id}`);
      const isRefused = status === 413 && body.code === "record_too_large";
      told.push({ by, id, data: null, unreadable: isRefused ? message : `${message} Its own page is ${status}.` });
    }
    if (!page.has_more) return told;
    cursor = `&starting_after=${page.next_cursor}`;
  }
}

interface Page {
  readonly data: readonly Readonly<Record<string, unknown>>[];
  readonly unreadable?: readonly { readonly id: string; readonly message: string }[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

/** Entries of unreadable rows that are read again from the log. */
const MOST_ASKED = 50;

/** What the log says of rows that could not be read. */
export async function readUnreadable(log: readonly Entry[], request: SendRequest): Promise<ToldPaper[]> {
  const told: ToldPaper[] = [];
  for (const { syncId } of log.filter(({ unreadable }) => typeof unreadable === "string").slice(-MOST_ASKED)) {
    const page = good(await request("GET", `/v1/log?after=${syncId - 1}&limit=1`));
    told.push(...(page.data as LogEntry[]).flatMap((entry) => toldOf("the log", entry) ?? []));
  }
  return told;
}
