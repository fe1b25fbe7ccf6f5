import type { Transaction } from "../../../kernel/connection/transaction.ts";

/** A tenant on its way from one database to another. Null stands for the service's own database. */
export interface Move {
  readonly id: string;
  readonly tenant: number;
  readonly organization: string;
  readonly livemode: boolean;
  readonly source: string | null;
  readonly target: string | null;
}

const MOVES = `select m.id, m.tenant, t.organization, t.livemode, m.source, m.target
  from holdfast.move m join holdfast.tenant t on t.id = m.tenant`;

export async function listMoves(db: Transaction): Promise<Move[]> {
  const { rows } = await db.query<Move & Record<string, unknown>>(`${MOVES} order by m.started_at, m.tenant`);
  return rows;
}

/** Undefined: the tenant is not on its way. */
export async function readMove(db: Transaction, tenant: number): Promise<Move | undefined> {
  const { rows } = await db.query<Move & Record<string, unknown>>(`${MOVES} where m.tenant = $1`, [tenant]);
  return rows[0];
}

/** Returns false if the tenant is on its way already. */
export async function insertMove(
  tx: Transaction,
  { id, tenant, target }: Pick<Move, "id" | "tenant" | "target">,
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `insert into holdfast.move (id, tenant, source, target) select $1, id, home, $3 from holdfast.tenant where id = $2 for no key update
     on conflict (tenant) do nothing`,
    [id, tenant, target],
  );
  return rowCount === 1;
}

export async function noteMoveError(db: Transaction, id: string, message: string): Promise<void> {
  await db.query("update holdfast.move set last_error = $2 where id = $1", [id, message]);
}

/** Whether a move is still asked for: another process may have carried it out, and a later one may be under way. */
export async function lockMoveRow(tx: Transaction, id: string): Promise<boolean> {
  const { rowCount } = await tx.query("select from holdfast.move where id = $1 for update", [id]);
  return rowCount === 1;
}

/** From now on the tenant's requests go to the target. */
export async function setDatabase(tx: Transaction, tenant: number, database: string | null): Promise<void> {
  await tx.query("update holdfast.tenant set home = $2 where id = $1", [tenant, database]);
}

/** Returns false if it is over already. */
export async function deleteMove(tx: Transaction, id: string): Promise<boolean> {
  return (await tx.query("delete from holdfast.move where id = $1", [id])).rowCount === 1;
}

/** Removes a tenant's own datasource once it has left it. */
export async function deleteLeftDatasource(tx: Transaction, tenant: number): Promise<void> {
  await tx.query(
    "delete from holdfast.datasource d using holdfast.tenant t where d.tenant = $1 and t.id = $1 and t.home is distinct from d.id",
    [tenant],
  );
}

/** Which of these tenants are on their way, and why it has failed so far. */
export async function readMoveError(
  db: Transaction,
  tenants: readonly number[],
): Promise<{ tenant: number; problem: string | null }[]> {
  const { rows } = await db.query<{ tenant: number; problem: string | null }>(
    "select tenant, last_error as problem from holdfast.move where tenant = any($1::int[]) order by tenant",
    [tenants],
  );
  return rows;
}

/** A tenant as the directory has it. */
export interface ListedTenant {
  readonly id: number;
  readonly organization: string;
  readonly livemode: boolean;
  readonly database: string | null;
  readonly moving: boolean;
}

export async function listDirectory(db: Transaction): Promise<ListedTenant[]> {
  const { rows } = await db.query<ListedTenant & Record<string, unknown>>(
    `select t.id, t.organization, t.livemode, t.home as database, exists (select from holdfast.move m where m.tenant = t.id) as moving
     from holdfast.tenant t order by t.id`,
  );
  return rows;
}

/** The tenant lives there from now on, and every move of it is over. */
export async function settleDatabase(tx: Transaction, tenant: number, database: string | null): Promise<void> {
  await tx.query("delete from holdfast.move where tenant = $1", [tenant]);
  await setDatabase(tx, tenant, database);
  await deleteLeftDatasource(tx, tenant);
  // A mark in the format of wake.ts: every process looks its database up again.
  await tx.query("select pg_notify('holdfast_wake', '- h' || $1::int)", [tenant]);
}
