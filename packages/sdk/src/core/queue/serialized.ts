import type { Rows } from "../log/rows.ts";
import type { Mutation } from "./mutation.ts";

/** Creates the text of a write once and stores it, so that every retry sends the same bytes under the same key. */
export function serialized(m: Mutation, clientId: string, { position = 0, logId }: Rows): Mutation {
  const operations = m.operations.map((o) => (o.readAt === undefined ? { ...o, readAt: position } : o));
  const reads = m.reads.map((r) => (r.readAt === undefined ? { ...r, readAt: position } : r));
  const body = JSON.stringify({
    operations: operations.map(sentOf),
    ...(reads.length > 0 && { reads }),
    clientTxId: m.clientTxId,
    clientId,
    ...m.attribution,
    ...m.asks,
  });
  return { ...m, operations, reads, body, bytes: utf8Length(body), logId };
}

/** An operation as it is sent. */
export const sentOf = <O extends { readonly base?: unknown; readonly copied?: unknown }>({
  base: _,
  copied: __,
  ...sent
}: O) => sent;

/**
 * Counted by hand, because this layer must not use platform APIs. Counting code units would let multi-byte text exceed
 * the request limit.
 */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    // A surrogate pair has two code units and four bytes: one more for each unit.
    if (unit >= 0x80) bytes += unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 1 : 2;
  }
  return bytes;
}
