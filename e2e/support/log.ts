import { randomUUID } from "node:crypto";
import type { Demo } from "./demo.ts";

/** The tested fields of a log entry. */
export interface Entry {
  readonly syncId: number;
  readonly model: string;
  readonly id: string;
  readonly verb: string;
  readonly data: Readonly<Record<string, unknown>> | null;
  readonly changedFields: readonly string[] | null;
}

export interface TestDeck {
  readonly id: string;
  readonly slideIds: readonly string[];
}

/** Creates a separate deck for a test, without a client. */
export async function createDeck(demo: Demo, titles: readonly string[]): Promise<TestDeck> {
  const id = `deck-${randomUUID()}`;
  const slideIds = titles.map((_, at) => `${id}-s${at + 1}`);
  const operations = [
    { action: "create", model: "document", id, data: { title: `Deck ${id.slice(5, 9)}` } },
    ...titles.map((title, at) => ({
      action: "create",
      model: "slide",
      id: slideIds[at],
      data: { deckId: id, title, order: at + 1, notes: `Text of ${title}` },
    })),
  ];
  for (let from = 0; from < operations.length; from += MOST_OPERATIONS)
    await commit(demo, operations.slice(from, from + MOST_OPERATIONS));
  return { id, slideIds };
}

const MOST_OPERATIONS = 100;

/** Writes with the secret key, without a client. */
export const commit = (demo: Demo, operations: readonly object[]): Promise<unknown> =>
  request(demo, "/v1/commits", { operations });

/** All log entries of one record. */
export const entriesOf = async (demo: Demo, id: string): Promise<Entry[]> =>
  (await readLog(demo)).filter((entry) => entry.id === id);

/** The server's whole log. */
export async function readLog(demo: Demo): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (let after = "0", more = true; more; ) {
    const page = await request<{ data: Entry[]; next_cursor: string; has_more: boolean }>(
      demo,
      `/v1/log?after=${after}&limit=1000`,
    );
    entries.push(...page.data);
    after = page.next_cursor;
    more = page.has_more;
  }
  return entries;
}

interface Models {
  readonly [name: string]: { readonly fields: { readonly [name: string]: object } };
}

/**
 * Lets the server refuse titles of slides that are longer, which open pages do not know. Returns a function that takes
 * the rule back.
 */
export async function limitTitles(demo: Demo, maxLength: number): Promise<() => Promise<void>> {
  const { models } = await request<{ models: Models }>(demo, "/v1/schema");
  const [name, slide] = Object.entries(models).find(([each]) => each.toLowerCase() === "slide") ?? [];
  if (name === undefined || !slide) throw new Error("The demo has no slides.");
  const title = { ...slide.fields.title, maxLength };
  await request(demo, "/v1/schema", {
    models: { ...models, [name]: { ...slide, fields: { ...slide.fields, title } } },
  });
  return async () => void (await request(demo, "/v1/schema", { models }));
}

/** One record as the server has it now. */
export async function readRecord(demo: Demo, model: string, id: string): Promise<Readonly<Record<string, unknown>>> {
  const { data } = await request<{ data: Record<string, unknown> }>(demo, `/v1/models/${model}/${id}`);
  return data;
}

/** One record in a snapshot. */
export interface SnapshotRecord {
  readonly model: string;
  readonly id: string;
  readonly syncId: number;
  readonly data: Readonly<Record<string, unknown>>;
  readonly archivedAt?: string;
}

/** Every record that the server has now. */
export async function readSnapshot(demo: Demo): Promise<SnapshotRecord[]> {
  const records: SnapshotRecord[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const answer = await send(demo, `/v1/snapshot${cursor && `?starting_after=${encodeURIComponent(cursor)}`}`);
    const lines = (await answer.text())
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    records.push(...lines.slice(1, -1));
    cursor = (lines.at(-1) as { next_cursor: string | null }).next_cursor;
  }
  return records;
}

async function request<T>(demo: Demo, path: string, body?: unknown): Promise<T> {
  return (await (await send(demo, path, body)).json()) as T;
}

async function send(demo: Demo, path: string, body?: unknown): Promise<Response> {
  const answer = await fetch(demo.serverUrl + path, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${demo.secretKey}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${path} was answered ${answer.status}: ${await answer.text()}`);
  return answer;
}
