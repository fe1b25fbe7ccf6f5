import { type ModelSchema, ownValue } from "@holdfast/sdk/protocol";
import type { Statement } from "../../connection/statement.ts";
import type { Transaction } from "../../connection/transaction.ts";
import type { SchemaChange } from "../rules/declared-model.ts";

export interface StoredSchema extends ModelSchema {
  readonly version: number;
  readonly hash: string;
  /** By lower-case name, including models that are hidden now. */
  readonly changes: Readonly<Record<string, readonly SchemaChange[]>>;
  readonly hiddenModels: readonly string[];
  /** By lower-case name: the models whose tables could not be read when that was looked at last. */
  readonly unreadable: readonly string[];
  readonly rowsVersion: number;
}

/** The schema changes of a model. Its name may equal an object method's, hence `hasOwn`. */
export const changesOf = ({ changes }: Pick<StoredSchema, "changes">, key: string): readonly SchemaChange[] =>
  ownValue(changes, key) ?? [];

type SchemaBody = Omit<StoredSchema, "version" | "hash">;
/** Fields that are omitted from the body of a schema that has never hidden anything. */
const UNCHANGED = { changes: {}, hiddenModels: [], unreadable: [], rowsVersion: 0 };

/** The models of a tenant at one version. Undefined before the first push. */
export const loadSchema = (tenant: number, version: number): Statement<StoredSchema | undefined> => ({
  name: "load_schema",
  text: "select hash, body from holdfast.model_schema where tenant = $1 and version = $2",
  values: [tenant, version],
  read: ([row]) =>
    row && { version, hash: row.hash as string, ...UNCHANGED, ...(JSON.parse(row.body as string) as SchemaBody) },
});

export async function readSchema(db: Transaction, tenant: number, version: number): Promise<StoredSchema | undefined> {
  const { text, values, name, read } = loadSchema(tenant, version);
  const { rows, command } = await db.query({ name, text, values: [...values] });
  return read(rows, command);
}

/** A version of a tenant's models, and when the next one was stored. */
export interface SupersededSchema extends StoredSchema {
  /** In ms. */
  readonly supersededAt: number;
}

/** Earlier versions, newest first. */
export async function readOlderSchemas(
  db: Transaction,
  tenant: number,
  before: number,
  most: number,
): Promise<SupersededSchema[]> {
  const { rows } = await db.query<{ version: number; hash: string; body: string; at: string }>(
    `select s.version, s.hash, s.body, extract(epoch from next.created_at) * 1000 as at
     from holdfast.model_schema s join holdfast.model_schema next on next.tenant = s.tenant and next.version = s.version + 1
     where s.tenant = $1 and s.version < $2 order by s.version desc limit $3`,
    [tenant, before, most],
  );
  return rows.map(({ version, hash, body, at }) => ({
    ...{ version, hash, ...UNCHANGED, ...(JSON.parse(body) as SchemaBody) },
    supersededAt: Number(at),
  }));
}

export async function insertSchema(
  tx: Transaction,
  tenant: number,
  { version, hash, ...body }: StoredSchema,
): Promise<void> {
  await tx.query("insert into holdfast.model_schema (tenant, version, hash, body) values ($1, $2, $3, $4)", [
    tenant,
    version,
    hash,
    JSON.stringify(body satisfies SchemaBody),
  ]);
  await tx.query("update holdfast.head set schema_version = $2 where tenant = $1", [tenant, version]);
}
