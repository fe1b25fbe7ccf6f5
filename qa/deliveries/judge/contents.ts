import type { Case } from "./case.ts";
import { isTest, type Received, readName } from "./evidence.ts";
import { judgeEvent, judgeRange, judgeSize, readBody } from "./shape.ts";

/** The positions in each request, by its name; undefined if its body was not read or is invalid. */
export type Bodies = ReadonlyMap<string, readonly number[] | undefined>;

export function readBodies(one: Case): Bodies {
  return new Map(one.requests.map((request) => [request.name, readEvents(request, one)]));
}

/** Requests with the same name must have the same body. */
export function judgeNames({ requests, coverage, report }: Case): void {
  const bodies = new Map<string, Received>();
  for (const request of requests) {
    if (request.body === undefined) continue;
    const first = bodies.get(request.webhookId);
    if (!first) bodies.set(request.webhookId, request);
    else {
      coverage.sameNames += 1;
      if (first.body !== request.body)
        report("changed", `${request.name} has the webhook-id ${request.webhookId} of ${first.name}, and another body`);
    }
  }
}

/** Parses the body of a delivery, if it was read, and reports its violations. */
function readEvents(request: Received, { endpoint, tenant, report }: Case): readonly number[] | undefined {
  const { body, name } = request;
  if (body === undefined) return undefined;
  const shaped = readBody(body);
  if ("fault" in shaped) return void report("content", `${name} ${shaped.fault}`);
  const { events } = shaped;
  if (isTest(request)) {
    const [event] = events;
    if (events.length !== 1 || event?.type !== "webhook_endpoint.test" || event.objectId !== endpoint.id)
      report("content", `${name} is no test event`);
    return undefined;
  }
  const tooLarge = judgeSize(body, events);
  if (tooLarge !== undefined) report("size", `${name} ${tooLarge}`);
  const named = readName(request.webhookId, endpoint.id);
  const range = named && judgeRange(events, named);
  if (range !== undefined) report(range.startsWith("goes") ? "name" : "order", `${name} ${range}`);
  for (const event of events) {
    const wrong = judgeEvent(event, tenant.entryAt(event.syncId));
    if (wrong !== undefined) report("content", `${name}: ${wrong}`);
  }
  return events.map(({ syncId }) => syncId);
}

/** Checks, independently of the cursor, that every event arrived, and that none arrived first after a later one. */
export function judgeArrivals({ endpoint, requests, tenant, report }: Case, bodies: Bodies): void {
  if (endpoint.actions.some(({ what }) => what === "subscribe" || what === "skip")) return;
  const came = new Set<number>();
  let top = endpoint.cursor;
  for (const { name, outcome } of requests) {
    if (outcome === "failed") continue;
    for (const position of bodies.get(name) ?? []) {
      if (position < top && !came.has(position)) report("order", `${name} brings ${position} behind ${top}`);
      came.add(position);
      top = Math.max(top, position);
    }
  }
  if (endpoint.last?.status !== "enabled") return;
  const wanted = tenant.positions(endpoint.models).within(endpoint.cursor + 1, Number.MAX_SAFE_INTEGER);
  const missing = wanted.filter((position) => !came.has(position));
  if (missing.length > 0) report("missing", `${shortList(missing)} never came`);
}

export const shortList = (list: readonly number[]): string =>
  list.length > 5 ? `${list.slice(0, 5).join(", ")} … (${list.length})` : list.join(", ");
