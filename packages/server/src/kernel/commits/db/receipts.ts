import { hash } from "node:crypto";
import type { Statement } from "../../connection/statement.ts";
import type { KeptReceipt } from "../rules/tenant-state.ts";

export interface ReceiptName {
  readonly tenant: number;
  readonly participant: string;
  readonly name: string;
}

/**
 * What a receipt is found by. The name comes first and as it is: with keys in the order in which they are made, a commit
 * writes to the same page of the index as the one before it. A page that no commit has written to since the last
 * checkpoint costs up to 8 kB of write-ahead log.
 */
export const receiptKey = ({ participant, name }: Pick<ReceiptName, "participant" | "name">): string =>
  `${name} ${hashOf(participant)}`;

/** 12 bytes, in base64: so many that no two participants have the same. */
const HASH_CHARACTERS = 16;

let last = { participant: "", hash: "" };

/** Keeps the last one, because neighbours in a round often have the same participant. */
function hashOf(participant: string): string {
  if (participant !== last.participant)
    last = { participant, hash: hash("sha256", participant, "base64").slice(0, HASH_CHARACTERS) };
  return last.hash;
}

export const loadReceipts = (names: readonly ReceiptName[]): Statement<(KeptReceipt & ReceiptName)[]> => ({
  name: "load_receipts",
  text: `select k.n, r.* from unnest($1::int[], $2::text[]) with ordinality as k(tenant, key, n)
    cross join lateral (select encode(fingerprint, 'base64') as fingerprint, body as kept, held from holdfast.receipt r
      where r.tenant = k.tenant and r.key = k.key limit 1) r`,
  values: [names.map(({ tenant }) => tenant), names.map(receiptKey)],
  read: (rows) =>
    (rows as { n: number; fingerprint: string; kept: string | null; held: boolean }[]).map(
      ({ n, fingerprint, kept, held }) => ({
        ...(names[n - 1] as ReceiptName),
        fingerprint,
        kept,
        conflicted: held,
      }),
    ),
});
