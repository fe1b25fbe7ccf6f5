import type { LogEntry } from "@holdfast/sdk/protocol";
import type { Call } from "./app.ts";

/** Reads the whole log, page by page. The log must not be trimmed. */
export async function wholeLog(call: Call): Promise<LogEntry[]> {
  const log: LogEntry[] = [];
  for (let more = true; more; ) {
    const { body } = await call("GET", `/v1/log?limit=1000&after=${log.length}`);
    log.push(...(body.data as LogEntry[]));
    more = body.has_more === true;
  }
  return log;
}
