import type { WebhookAttempt, WebhookEndpoint } from "@holdfast/sdk/protocol";
import { table } from "./table.ts";

/** A table of endpoints for people: the position and the last error of each. */
export const endpointTable = (endpoints: readonly WebhookEndpoint[]): string =>
  table(
    ["ID", "STATUS", "CURSOR", "LAG", "ATTEMPT", "NEXT ATTEMPT", "LAST ERROR", "EVENTS", "URL"],
    endpoints.map((endpoint) => [
      endpoint.id,
      statusOf(endpoint),
      String(endpoint.cursor),
      String(endpoint.lag),
      String(endpoint.attempt),
      endpoint.nextAttemptAt,
      lastErrorOf(endpoint),
      endpoint.enabledEvents.join(","),
      endpoint.url,
    ]),
  );

/** `we_1: enabled, cursor 12, 3 behind` */
export const endpointLine = (endpoint: WebhookEndpoint): string =>
  `${endpoint.id}: ${statusOf(endpoint)}, cursor ${endpoint.cursor}, ${endpoint.lag} behind`;

export const attemptTable = (attempts: readonly WebhookAttempt[]): string =>
  table(
    ["AT", "KIND", "RANGE", "EVENTS", "ATTEMPT", "OUTCOME", "STATUS", "MS", "ERROR"],
    attempts.map((one) => [
      one.startedAt,
      one.kind,
      rangeOf(one),
      String(one.events),
      String(one.attempt),
      one.outcome,
      one.status === null ? null : String(one.status),
      String(one.durationMs),
      one.error && `${one.error.code}: ${one.error.message}`,
    ]),
  );

/** `succeeded with 200 in 12 ms`, `failed in 3 ms: connection_refused: …` */
export function outcomeText({ outcome, status, durationMs, error }: WebhookAttempt): string {
  const answer = status === null ? "" : ` with ${status}`;
  return `${outcome}${answer} in ${durationMs} ms${error ? `: ${error.code}: ${error.message}` : ""}`;
}

const statusOf = ({ status, disabledReason }: WebhookEndpoint): string =>
  disabledReason === null ? status : `${status} (${disabledReason})`;

/** `unexpected_status 500 at 41-43` */
function lastErrorOf({ lastError }: WebhookEndpoint): string | null {
  if (!lastError) return null;
  const status = lastError.status === null ? "" : ` ${lastError.status}`;
  return `${lastError.code}${status} at ${rangeOf(lastError)}`;
}

const rangeOf = ({ from, to }: { readonly from: number | null; readonly to: number | null }): string | null => {
  if (from === null || to === null) return null;
  return from === to ? String(from) : `${from}-${to}`;
};
