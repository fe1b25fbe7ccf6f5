import type { Transaction } from "./transaction.ts";

export interface FoundDatabase {
  readonly versionNumber: number;
  readonly takesWrites: boolean;
  /** Whether the role may create schemas, or Holdfast's is here already. */
  readonly mayCreate: boolean;
  readonly isInstalled: boolean;
}

/** What a database is, before anything is written to it. Undefined: no Postgres answers so. */
export async function readDatabase(db: Transaction): Promise<FoundDatabase | undefined> {
  const { rows } = await db.query<FoundDatabase>(
    `select current_setting('server_version_num')::int as "versionNumber",
       current_setting('transaction_read_only') = 'off' as "takesWrites",
       has_database_privilege(current_database(), 'create') as "mayCreate",
       to_regclass('holdfast.service_secret') is not null as "isInstalled"`,
  );
  return typeof rows[0]?.versionNumber === "number" ? rows[0] : undefined;
}

/** The service that would have this database as its own. */
export const readService = (db: Transaction): Promise<Buffer | undefined> => readSecret(db, "service");

/** The service that uses this database for its tenants. Undefined: none yet. */
export const readOwner = (db: Transaction): Promise<Buffer | undefined> => readSecret(db, "belongs_to");

async function readSecret(db: Transaction, name: string): Promise<Buffer | undefined> {
  const { rows } = await db.query<{ value: Buffer }>("select value from holdfast.service_secret where name = $1", [
    name,
  ]);
  return rows[0]?.value;
}

/** `DATABASE_URL` leads to a database that another service uses for its tenants. */
export class ForeignDatabase extends Error {}

/** The service whose own database this is. */
export async function readOwnService(db: Transaction): Promise<Buffer> {
  const service = await readService(db);
  if (service && !(await readOwner(db))) return service;
  throw new ForeignDatabase(
    "DATABASE_URL: another Holdfast service keeps tenants in this database. Use that service, or another database.",
  );
}

/** Whether organizations live here. */
export async function hasOrganizations(db: Transaction): Promise<boolean> {
  const { rows } = await db.query<{ any: boolean }>("select exists (select from holdfast.organization) as any");
  return rows[0]?.any === true;
}

/** Takes the database for a service, unless another one did. */
export async function takeDatabase(db: Transaction, service: Buffer): Promise<void> {
  await db.query(
    "insert into holdfast.service_secret (name, value) values ('belongs_to', $1) on conflict (name) do nothing",
    [service],
  );
}
