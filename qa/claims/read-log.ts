import type { LogEntry } from "@holdfast/sdk/protocol";
import type { Entry } from "./history.ts";
import { MODEL } from "./plan.ts";

/** The whole log, as a server tells it to its key. */
export async function readLog(url: string, key: string): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (let after = 0; ; ) {
    const answer = await fetch(`${url}/v1/log?after=${after}&limit=1000`, {
      headers: { authorization: `Bearer ${key}` },
    });
    const page = (await answer.json()) as { data: LogEntry[]; has_more: boolean; next_cursor: string };
    if (!answer.ok) throw new Error(`/v1/log answered ${answer.status}: ${JSON.stringify(page)}`);
    entries.push(...page.data.filter(({ model }) => model === MODEL).map(entryOf));
    if (!page.has_more) return entries;
    after = Number(page.next_cursor);
  }
}

const entryOf = ({ syncId, id, changedFields, actor, clientTxId, claim, createdAt }: LogEntry): Entry => ({
  syncId,
  record: id,
  fields: changedFields,
  actor,
  name: clientTxId,
  claim,
  at: Date.parse(createdAt),
});
