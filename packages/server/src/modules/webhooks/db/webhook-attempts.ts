import { type DeliveryError, type WebhookAttempt, webhookLimits } from "@holdfast/sdk/protocol";
import type { Transaction } from "../../../kernel/connection/transaction.ts";

/** A recorded delivery attempt. */
export interface Attempt {
  readonly id: string;
  readonly kind: WebhookAttempt["kind"];
  readonly webhookId: string | null;
  readonly from: number | null;
  readonly to: number | null;
  readonly events: number;
  readonly attempt: number;
  readonly outcome: WebhookAttempt["outcome"];
  readonly status: number | null;
  readonly errorCode: DeliveryError | null;
  readonly errorMessage: string | null;
  readonly response: string | null;
  /** ISO. */
  readonly startedAt: string;
  readonly durationMs: number;
}

/**
 * Records attempts, each under the next number of its endpoint. The newest thousand are kept, one per slot. `saved`
 * yields (tenant, id, attempts) of the endpoints whose number has increased, and `$<parameter>` is the attempts as
 * JSON, with `tenant` and `endpoint`.
 */
export const noteAttempts = (saved: string, parameter: number): string => `
  insert into holdfast.webhook_attempt (tenant, endpoint, slot, nth, id, kind, webhook_id, from_sync_id, to_sync_id, events, attempt,
    outcome, status, error_code, error_message, response, started_at, duration_ms)
  select s.tenant, s.id, s.attempts % ${webhookLimits.attemptsKept}, s.attempts, a.id, a.kind, a."webhookId", a."from", a."to", a.events, a.attempt,
    a.outcome, a.status, a."errorCode", a."errorMessage", a.response, a."startedAt", a."durationMs"
  from json_to_recordset($${parameter}::json) as a(tenant int, endpoint text, id text, kind text, "webhookId" text, "from" bigint, "to" bigint, events int,
    attempt int, outcome text, status int, "errorCode" text, "errorMessage" text, response text, "startedAt" timestamptz(3), "durationMs" int)
  join ${saved} s on s.tenant = a.tenant and s.id = a.endpoint
  on conflict (tenant, endpoint, slot) do update set nth = excluded.nth, id = excluded.id, kind = excluded.kind, webhook_id = excluded.webhook_id,
    from_sync_id = excluded.from_sync_id, to_sync_id = excluded.to_sync_id, events = excluded.events, attempt = excluded.attempt,
    outcome = excluded.outcome, status = excluded.status, error_code = excluded.error_code, error_message = excluded.error_message,
    response = excluded.response, started_at = excluded.started_at, duration_ms = excluded.duration_ms`;

/** Records one attempt of a locked endpoint. */
export async function noteAttempt(tx: Transaction, tenant: number, endpoint: string, attempt: Attempt): Promise<void> {
  await tx.query(
    `with saved as (
       update holdfast.webhook_endpoint set attempts = attempts + 1 where tenant = $1 and id = $2 returning tenant, id, attempts
     ) ${noteAttempts("saved", 3)}`,
    [tenant, endpoint, JSON.stringify([{ ...attempt, tenant, endpoint }])],
  );
}

export interface ListedAttempt extends Attempt {
  /** Its number among the attempts of its endpoint. */
  readonly nth: number;
}

/** Newest first. Only attempts before a number. */
export async function listAttempts(
  db: Transaction,
  tenant: number,
  endpoint: string,
  { before, limit }: { before: number | undefined; limit: number },
): Promise<ListedAttempt[]> {
  const { rows } = await db.query<ListedAttempt & Record<string, unknown>>({
    name: "list_attempts",
    text: `select nth, id, kind, webhook_id as "webhookId", from_sync_id as "from", to_sync_id as "to", events, attempt, outcome, status,
        error_code as "errorCode", error_message as "errorMessage", response, started_at as "startedAt", duration_ms as "durationMs"
      from holdfast.webhook_attempt where tenant = $1 and endpoint = $2 and nth < $3 order by nth desc limit $4`,
    values: [tenant, endpoint, before ?? Number.MAX_SAFE_INTEGER, limit],
  });
  return rows;
}
