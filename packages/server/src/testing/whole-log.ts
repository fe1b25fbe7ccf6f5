import type { LogEntry } from "@holdfast/sdk/protocol";
import type { Call } from "./app.ts";

/** How often in a row a page may answer 503: a test may have cut the connections of the pool. */
const TRIES = 20;

/** Reads the whole log, page by page. The log must not be trimmed. */
export async function wholeLog(call: Call): Promise<LogEntry[]> {
  const log: LogEntry[] = [];
  let unavailable = 0;
  for (let more = true; more; ) {
    const { status, body } = await call("GET", `/v1/log?limit=1000&after=${log.length}`);
    if (status === 503 && ++unavailable < TRIES) continue;
    if (status !== 200) throw new Error(`The log answered ${status}: ${JSON.stringify(body)}`);
    unavailable = 0;
    log.push(...(body.data as LogEntry[]));
    more = body.has_more === true;
  }
  return log;
}
