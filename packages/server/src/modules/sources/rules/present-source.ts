import type { Datasource } from "@holdfast/sdk/protocol";

/** An endpoint datasource, as it was registered and as it was found. Times are ISO. */
export interface OwnSource {
  readonly id: string;
  readonly endpoint: string;
  readonly keyLast4: string;
  readonly displayName: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly createdAt: string;
  /** Up to where its events were read. */
  readonly cursor: string | null;
  readonly requestedAt: string | null;
  readonly succeededAt: string | null;
  /** When its events were last read to their end. */
  readonly caughtUpAt: string | null;
  readonly failures: number;
  readonly lastError: string | null;
  readonly rejected: boolean;
}

const seconds = (iso: string): number => Math.floor(Date.parse(iso) / 1_000);

/** `now`: in milliseconds since 1970. */
export function presentSource(source: OwnSource, livemode: boolean, now: number): Datasource {
  const { id, endpoint, keyLast4, displayName, metadata, createdAt, cursor, requestedAt, succeededAt, caughtUpAt } =
    source;
  return {
    ...{ object: "datasource", id, livemode, metadata: { ...metadata }, created: seconds(createdAt) },
    ...{ provider: "endpoint", connection: "endpoint", status: statusOf(source), endpoint, key_last4: keyLast4 },
    ...(displayName !== null && { display_name: displayName }),
    ...(cursor !== null && { cursor }),
    ...(source.lastError !== null && { last_error: source.lastError }),
    ...(caughtUpAt !== null && { event_lag: Math.max(0, Math.floor(now / 1_000) - seconds(caughtUpAt)) }),
    retry_count: source.failures,
    ...(requestedAt !== null && { last_request_at: seconds(requestedAt) }),
    ...(succeededAt !== null && { last_success_at: seconds(succeededAt) }),
  };
}

function statusOf({ rejected, failures, succeededAt }: OwnSource): Datasource["status"] {
  if (rejected) return "rejected";
  if (succeededAt === null) return "unverified";
  return failures > 0 ? "broken" : "active";
}
