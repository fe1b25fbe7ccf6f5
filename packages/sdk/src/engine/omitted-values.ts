import type { Reply } from "../core/queue/outcome.ts";
import type { StaleNotification } from "../protocol/commits/stale.ts";
import type { JsonObject } from "../protocol/json.ts";
import { ownValue } from "../protocol/own-value.ts";
import type { Server } from "./ports.ts";

/**
 * Reads the records whose current values did not fit into the receipts of a bulk, and puts their values there: every
 * tab, and a person who decides, then has them. If a record cannot be read now, its reply stands for the whole one: the
 * bulk is sent again, and the server repeats its receipts.
 */
export async function withOmittedValues(
  reply: Reply,
  server: Pick<Server, "request">,
  signal: AbortSignal,
): Promise<Reply> {
  if (reply.kind !== "answer" || reply.status !== 200) return reply;
  const { data } = (reply.body ?? {}) as { readonly data?: unknown };
  if (!Array.isArray(data) || !data.some((item) => omittedIn(item).length > 0)) return reply;
  const records = new Map<string, JsonObject | undefined>();
  for (const { model, id } of data.flatMap(omittedIn)) {
    const key = `${model}/${id}`;
    if (records.has(key)) continue;
    const read = await server.request("readRecord", { params: { model, id } }, signal);
    if (read.kind !== "answer" || (read.status !== 200 && !DECIDED.has(read.status))) return read;
    records.set(key, read.status === 200 ? ((read.body as { data?: JsonObject } | undefined)?.data ?? {}) : undefined);
  }
  const filled = (notification: StaleNotification): StaleNotification => {
    const { currentValuesOmitted, ...rest } = notification;
    if (!currentValuesOmitted) return notification;
    const row = records.get(`${rest.model}/${rest.id}`);
    return { ...rest, currentValues: row ? valuesOf(row, rest.conflictingFields) : {} };
  };
  const items = data.map((item) =>
    omittedIn(item).length === 0 ? item : { ...item, notifications: item.notifications.map(filled) },
  );
  return { ...reply, body: { ...(reply.body as object), data: items } };
}

/** The record is gone by now, or the token may not read it. */
const DECIDED: ReadonlySet<number> = new Set([403, 404]);

function omittedIn(item: unknown): readonly StaleNotification[] {
  const { notifications } = (item ?? {}) as { readonly notifications?: unknown };
  return Array.isArray(notifications) ? notifications.filter((each) => each?.currentValuesOmitted === true) : [];
}

/** As the server reports them: a field that is absent is null. */
const valuesOf = (row: JsonObject, fields: readonly string[]): JsonObject =>
  Object.fromEntries(fields.map((field) => [field, ownValue(row, field) ?? null]));
