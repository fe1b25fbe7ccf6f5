import { setTimeout as sleep } from "node:timers/promises";
import type { LogEntry } from "@holdfast/sdk/protocol";
import type { Entry } from "./history.ts";
import { MODEL } from "./plan.ts";

/**
 * Reads the whole log from a server. A page is requested again while the response is 503: the server may
 * still hold pooled connections that the last fault cut.
 */
export async function readLog(url: string, key: string): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (let after = 0; ; ) {
    const page = await readPage(`${url}/v1/log?after=${after}&limit=1000`, key);
    entries.push(...page.data.filter(({ model }) => model === MODEL).map(entryOf));
    if (!page.has_more) return entries;
    after = Number(page.next_cursor);
  }
}

type Page = { data: LogEntry[]; has_more: boolean; next_cursor: string };

async function readPage(address: string, key: string): Promise<Page> {
  for (let attempt = 1; ; attempt += 1) {
    const answer = await fetch(address, { headers: { authorization: `Bearer ${key}` } });
    const page = (await answer.json()) as Page;
    if (answer.ok) return page;
    if (answer.status !== 503 || attempt === ATTEMPTS) {
      throw new Error(`/v1/log answered ${answer.status}: ${JSON.stringify(page)}`);
    }
    await sleep(RETRY_MS);
  }
}

const ATTEMPTS = 20;
const RETRY_MS = 500;

const entryOf = ({ syncId, id, changedFields, actor, clientTxId, claim, createdAt }: LogEntry): Entry => ({
  syncId,
  record: id,
  fields: changedFields,
  actor,
  name: clientTxId,
  claim,
  at: Date.parse(createdAt),
});
