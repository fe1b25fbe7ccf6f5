import type { EndpointName } from "@holdfast/sdk/protocol";
import type { ApiRequest, Handler, Handlers } from "./answer.ts";

/** Routes whose answers are counted as reads: those that show records or the log. */
const READS = ["readRecord", "listRecords", "readHistory", "readLog", "readSnapshot"] as const satisfies EndpointName[];

/** The same handlers; of those that read, `read` is told each time one has answered. A refusal is no read. */
export function countReads(handlers: Handlers, read: (tenant: number) => void): Handlers {
  const counting = (handler: Handler<never>) => async (asked: ApiRequest<never>) => {
    const answer = await handler(asked);
    if (!("refusal" in answer)) read(asked.principal.tenant);
    return answer;
  };
  return {
    ...handlers,
    ...Object.fromEntries(READS.map((name) => [name, counting(handlers[name] as Handler<never>)])),
  };
}
