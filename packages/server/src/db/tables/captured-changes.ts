import type { CapturedChange } from "../../rules/tables/captured-changes.ts";
import type { ParsedRow } from "../../rules/tables/row-image.ts";
import type { Statement } from "../connection/statement.ts";
import type { Transaction } from "../connection/transaction.ts";
import { parseRow } from "./row-text.ts";

/** The tenants with captured changes that no log entry has yet. */
export async function readTenantsWithChanges(db: Transaction): Promise<number[]> {
  // One probe per tenant that has attached tables, however many changes wait.
  const { rows } = await db.query<{ tenant: number }>({
    name: "read_tenants_with_changes",
    text: `select t.tenant from (select distinct tenant from holdfast.attached_table) t
      where exists (select from holdfast.captured_change c where c.tenant = t.tenant)`,
  });
  return rows.map(({ tenant }) => tenant);
}

export async function countCapturedChanges(db: Transaction, tenant: number): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    "select count(*)::int as count from holdfast.captured_change where tenant = $1",
    [tenant],
  );
  return rows[0]?.count ?? 0;
}

/** The number of the newest change that waits. Null: none does, or they cannot be recorded now. */
export async function readLastCaptured(db: Transaction, tenant: number): Promise<number | null> {
  const { rows } = await db.query<{ last: number | null }>({
    name: "read_last_captured",
    text: `select (select seq from holdfast.captured_change where tenant = $1 order by seq desc limit 1) as last
      where not exists (select from holdfast.attached_table where tenant = $1 and problem is not null)`,
    values: [tenant],
  });
  return rows[0]?.last ?? null;
}

/** Whether changes up to this number wait. */
export async function isCapturedUpTo(db: Transaction, tenant: number, last: number): Promise<boolean> {
  const { rows } = await db.query({
    name: "is_captured_up_to",
    text: "select from holdfast.captured_change where tenant = $1 and seq <= $2 limit 1",
    values: [tenant, last],
  });
  return rows.length > 0;
}

/** A transaction of the caller's whose changes wait. */
export interface CapturedTransaction {
  readonly tx: string;
  readonly changes: number;
  /** Of the images of its rows. */
  readonly bytes: number;
}

/**
 * The transactions whose changes are visible, in the order in which they changed rows: row locks make writers of one row
 * wait for each other, so ordered by their last change they are in the order per row.
 */
export const loadCapturedTransactions = (tenant: number): Statement<CapturedTransaction[]> => ({
  name: "load_captured_transactions",
  text: `select tx::text, count(*)::int as changes, sum(holdfast.captured_bytes(c))::bigint as bytes
    from holdfast.captured_change c where tenant = $1 group by tx order by max(seq)`,
  values: [tenant],
  read: (rows) => rows as CapturedTransaction[],
});

/** A captured change with its number. */
export interface NumberedChange extends CapturedChange {
  readonly seq: number;
}

/**
 * Takes the next changes of some transactions, one transaction after the other: as many as fit into `bytes`, at
 * least one. Deletes exactly the changes that it returns: a long transaction commits low numbers late, so a position
 * in all of them would miss some. Of a single transaction all changes are visible at once, so there `after` is one: a
 * step then need not pass the many that earlier steps have deleted.
 */
export const takeCapturedChanges = (
  tenant: number,
  transactions: readonly string[],
  { after, most, bytes }: { after: number; most: number; bytes: number },
): Statement<NumberedChange[]> => ({
  name: transactions.length === 1 ? "take_changes_of_one" : "take_changes",
  text: `with next as (
      select c.seq, x.n, holdfast.captured_bytes(c) as bytes
      from holdfast.captured_change c join unnest($2::xid8[]) with ordinality as x(tx, n) on c.tx = x.tx
      where c.tenant = $1 and c.seq > $5
      order by ${transactions.length === 1 ? "c.seq" : "x.n, c.seq"} limit $3
    ), chosen as (
      select seq, n from (
        select seq, n, sum(bytes) over (order by n, seq) - bytes as before from next) s
      where before < $4
    ), taken as (
      delete from holdfast.captured_change where tenant = $1 and seq in (select seq from chosen) returning *
    )
    select t.seq, ${CAPTURED} from taken t join chosen using (seq) order by chosen.n, t.seq`,
  values: [tenant, transactions, most, bytes, after],
  read: (rows) => (rows as (ChangeRow & { seq: number })[]).map(parsed),
});

/** Prepares a large transaction to be taken in steps: see `holdfast.fold_changes`. */
export const foldCapturedChanges = (tenant: number, transaction: string): Statement<void> => ({
  name: "fold_changes",
  text: "select holdfast.fold_changes($1, $2::text::xid8)",
  values: [tenant, transaction],
  read: () => {},
});

/** The columns of a `ChangeRow`, of `holdfast.captured_change t`. */
export const CAPTURED = "t.tx::text, t.model, t.before, t.after, t.nested, t.present";

type Images = Pick<CapturedChange, "before" | "after" | "present">;
export type ChangeRow = Omit<CapturedChange, keyof Images> & { readonly [name in keyof Images]: string | null };

export const parsed = <R extends ChangeRow>(row: R): Omit<R, keyof Images> & Images => ({
  ...row,
  ...{ before: imageOf(row.before), after: imageOf(row.after), present: imageOf(row.present) },
});

const imageOf = (text: string | null): ParsedRow | null => (text === null ? null : parseRow(text));

/** All changes of a model that wait. */
export async function readCapturedChanges(db: Transaction, tenant: number, model: string): Promise<NumberedChange[]> {
  const { rows } = await db.query<ChangeRow & { seq: number }>(
    `select t.seq, ${CAPTURED} from holdfast.captured_change t where t.tenant = $1 and t.model = $2`,
    [tenant, model],
  );
  return rows.map(parsed);
}

export async function deleteCapturedChanges(tx: Transaction, tenant: number, seqs: readonly number[]): Promise<void> {
  await tx.query("delete from holdfast.captured_change where tenant = $1 and seq = any($2::bigint[])", [tenant, seqs]);
}
