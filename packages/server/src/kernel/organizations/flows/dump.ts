import { newId } from "../../../ids.ts";
import { hasHead, readHead } from "../../commits/db/heads.ts";
import { errorState } from "../../connection/database-error.ts";
import type { Database } from "../../connection/pool.ts";
import { type Transaction, transaction } from "../../connection/transaction.ts";
import type { RecordPlaces } from "../../lists/flows/record-places.ts";
import { readSchema } from "../../schema/db/model-schemas.ts";
import { collectAllValues } from "../../schema/flows/keep-values.ts";
import { type PushHooks, pushWithin } from "../../schema/flows/push-schema.ts";
import { hostedModels } from "../../schema/rules/hosted-models.ts";
import {
  beginDump,
  DUMPED,
  type Dumped,
  type DumpedKey,
  dumpHead,
  dumpKeys,
  dumpRows,
  restoreHead,
  restoreKey,
  restoreRows,
  TENANT_ROW,
} from "../db/dump.ts";
import { insertOrganization, listOrganizations, tenantOf } from "../db/organizations.ts";

/**
 * A dump consists of JSON lines:
 *
 *   {"object":"holdfast_dump","version":2,"organization":{…},"keys":[…]}
 *   then for each tenant:  {"tenant":"live","head":{…}}  {"what":"schemas"}  row …  {"what":"entries"}  row …  and so on
 *   {"object":"dump_end","counts":{…}}      a dump without this line is incomplete
 */
export type DumpCounts = Readonly<Record<Dumped, number>>;

export interface RestoreOptions {
  /** Restores as a new organization, without the keys, because keys are unique. */
  readonly newId: boolean;
  /** Leaves the keys valid. Otherwise they are revoked, because one of them may have been revoked after the dump. */
  readonly keepKeys?: boolean;
}

export interface Restored {
  readonly organization: string;
  readonly counts: DumpCounts;
}

/** A dump that cannot be written or read. The message is a sentence for the operator. */
export class DumpError extends Error {}

const VERSION = 2;
/** In version 1, receipts have their participants. */
const READ: ReadonlySet<unknown> = new Set([1, VERSION]);
const TENANTS = ["live", "test"] as const;
const PARTS = Object.keys(DUMPED) as Dumped[];
const none = (): Record<Dumped, number> => ({ schemas: 0, entries: 0, records: 0, groups: 0, receipts: 0 });

/** Writes an organization as of one moment. Undefined: the only organization. */
export async function dumpOrganization(
  db: Database,
  places: RecordPlaces,
  wanted: string | undefined,
  write: (line: string) => Promise<void>,
): Promise<DumpCounts> {
  return await transaction(db, async (tx) => {
    await beginDump(tx);
    const all = await listOrganizations(tx);
    const organization = wanted === undefined && all.length === 1 ? all[0] : all.find(({ id }) => id === wanted);
    if (!organization)
      throw new DumpError(
        wanted === undefined
          ? `There are ${all.length} organizations: choose one with --org.`
          : `The organization ${wanted} does not exist.`,
      );
    const { id, name } = organization;
    const keys = await dumpKeys(tx, id);
    await write(JSON.stringify({ object: "holdfast_dump", version: VERSION, organization: { id, name }, keys }));
    const counts = none();
    for (const name of TENANTS) {
      const tenant = (await tenantOf(tx, id, name === "live")) as number;
      if (!(await hasHead(tx, tenant)))
        throw new DumpError(
          `The ${name} tenant of ${id} has a database of its own: back that database up, or move the tenant back first.`,
        );
      await write(`{"tenant":"${name}","head":${await dumpHead(tx, tenant)}}`);
      for (const what of PARTS) {
        await write(JSON.stringify({ what }));
        for await (const rows of dumpRows(tx, what, tenant, await places.of(tx, tenant))) {
          counts[what] += rows.length;
          for (const row of rows) await write(row);
        }
      }
    }
    await write(JSON.stringify({ object: "dump_end", counts }));
    return counts;
  });
}

/**
 * Restores an organization in one transaction. Its logs get new ids: clients that have read the old logs may be ahead
 * of the dump, and the new id makes them start over.
 */
export async function restoreOrganization(
  db: Database,
  hooks: PushHooks,
  lines: AsyncIterable<string>,
  { newId: asNew, keepKeys = false }: RestoreOptions,
): Promise<Restored> {
  const input = lines[Symbol.asyncIterator]();
  const next = async (): Promise<string> => {
    const { value, done } = (await input.next()) as IteratorResult<string, undefined>;
    if (done || value === undefined) throw new DumpError("The dump is incomplete: its last line is missing.");
    return value;
  };
  const first = objectOf(await next());
  if (first.object !== "holdfast_dump" || !first.organization || !Array.isArray(first.keys))
    throw new DumpError("This is not a dump of an organization.");
  if (!READ.has(first.version))
    throw new DumpError(
      `The dump has version ${first.version}; this release reads versions ${[...READ].join(" and ")}.`,
    );
  const { id: oldId, name } = first.organization as { id: string; name: string };
  const organization = asNew ? newId("org_") : oldId;
  // No retry as a whole: the part of the file that was read is consumed.
  const client = await db.connect();
  let broken: Error | undefined;
  try {
    await client.query("begin");
    await client.query("set local idle_in_transaction_session_timeout = 0");
    if ((await listOrganizations(client)).some(({ id }) => id === organization))
      throw new DumpError(
        `The organization ${organization} already exists here. Use --new-id to restore the dump beside it.`,
      );
    await insertOrganization(client, organization, name, { live: newId("log_"), test: newId("log_") });
    const counts = await restoreTenants(client, organization, next);
    for (const livemode of [true, false]) {
      const tenant = (await tenantOf(client, organization, livemode)) as number;
      await hostRecords(client, hooks, tenant);
      await collectRestored(client, tenant);
    }
    if (!asNew) await restoreKeys(client, organization, !keepKeys, first.keys as DumpedKey[]);
    await client.query("commit");
    return { organization, counts };
  } catch (error) {
    await client.query("rollback").catch((failure: Error) => {
      broken = failure;
    });
    // Data that Postgres rejects cannot come from a valid dump.
    if (/^2[23]/.test(errorState(error) ?? ""))
      throw new DumpError(`The dump is damaged, or another process is restoring it: ${(error as Error).message}`);
    throw error;
  } finally {
    client.release(broken);
  }
}

/** Rows per statement: a row may have a MiB or two. */
const BATCH = 200;

async function restoreTenants(tx: Transaction, organization: string, next: () => Promise<string>): Promise<DumpCounts> {
  const counts = none();
  let tenant = 0;
  let what: Dumped | undefined;
  let rows: string[] = [];
  const flush = async () => {
    if (what && rows.length > 0 && (await restoreRows(tx, what, tenant, rows)) !== rows.length)
      throw new DumpError("The dump is damaged: it has a row of another tenant.");
    rows = [];
  };
  for (;;) {
    const line = await next();
    // Every row starts with its tenant's number.
    if (what && TENANT_ROW.test(line)) {
      counts[what] += rows.push(line) > 0 ? 1 : 0;
      if (rows.length === BATCH) await flush();
      continue;
    }
    await flush();
    const mark = objectOf(line);
    if (mark.object === "dump_end") {
      if (JSON.stringify(mark.counts) !== JSON.stringify(counts))
        throw new DumpError("The dump is damaged: its number of lines is wrong.");
      return counts;
    }
    const environment = mark.tenant;
    if (typeof environment === "string") {
      tenant = (await tenantOf(tx, organization, environment === "live")) as number;
      await restoreHead(tx, tenant, JSON.stringify(mark.head));
      what = undefined;
    } else if (tenant !== 0 && PARTS.includes(mark.what as Dumped)) what = mark.what as Dumped;
    else throw new DumpError(`The dump is damaged: ${line.slice(0, 80)}`);
  }
}

/** The dump has the records that modules had, and not the relations where they were: from now on Holdfast keeps them. */
async function hostRecords(tx: Transaction, hooks: PushHooks, tenant: number): Promise<void> {
  const { schemaVersion } = await readHead(tx, tenant);
  const schema = await readSchema(tx, tenant, schemaVersion);
  if (schema && Object.values(schema.models).some(hooks.places.has))
    await pushWithin(tx, hooks, tenant, { models: hostedModels(schema.models) });
}

/** The values of unique fields and of checked references are not dumped: they follow from the records. */
async function collectRestored(tx: Transaction, tenant: number): Promise<void> {
  const { schemaVersion } = await readHead(tx, tenant);
  const schema = await readSchema(tx, tenant, schemaVersion);
  const [problem] = schema ? await collectAllValues(tx, tenant, schema) : [];
  if (problem) throw new DumpError(`The dump is damaged: ${problem.model}.${problem.field}: ${problem.problem}`);
}

async function restoreKeys(
  tx: Transaction,
  organization: string,
  revoked: boolean,
  keys: readonly DumpedKey[],
): Promise<void> {
  for (const key of keys)
    if (!(await restoreKey(tx, (await tenantOf(tx, organization, key.livemode)) as number, key, revoked)))
      throw new DumpError(`The key ${key.id} of the dump already exists here. Use --new-id to restore without keys.`);
}

function objectOf(line: string): Record<string, unknown> {
  try {
    const value = JSON.parse(line) as unknown;
    if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
  } catch {
    // Falls through to the error below, like any other unknown line.
  }
  throw new DumpError(`The dump is damaged: ${line.slice(0, 80)}`);
}
