import type { EndpointName } from "@holdfast/sdk/protocol";
import type { ApiRequest, Handler, Handlers } from "./answer.ts";

/** Routes that count as reads: those that return records or log entries. */
const READS = [
  ...(["readRecord", "listRecords", "queryRecords", "readHistory"] as const),
  ...(["readLog", "readSnapshot"] as const),
] satisfies EndpointName[];

export const isRead = (name: EndpointName): boolean => (READS as readonly EndpointName[]).includes(name);

/** Wraps handlers so that `read` is called after each successful read. A refusal does not count. */
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
