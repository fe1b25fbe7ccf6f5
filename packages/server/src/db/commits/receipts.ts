import type { StoredReceipt } from "../../rules/commits/tenant-state.ts";
import type { Statement } from "../connection/statement.ts";

export interface ReceiptName {
  readonly tenant: number;
  readonly participant: string;
  readonly name: string;
}

export const loadReceipts = (names: readonly ReceiptName[]): Statement<(StoredReceipt & ReceiptName)[]> => ({
  name: "load_receipts",
  text: `select r.* from unnest($1::int[], $2::text[], $3::text[]) as k(tenant, participant, name)
    cross join lateral (select tenant, participant, name, fingerprint, coalesce(body, 'null'::json) as body, held from holdfast.receipt r
      where r.tenant = k.tenant and r.participant = k.participant and r.name = k.name limit 1) r`,
  values: [
    names.map(({ tenant }) => tenant),
    names.map(({ participant }) => participant),
    names.map(({ name }) => name),
  ],
  read: (rows) => rows as (StoredReceipt & ReceiptName)[],
});
