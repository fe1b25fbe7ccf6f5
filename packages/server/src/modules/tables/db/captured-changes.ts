import type { Statement } from "../../../kernel/connection/statement.ts";
import type { Transaction } from "../../../kernel/connection/transaction.ts";
import type { CapturedChange } from "../rules/captured-changes.ts";
import { imageOf } from "./row-text.ts";

/** A model that has a table. */
export interface TenantsModel {
  readonly tenant: number;
  readonly model: string;
}

/** The tenants with captured changes that no log entry has yet. `without`: models whose changes wait for something else. */
export async function readTenantsWithChanges(db: Transaction, without: readonly TenantsModel[]): Promise<number[]> {
  // One probe per attached table, however many changes wait.
  const { rows } = await db.query<{ tenant: number }>({
    name: "read_tenants_with_changes",
    text: `select distinct t.tenant from holdfast.attached_table t
      where exists (select from holdfast.captured_change c where c.tenant = t.tenant and c.model = t.model)
        and (t.tenant, t.model) not in (select * from unnest($1::int[], $2::text[]))`,
    values: [without.map(({ tenant }) => tenant), without.map(({ model }) => model)],
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

/**
 * The number of the newest change that waits to be recorded. Null: none does. Changes of a table that is broken wait for
 * its repair.
 */
export async function readLastCaptured(db: Transaction, tenant: number): Promise<number | null> {
  const { rows } = await db.query<{ last: number }>({
    name: "read_last_captured",
    text: `select seq as last from holdfast.captured_change where tenant = $1 and ${OF_SOUND_TABLE}
      order by seq desc limit 1`,
    values: [tenant],
  });
  return rows[0]?.last ?? null;
}

/** Whether changes up to this number wait to be recorded. */
export async function isCapturedUpTo(db: Transaction, tenant: number, last: number): Promise<boolean> {
  const { rows } = await db.query({
    name: "is_captured_up_to",
    text: `select from holdfast.captured_change where tenant = $1 and seq <= $2 and ${OF_SOUND_TABLE} limit 1`,
    values: [tenant, last],
  });
  return rows.length > 0;
}

const OF_SOUND_TABLE = `model <> all(array(
  select model from holdfast.attached_table where tenant = $1 and problem is not null))`;

/** A transaction of the caller's whose changes wait. */
export interface CapturedTransaction {
  readonly tx: string;
  readonly changes: number;
  /** Of the images of its rows. */
  readonly bytes: number;
}

/** Transactions in the order in which they changed rows. */
export interface CapturedTransactions {
  readonly transactions: readonly CapturedTransaction[];
  /** There are others after them. If there are none before, the first one is large. */
  readonly more: boolean;
}

/** So many changes are looked at, however many wait. */
const WINDOW = 10_000;

/**
 * The transactions whose changes are visible, in the order in which they changed rows: row locks make writers of one row
 * wait for each other, so ordered by their last change they are in the order per row. Those that end among the first
 * changes come before all others. `without`: models whose changes wait for something else.
 */
export const loadCapturedTransactions = (
  tenant: number,
  without: readonly string[],
): Statement<CapturedTransactions> => ({
  name: "load_captured_transactions",
  text: `with first as materialized (
      select seq, tx, bytes from holdfast.captured_change c where tenant = $1 and model <> all($2) order by seq limit ${WINDOW}
    ), known as (
      select tx, count(*)::int as changes, sum(bytes)::bigint as bytes, max(seq) as last from first group by tx
    )
    select tx::text, changes, bytes, (select count(*) from first) < ${WINDOW} or not exists (
        select from holdfast.attached_table t join holdfast.captured_change c
          on c.tenant = t.tenant and c.model = t.model and c.tx = known.tx
        where t.tenant = $1 and t.model <> all($2) and c.seq > (select max(seq) from first)) as whole
      from known order by last`,
  values: [tenant, without],
  read: (rows) => {
    const all = rows as (CapturedTransaction & { readonly whole: boolean })[];
    const transactions = all.filter(({ whole }) => whole);
    return { transactions, more: transactions.length < all.length };
  },
});

/** The transaction that comes first, where none of them ends among the first changes. */
export const loadFirstTransaction = (tenant: number, without: readonly string[]): Statement<CapturedTransactions> => ({
  name: "load_first_transaction",
  text: `with recursive every (model, tx) as (
      select t.model, (select c.tx from holdfast.captured_change c where c.tenant = $1 and c.model = t.model order by c.tx limit 1)
        from holdfast.attached_table t where t.tenant = $1 and t.model <> all($2)
      union all
      select every.model, (select c.tx from holdfast.captured_change c
          where c.tenant = $1 and c.model = every.model and c.tx > every.tx order by c.tx limit 1)
        from every where every.tx is not null
    )
    select tx::text from (select distinct tx from every where tx is not null) every cross join lateral (
      select seq from holdfast.captured_change c where c.tenant = $1 and c.tx = every.tx and c.model <> all($2)
        order by seq desc limit 1) l
      order by l.seq limit 1`,
  values: [tenant, without],
  read: (rows) => ({
    transactions: (rows as { tx: string }[]).map(({ tx }) => ({ tx, changes: Infinity, bytes: Infinity })),
    more: true,
  }),
});

/**
 * How many changes the planner believes there are. After a crash, or a vacuum of the empty table, it is none, and a step
 * would read all of them for each change. The plans that connections have made are replaced then too.
 */
export const estimateChanges: Statement<number> = {
  name: "estimate_changes",
  text: "select reltuples::float8 as count from pg_class where oid = 'holdfast.captured_change'::regclass",
  values: [],
  read: (rows) => Number(rows[0]?.count ?? 0),
};

/** Counts them. Without effect while another process does. */
export const analyzeChanges: Statement<void> = {
  name: "",
  text: "analyze (skip_locked) holdfast.captured_change",
  values: [],
  read: () => {},
};

/** A captured change with its number. */
export interface NumberedChange extends CapturedChange {
  readonly seq: number;
}

/**
 * Takes all changes of small transactions, in order. Deletes exactly the changes that it returns: a long transaction
 * commits low numbers late, so a position in all of them would miss some.
 */
export const takeCapturedChanges = (
  tenant: number,
  transactions: readonly string[],
  without: readonly string[],
): Statement<NumberedChange[]> => ({
  name: "take_changes",
  text: `with taken as (
      delete from holdfast.captured_change where tenant = $1 and tx = any($2::xid8[]) and model <> all($3) returning *
    )
    select t.seq, ${CAPTURED} from taken t join unnest($2::xid8[]) with ordinality as x(tx, n) using (tx)
      order by x.n, t.seq`,
  values: [tenant, transactions, without],
  read: (rows) => (rows as (ChangeRow & { seq: number })[]).map(parsed),
});

/** A change of a large transaction that a step came to. */
export interface StepChange extends Omit<NumberedChange, "tx"> {
  /**
   * `passed`: its row is changed again later. `last`: by no change after it; then it has the image before the first one.
   * `nested`: the same, but what became of the row all its changes say together: see `takeChangesOfRow`.
   */
  readonly place: "passed" | "last" | "nested";
  readonly key: string | null;
}

/** The index of a transaction's changes by row; `c` has one of them. */
const ofRow = (alias: string, nested: boolean) => `${alias}.tenant = $1 and ${alias}.tx = $2::xid8
  and ${alias}.model = c.model and left(${alias}.key, 513) = left(c.key, 513) and ${alias}.nested = ${nested}`;
const firstOfRow = (nested: boolean) => `(select o.seq from holdfast.captured_change o
  where ${ofRow("o", nested)} order by -o.seq desc limit 1)`;
const hasLater = (nested: boolean) => `exists (select from holdfast.captured_change o
  where ${ofRow("o", nested)} and -o.seq < -c.seq)`;

/**
 * The next step through a large transaction: looks at some changes after a number, and takes rows with their last change,
 * at least one. However large the transaction is and however often it changed a row, a step takes as long as any other:
 * each change is a few probes of an index, and no image is read but those that are returned.
 */
export const takeStep = (
  tenant: number,
  transaction: string,
  without: readonly string[],
  { after, looks, most, bytes }: { after: number; looks: number; most: number; bytes: number },
): Statement<StepChange[]> => ({
  name: "take_step",
  text: `with next as materialized (
      select c.seq, c.model, c.key, c.bytes from holdfast.captured_change c
        where c.tenant = $1 and c.tx = $2::xid8 and c.model <> all($3) and c.seq > $4 order by c.seq limit $5
    ), placed as materialized (
      select c.*, coalesce(p.first, c.seq) as first, p.is_nested, p.is_last,
          case when p.is_last and not p.is_nested then (
            select f.bytes from holdfast.captured_change f where f.tenant = $1 and f.seq = p.first and f.seq <> c.seq)
          end as first_bytes
        from next c cross join lateral (
          select ${firstOfRow(false)} as first, ${firstOfRow(true)} is not null as is_nested,
            not ${hasLater(false)} and not ${hasLater(true)} as is_last) p
    ), chosen as materialized (
      select * from (
        select *, count(*) filter (where is_last) over w as number, sum(bytes + coalesce(first_bytes, 0)) filter (where is_last) over w as sum
          from placed window w as (order by seq)) s
        where number <= 1 or number <= $6 and sum <= $7
    ), gone as (
      delete from holdfast.captured_change c using (
          select seq from chosen where not is_nested and (is_last or seq > first)
          union select first from chosen where is_last and not is_nested) s
        where c.tenant = $1 and c.seq = s.seq returning c.*
    )
    select s.seq, s.model, s.key, case when not s.is_last then 'passed' when s.is_nested then 'nested' else 'last' end as place,
        f.before, l.after, false as nested, null as present
      from chosen s left join gone f on f.seq = s.first and s.is_last left join gone l on l.seq = s.seq and s.is_last
      order by s.seq`,
  values: [tenant, transaction, without, after, looks, most, bytes],
  read: (rows) => (rows as (ChangeRow & StepChange)[]).map(parsed),
});

/** Takes some of the changes of one row in a transaction, at least one, in order. */
export const takeChangesOfRow = (
  tenant: number,
  transaction: string,
  { model, key }: Pick<StepChange, "model" | "key">,
  { most, bytes }: { most: number; bytes: number },
): Statement<NumberedChange[]> => ({
  name: "take_changes_of_row",
  text: `with next as (
      (select o.seq, o.bytes from (select $3::text as model, $4::text as key) c
        join holdfast.captured_change o on ${ofRow("o", false)} order by -o.seq desc limit $5)
      union all
      (select o.seq, o.bytes from (select $3::text as model, $4::text as key) c
        join holdfast.captured_change o on ${ofRow("o", true)} order by -o.seq desc limit $5)
    ), chosen as (
      select seq from (
        select seq, row_number() over w as number, sum(bytes) over w as sum from next window w as (order by seq)) s
        where number <= 1 or number <= $5 and sum <= $6
    ), taken as (
      delete from holdfast.captured_change where tenant = $1 and seq in (select seq from chosen) returning *
    )
    select t.seq, ${CAPTURED} from taken t order by t.seq`,
  values: [tenant, transaction, model, key, most, bytes],
  read: (rows) => (rows as (ChangeRow & { seq: number })[]).map(parsed),
});

/** The columns of a `ChangeRow`, of `holdfast.captured_change t`. */
export const CAPTURED = "t.tx::text, t.model, t.before, t.after, t.nested, t.present";

type Images = Pick<CapturedChange, "before" | "after" | "present">;
export type ChangeRow = Omit<CapturedChange, keyof Images> & { readonly [name in keyof Images]: string | null };

export const parsed = <R extends ChangeRow>(row: R): Omit<R, keyof Images> & Images => ({
  ...row,
  ...{ before: read(row.before), after: read(row.after), present: read(row.present) },
});

const read = (image: string | null) => (image === null ? null : imageOf(image));

/** Some of the changes of a model that wait, after a number, in order. */
export async function readCapturedChanges(
  db: Transaction,
  { tenant, model }: TenantsModel,
  after: number,
): Promise<NumberedChange[]> {
  const { rows } = await db.query<ChangeRow & { seq: number }>(
    `select t.seq, ${CAPTURED} from (
        select c.*, row_number() over w as n, sum(bytes) over w as sum from (
          select * from holdfast.captured_change where tenant = $1 and model = $2 and seq > $3 order by seq limit 500) c
          window w as (order by seq)) t
      where t.n = 1 or t.sum <= ${2 ** 24} order by t.seq`,
    [tenant, model, after],
  );
  return rows.map(parsed);
}

/** Those of some rows of which a change waits, by their keys. */
export async function readWaitingKeys(
  db: Transaction,
  { tenant, model }: TenantsModel,
  keys: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await db.query<{ key: string }>(
    "select distinct key from holdfast.captured_change where tenant = $1 and model = $2 and key = any($3)",
    [tenant, model, keys],
  );
  return new Set(rows.map(({ key }) => key));
}

export async function deleteCapturedChanges(tx: Transaction, tenant: number, seqs: readonly number[]): Promise<void> {
  await tx.query("delete from holdfast.captured_change where tenant = $1 and seq = any($2::bigint[])", [tenant, seqs]);
}
